"""`eval-pipeline prune` on a real Dagster instance."""

from __future__ import annotations

import json
import sqlite3
from pathlib import Path

import dagster as dg
import pytest

from eval_pipeline.decisions import Keeping
from eval_pipeline.orchestration.pruning import prune
from eval_pipeline.project import Project
from eval_pipeline_tests.running import command, instance_in, invoke, run_chain

VERSION = "guess-v1.0"


def logs(project: Project) -> set[str]:
    return {path.name.split(".")[0] for path in (project.state / "history" / "runs").glob("*.db*")} - {
        "index"
    }


def runs_of_checks(project: Project) -> set[str]:
    """The runs of which Dagster knows what checks said."""
    with sqlite3.connect(project.state / "history" / "runs" / "index.db") as index:
        return {run for (run,) in index.execute("SELECT run_id FROM asset_check_executions")}


def test_runs_go_with_their_event_logs_and_history_stays(toy: Project) -> None:
    with instance_in(toy) as instance:
        first, second, third = (run_chain(toy, instance, "toy", VERSION).run_id for _ in range(3))
    history = json.loads(invoke(toy, "history", "toy", "--json").stdout)["evaluations"]
    (toy.state / "history" / "runs" / "0000-of-no-run.db").touch()
    assert logs(toy) == {first, second, third, "0000-of-no-run"}
    tried = invoke(toy, "prune", "--keep-last", "1", "--dry-run")
    assert tried.returncode == 0, tried.stderr
    assert "2 runs, " in tried.stdout
    assert "would be deleted." in tried.stdout
    assert logs(toy) == {first, second, third, "0000-of-no-run"}
    assert invoke(toy, "prune").returncode == 0
    assert logs(toy) == {first, second, third}, "by default, whatever is younger than 90 days stays"
    assert runs_of_checks(toy) == {first, second, third}
    done = invoke(toy, "prune", "--keep-last", "1")
    assert done.returncode == 0, done.stderr
    assert logs(toy) == {third}
    assert runs_of_checks(toy) == {third}
    assert invoke(toy, "prune", "--keep-last", "1").stdout == "Nothing to delete.\n"
    assert json.loads(invoke(toy, "history", "toy", "--json").stdout)["evaluations"] == history
    with instance_in(toy) as instance:
        assert [run.run_id for run in instance.get_runs()] == [third]
        event = instance.get_latest_materialization_event(dg.AssetKey(["toy", "report"]))
        assert event is not None
        assert event.run_id == third
    assert command(toy, "run", "toy").returncode in {0, 1}


def test_what_no_run_did_stays(toy: Project) -> None:
    """The alerts are such: the process that tells of them has their log open for months."""
    with instance_in(toy) as instance, dg.DagsterInstance.get() as daemons:
        run_chain(toy, instance, "toy", VERSION)
        daemons.report_runless_asset_event(dg.AssetMaterialization("alerts", metadata={"open": 1}))
        assert invoke(toy, "prune", "--keep-last", "1").returncode == 0
        daemons.report_runless_asset_event(dg.AssetMaterialization("alerts", metadata={"open": 2}))
        event = daemons.get_latest_materialization_event(dg.AssetKey("alerts"))
    assert event is not None
    assert event.asset_materialization is not None
    assert event.asset_materialization.metadata["open"].value == 2


@pytest.mark.parametrize("given", [("--keep-last", "0"), ("--older-than", "-1"), ("--older-than", "soon")])
def test_bad_numbers(toy: Project, given: tuple[str, str]) -> None:
    done = invoke(toy, "prune", *given)
    assert done.returncode == 2
    assert given[0] in done.stderr


def test_nothing_is_made_where_nothing_is(toy: Project, tmp_path: Path) -> None:
    done = invoke(Project(toy.root, tmp_path / "none"), "prune")
    assert done.stdout == "Nothing to delete.\n"
    assert not (tmp_path / "none").exists()


def test_the_job_of_the_schedule(toy: Project) -> None:
    from eval_pipeline.definitions import build_definitions

    with instance_in(toy) as instance:
        run_chain(toy, instance, "toy", VERSION)
        last = run_chain(toy, instance, "toy", VERSION).run_id
        definitions = build_definitions(toy)
        dg.Definitions.validate_loadable(definitions)
        assert definitions.resolve_schedule_def("prune").cron_schedule == "30 5 * * *"
        config = {"ops": {"delete": {"config": {"keep_last": 1, "older_than": 0}}}}
        done = definitions.resolve_job_def("prune").execute_in_process(instance=instance, run_config=config)
        assert done.success
        assert {run.run_id for run in instance.get_runs()} == {last, done.run_id}


def test_event_logs_stay_where_dagster_keeps_its_own_elsewhere(
    toy: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    log = toy.state / "history" / "runs" / "of-a-run-here.db"
    with instance_in(toy) as instance:
        log.parent.mkdir(parents=True, exist_ok=True)
        log.touch()
        with monkeypatch.context() as patch:
            patch.setattr("eval_pipeline.orchestration.pruning.is_dagster_shared", lambda: True)
            assert prune(toy, instance, Keeping()) == []
            assert log.exists()
        assert [each.paths for each in prune(toy, instance, Keeping())] == [1]
        assert not log.exists()
