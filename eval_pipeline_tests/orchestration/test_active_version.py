"""Where a suite stands: the version in use, whichever one is evaluated, and all others beside it."""

from __future__ import annotations

from typing import Any

import dagster as dg

from eval_pipeline.files import write_text
from eval_pipeline.orchestration.active_version import version_states
from eval_pipeline.orchestration.launching import show_active_version
from eval_pipeline.project import Project
from eval_pipeline.reports import readable
from eval_pipeline.stages import Workbench
from eval_pipeline.suites import find_suite
from eval_pipeline_tests.running import checks, instance_in, run_chain

KEY = dg.AssetKey(["toy", "active_version"])
CHECK = "active_version_passes"


def bench(project: Project) -> Workbench:
    return Workbench(project, find_suite(project, "toy"))


def add_candidate(project: Project, version: str = "guess-v1.1") -> None:
    first = project.prompts("toy") / "guess-v1.0.md"
    write_text(
        first.with_name(f"{version}.md"), first.read_text().replace("status: active", "status: candidate")
    )


def latest(instance: dg.DagsterInstance) -> dict[str, Any]:
    event = instance.get_latest_materialization_event(KEY)
    assert event is not None
    assert event.asset_materialization is not None
    return {name: each.value for name, each in event.asset_materialization.metadata.items()}


def test_evaluating_any_version_tells_of_the_one_in_use(toy: Project) -> None:
    add_candidate(toy)
    with instance_in(toy) as instance:
        found = checks(run_chain(toy, instance, "toy", "guess-v1.1"))
        assert found[CHECK] == (
            False,
            dg.AssetCheckSeverity.WARN,
            "guess-v1.0 ✗ was not evaluated",
        )
        found = checks(run_chain(toy, instance, "toy", "guess-v1.0"))
        assert found[CHECK].passed
        assert found[CHECK].description.startswith("guess-v1.0 ⚠ passes with warnings, accuracy ")
        metadata = latest(instance)
    assert metadata["active"] == found[CHECK].description
    rows = [line.split(" | ") for line in readable(metadata["versions"]).splitlines()[2:]]
    assert [row[1:4] for row in rows] == [
        ["guess-v1.0", "passes with warnings", "active"],
        ["guess-v1.1", "passes with warnings", "candidate"],
    ]


def test_a_blocked_version_is_seen_among_the_others(toy: Project) -> None:
    gates = toy.golden("toy") / "gates.yaml"
    with instance_in(toy) as instance:
        write_text(gates, gates.read_text().replace('fail: "< 0.5"', 'fail: "< 0.8"'))
        result = run_chain(toy, instance, "toy", "guess-v1.0")
        assert result.success, "red checks do not stop the chain"
        found = checks(result)[CHECK]
        assert (found.passed, found.severity) == (False, dg.AssetCheckSeverity.ERROR)
        metadata = latest(instance)
    assert "| ✗ | guess-v1.0 | is blocked | active |" in metadata["versions"]
    assert "guess-v1.0: accuracy: " in readable(metadata["look_at"])


def test_neighbours_that_cannot_be_used_are_shown_as_such(toy: Project) -> None:
    write_text(toy.prompts("toy") / "guess-v1.1.md", "no front matter")
    with instance_in(toy) as instance:
        assert CHECK in checks(run_chain(toy, instance, "toy", "guess-v1.0"))
    states = {each.version: each.status for each in version_states(bench(toy))}
    assert states == {"guess-v1.0": "active", "guess-v1.1": "unusable"}


def test_activation_and_edits_show_without_a_run(toy: Project) -> None:
    with instance_in(toy) as instance:
        run_chain(toy, instance, "toy", "guess-v1.0")
    file = toy.prompts("toy") / "guess-v1.0.md"
    write_text(file, file.read_text() + "Think.\n")
    with instance_in(toy):
        show_active_version(bench(toy))
    with instance_in(toy) as instance:
        assert latest(instance)["active"].endswith("; its file was edited since")
        runs = len(instance.get_runs())
    write_text(file, file.read_text().replace("status: active", "status: archived"))
    with instance_in(toy):
        show_active_version(bench(toy))
    with instance_in(toy) as instance:
        assert latest(instance)["active"] == "no version is active"
        assert len(instance.get_runs()) == runs
