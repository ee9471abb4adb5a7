"""A suite that is broken is named with file and line, and stands alone."""

from __future__ import annotations

import shutil

import dagster as dg
import pytest
from click.testing import CliRunner

from eval_pipeline.cli import run
from eval_pipeline.definitions import build_definitions
from eval_pipeline.loading import find_suite, load_suites
from eval_pipeline.orchestration import evaluation_job
from eval_pipeline.problems import BadInput
from eval_pipeline.project import Project
from eval_pipeline_tests.conftest import TOY
from eval_pipeline_tests.running import QUIET, checks, command, instance_in, invoke, run_chain

VERSION = "guess-v1.0"

BROKEN = {
    "syntax": ({"__init__.py": "\nx =\n"}, "__init__.py:2: suite broken: SyntaxError: invalid syntax"),
    "syntax of a part": (
        {"__init__.py": "from eval_pipeline.suites.broken import part\n", "part.py": "\n\nif x\n"},
        "part.py:3: suite broken: SyntaxError: expected ':'",
    ),
    "import": (
        {"__init__.py": "import math\nimport no_such_module\n"},
        "__init__.py:2: suite broken: ModuleNotFoundError: No module named 'no_such_module'",
    ),
    "import of a part": (
        {"__init__.py": "from eval_pipeline.suites.broken.part import X\n", "part.py": "\nX = 1 / 0\n"},
        "part.py:2: suite broken: ZeroDivisionError",
    ),
    "exception elsewhere": (
        {"__init__.py": "import json\n\nX = json.loads('{')\n"},
        "__init__.py:3: suite broken: JSONDecodeError",
    ),
    "exit": ({"__init__.py": "\n\n\nraise SystemExit(0)\n"}, "__init__.py:4: suite broken: SystemExit: 0"),
    "nothing": ({"__init__.py": "x = 1\n"}, "__init__.py: suite broken: has no SUITE"),
    "another thing": ({"__init__.py": "\nSUITE = None\n"}, "__init__.py:2: suite broken: has no SUITE"),
    "another name": (
        {"__init__.py": "from eval_pipeline.suite import Suite\n\nSUITE = Suite(name='other')\n"},
        "__init__.py:3: suite broken: its SUITE is called 'other'",
    ),
    "arguments": (
        {"__init__.py": "from eval_pipeline.suite import Suite\n\nSUITE = Suite('broken', headline='f')\n"},
        "__init__.py:3: suite broken: ValueError: broken: the headline 'f' is not one of its metrics",
    ),
    "an argument too many": (
        {"__init__.py": "from eval_pipeline.suite import Suite\nSUITE = Suite('broken', colour='red')\n"},
        "__init__.py:2: suite broken: TypeError",
    ),
}


def break_suite(project: Project, kind: str) -> None:
    folder = project.own_suites / "broken"
    folder.mkdir(parents=True)
    for name, text in BROKEN[kind][0].items():
        (folder / name).write_text(text)
    for name in ("golden", "prompts"):
        shutil.copytree(TOY / name / "toy", project.root / name / "broken")


@pytest.fixture
def half_broken(toy: Project) -> Project:
    """A project with a suite that works and one that does not."""
    break_suite(toy, "syntax")
    return toy


@pytest.mark.parametrize("kind", BROKEN)
def test_file_and_line_are_named(toy: Project, kind: str) -> None:
    break_suite(toy, kind)
    with pytest.raises(BadInput) as raised:
        find_suite(toy, "broken")
    (problem,) = raised.value.problems
    assert f"suites/broken/{BROKEN[kind][1]}" in str(problem)
    suites, broken = load_suites(toy, ["broken", "toy"])
    assert [suite.name for suite in suites] == ["toy"]
    assert broken == {"broken": [problem]}


@pytest.mark.parametrize("error", ["KeyboardInterrupt", "MemoryError"])
def test_what_is_not_swallowed(toy: Project, error: str) -> None:
    folder = toy.own_suites / "broken"
    folder.mkdir()
    (folder / "__init__.py").write_text(f"raise {error}\n")
    with pytest.raises((KeyboardInterrupt, MemoryError)):
        load_suites(toy, ["broken"])


def test_the_definitions_load_and_show_a_red_check(half_broken: Project) -> None:
    definitions = build_definitions(half_broken)
    repository = definitions.get_repository_def()
    keys = {key.to_user_string() for key in repository.asset_graph.get_all_asset_keys()}
    assert {"broken/golden_set", "toy/golden_set", "toy/report"} <= keys
    assert "broken/report" not in keys
    schedules = {each.name for each in repository.schedule_defs}
    assert {"toy_nightly", "toy_weekly"} <= schedules
    assert {each.name for each in repository.sensor_defs} >= {"prompt_files", "golden_sets", "broken_suites"}
    with instance_in(half_broken) as instance:
        job = definitions.resolve_job_def(evaluation_job("broken"))
        result = job.execute_in_process(instance=instance, run_config=QUIET, raise_on_error=False)
        (check,) = result.get_asset_check_evaluations()
        assert not result.success
        assert check.blocking
        assert check.severity == dg.AssetCheckSeverity.ERROR
        assert check.asset_key == dg.AssetKey(["broken", "golden_set"])
        found = checks(result)["suite_loads"]
        assert not found.passed
        assert "suites/broken/__init__.py:2: suite broken: SyntaxError: invalid syntax" in found.description
        assert run_chain(half_broken, instance, "toy", VERSION).success


def test_a_sensor_lets_the_check_fail_once_for_each_reason(half_broken: Project) -> None:
    def asked() -> list[tuple[str | None, str | None]]:
        sensor = build_definitions(half_broken).resolve_sensor_def("broken_suites")
        with instance_in(half_broken) as instance:
            requests = sensor.evaluate_tick(dg.build_sensor_context(instance)).run_requests or []
        return [(request.job_name, request.run_key) for request in requests]

    first = asked()
    assert [job for job, _ in first] == [evaluation_job("broken")]
    assert asked() == first
    code = half_broken.own_suites / "broken" / "__init__.py"
    before = code.read_text()
    code.write_text("\n" + before)
    assert asked() != first
    code.write_text(before)


def test_a_folder_that_is_no_name(toy: Project) -> None:
    folder = toy.own_suites / "my-suite"
    folder.mkdir()
    (folder / "__init__.py").write_text("from eval_pipeline.suite import Suite\nSUITE = Suite('my-suite')\n")
    keys = build_definitions(toy).get_repository_def().asset_graph.get_all_asset_keys()
    assert dg.AssetKey(["my_suite", "golden_set"]) in keys


def test_commands_go_on_with_the_other_suites(half_broken: Project) -> None:
    place = "suites/broken/__init__.py:2: suite broken: SyntaxError: invalid syntax"
    checked = invoke(half_broken, "golden", "check")
    assert checked.returncode == 2
    assert place in checked.stderr
    assert "toy: 4 cases can be read" in checked.stdout
    alone = command(half_broken, "run", "broken")
    assert alone.returncode == 2
    assert place in alone.stderr
    gated = command(half_broken, "gate")
    assert gated.returncode == 2
    assert place in gated.stderr
    assert f"toy: {VERSION} (asked for)" in gated.stdout
    assert invoke(half_broken, "golden", "freeze", "toy", "--reason", "read", "--by", "me").returncode == 0


RAISING = """
from dataclasses import replace


def _fails(*given):
    raise RuntimeError("it fails")


SUITE = replace(SUITE, {changed})
"""


@pytest.mark.parametrize(
    ("changed", "check", "text"),
    [
        ("score=kit.per_case(_fails)", "scored", "score of case 'cat': RuntimeError: it fails."),
        ("annotate=_fails", "scored", "annotate: RuntimeError: it fails."),
        ("case_passes=_fails", "scored", "case_passes: RuntimeError: it fails."),
        ("selects=_fails", "scored", "RuntimeError: it fails."),
        (
            "embedded=lambda *given: {}, errored=_fails",
            "scored",
            "errored of case 'cat': RuntimeError: it fails.",
        ),
        ("prepare=_fails", "prompt_valid", "prepare of case 'cat': RuntimeError: it fails."),
        (
            "metrics=(*SUITE.metrics, kit.Metric('odd', '', _fails))",
            "gates_valid",
            "formula of odd: RuntimeError: it fails.",
        ),
        (
            "reporting=kit.Reporting(cross_tables={'versions': _fails})",
            "reported",
            "RuntimeError: it fails.",
        ),
        ("measure=_fails", "well_formed", "RuntimeError: it fails."),
        ("resources=_fails", "well_formed", "RuntimeError: it fails."),
    ],
)
def test_code_that_raises_fails_a_blocking_check(toy: Project, changed: str, check: str, text: str) -> None:
    code = toy.own_suites / "toy" / "__init__.py"
    code.write_text(code.read_text() + RAISING.format(changed=changed))
    line = 1 + next(number for number, each in enumerate(code.read_text().splitlines()) if "raise " in each)
    with instance_in(toy) as instance:
        result = run_chain(toy, instance, "toy", VERSION)
    (failed,) = (each for each in result.get_asset_check_evaluations() if each.blocking and not each.passed)
    assert failed.check_name == check
    description = checks(result)[check].description
    assert f"suites/toy/__init__.py:{line}: " in description
    assert text in description
    assert not [event for event in result.all_events if event.is_step_failure and "it fails" in str(event)]


def test_counts_that_are_missing_are_the_suites_fault(toy: Project) -> None:
    code = toy.own_suites / "toy" / "__init__.py"
    code.write_text(code.read_text().replace('ratio_of("hinted"', 'ratio_of("hintet"'))
    with instance_in(toy) as instance:
        found = checks(run_chain(toy, instance, "toy", VERSION))["gates_valid"]
    assert not found.passed
    assert "suites/toy/__init__.py: formula of hint_rate: KeyError" in found.description


def test_run_all_goes_on_with_the_other_suites(half_broken: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    for folder in ("suites", "golden", "prompts"):
        shutil.copytree(half_broken.root / folder / "toy", half_broken.root / folder / "raising")
    code = half_broken.own_suites / "raising" / "__init__.py"
    renamed = code.read_text().replace('name="toy"', 'name="raising"')
    code.write_text(renamed + RAISING.format(changed="case_passes=_fails"))
    prompt = half_broken.prompts("raising") / f"{VERSION}.md"
    prompt.write_text(prompt.read_text().replace("suite: toy", "suite: raising"))
    monkeypatch.setattr("eval_pipeline.cli.run.all_suites", lambda project: ["broken", "raising", "toy"])
    monkeypatch.setattr("eval_pipeline.cli.run._summarize", lambda project, output: None)
    monkeypatch.setattr("eval_pipeline.project.Project.find", lambda: half_broken)
    with instance_in(half_broken):
        done = CliRunner().invoke(run.command, ["all"])
    assert done.exit_code == 2, done.exception
    assert "✗ broken: " in done.stderr
    assert f"✗ raising: {VERSION}: " in done.stderr
    assert "case_passes: RuntimeError: it fails." in done.stderr
    assert "accuracy        75.0 %" in done.stdout
