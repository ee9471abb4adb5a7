"""A suite that is broken is named with file and line, and stands alone."""

from __future__ import annotations

import shutil
from collections.abc import Iterator

import dagster as dg
import pytest

from eval_pipeline.definitions import build_definitions
from eval_pipeline.orchestration import evaluation_job
from eval_pipeline.problems import BadInput
from eval_pipeline.project import Project
from eval_pipeline.suites import find_suite, load_suites
from eval_pipeline_tests.conftest import TOY, copied
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


@pytest.fixture(scope="module")
def evaluated(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Project]:
    with copied(TOY, tmp_path_factory.mktemp("broken") / "toy") as project:
        break_suite(project, "syntax")
        yield project


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


def test_the_definitions_load_and_show_a_red_check(evaluated: Project) -> None:
    definitions = build_definitions(evaluated)
    repository = definitions.get_repository_def()
    keys = {key.to_user_string() for key in repository.asset_graph.get_all_asset_keys()}
    assert {"broken/golden_set", "toy/golden_set", "toy/report"} <= keys
    assert "broken/report" not in keys
    schedules = {each.name for each in repository.schedule_defs}
    assert {"toy_nightly", "toy_weekly"} <= schedules
    assert {each.name for each in repository.sensor_defs} >= {"prompt_files", "golden_sets", "broken_suites"}
    with instance_in(evaluated) as instance:
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
        assert run_chain(evaluated, instance, "toy", VERSION).success


def test_a_sensor_lets_the_check_fail_once_for_each_reason(evaluated: Project) -> None:
    def asked() -> list[tuple[str | None, str | None]]:
        sensor = build_definitions(evaluated).resolve_sensor_def("broken_suites")
        with instance_in(evaluated) as instance:
            requests = sensor.evaluate_tick(dg.build_sensor_context(instance)).run_requests or []
        return [(request.job_name, request.run_key) for request in requests]

    first = asked()
    assert [job for job, _ in first] == [evaluation_job("broken")]
    assert asked() == first
    code = evaluated.own_suites / "broken" / "__init__.py"
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


def test_commands_go_on_with_the_other_suites(evaluated: Project) -> None:
    place = "suites/broken/__init__.py:2: suite broken: SyntaxError: invalid syntax"
    checked = invoke(evaluated, "golden", "check")
    assert checked.returncode == 2
    assert place in checked.stderr
    assert "toy: 4 cases can be read" in checked.stdout
    alone = command(evaluated, "run", "broken")
    assert alone.returncode == 2
    assert place in alone.stderr
    gated = command(evaluated, "gate")
    assert gated.returncode == 2
    assert place in gated.stderr
    assert f"toy: {VERSION} (asked for)" in gated.stdout
    assert invoke(evaluated, "golden", "freeze", "toy", "--reason", "read", "--by", "me").returncode == 0
