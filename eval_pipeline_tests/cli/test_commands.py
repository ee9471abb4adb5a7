"""The other commands, as a person runs them: run, compare, baseline, golden."""

from __future__ import annotations

import json
import re
import shutil
from pathlib import Path
from typing import Any, get_args
from unittest import mock

import pytest
from rich.cells import cell_len

from eval_pipeline import cli
from eval_pipeline.cli import compare
from eval_pipeline.project import Project
from eval_pipeline.prompts.rendering import Renderer
from eval_pipeline.statistics.significance import TestName
from eval_pipeline.store import Store
from eval_pipeline_tests.conftest import TOY, copy_project
from eval_pipeline_tests.running import (
    baseline_outputs,
    begin,
    command,
    command_line,
    computed_once,
    ended,
    invoke,
)

V10, V12, V20 = (f"decompose-concepts-v{each}" for each in ("1.0", "1.2", "2.0"))


def prompt_file(project: Project, version: str) -> Path:
    return project.prompts("decomposition") / f"{version}.md"


@pytest.fixture(scope="module")
def original(tmp_path_factory: pytest.TempPathFactory) -> Project:
    """A project in which every version has been evaluated."""
    project = copy_project(tmp_path_factory.mktemp("commands") / "project", "decomposition")
    done = command(project, "run", "decomposition", "--prompt", "all")
    assert done.returncode == 1, done.stderr  # v2.0 fails its gates
    return project


@pytest.fixture
def evaluated(original: Project, tmp_path: Path) -> Project:
    """A copy of it that a test may change."""
    root = tmp_path / "project"
    shutil.copytree(original.root, root)
    return Project(root, root / ".eval")


def test_help_names_every_command(project: Project) -> None:
    done = command(project, "--help")
    assert done.returncode == 0
    for name in ("score", "run", "compare", "baseline", "golden"):
        assert name in done.stdout


def test_no_help_is_cut_or_wider_than_80_columns(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    assert list(cli.COMMANDS)[:4] == ["init", "doctor", "run", "compare"]
    waiting: list[tuple[str, ...]] = [()]
    seen = 0
    while waiting:
        words = waiting.pop()
        done = invoke(project, *words, "--help")
        assert done.returncode == 0, words
        seen += 1
        assert all(cell_len(line) <= 80 for line in done.stdout.splitlines()), words
        # click writes "..." where it cuts, and after what may be repeated
        assert ".." not in re.sub(r"(\[ARGS]|\[SUITES]|FILES)\.\.\.", "", done.stdout), words
        listed = done.stdout.partition("\nCommands:\n")[2].splitlines()
        waiting += [(*words, match[1]) for line in listed if (match := re.match(r"  (\S+)", line))]
    assert seen > 30


def test_run_evaluates_the_active_version_by_default(project: Project) -> None:
    done = command(project, "run", "decomposition")
    assert done.returncode == 0, done.stderr
    assert f"decomposition: {V12}" in done.stdout
    assert "Against baseline decompose-concepts-v1.0: improved; proceed. overall_index rose " in done.stdout
    assert "15/15" in done.stderr
    assert Store(project.state).evaluation("decomposition", V12) is not None


def test_recorded_answers_are_scored_on_all_cases(tmp_path: Path) -> None:
    """Whoever wrote them learned nothing here: all 950 cases count."""
    project = copy_project(tmp_path / "project", "heritage_typing")
    (answers,) = (project.golden("heritage_typing") / "baseline").glob("*.outputs.jsonl")
    version = "classify-custodian-v1.0"
    file = project.root / "recorded" / "heritage_typing" / f"{version}.jsonl"
    file.parent.mkdir(parents=True)
    shutil.copy(answers, file)
    done = command(project, "run", "heritage_typing", "--prompt", version, "--engine", "recorded")
    assert "950 cases × 1 trial, 0 errors." in done.stdout, done.stderr
    evaluation = Store(project.state).evaluation("heritage_typing", version)
    assert evaluation is not None
    assert (evaluation.summary.cases, evaluation.summary.held_out) == (950, None)


def test_versions_are_compared(evaluated: Project) -> None:
    fine = invoke(evaluated, "compare", "decomposition", "--prompt", V12, "--against", V10)
    assert fine.returncode == 0, fine.stderr
    assert "improved; proceed." in fine.stdout
    worse = command(evaluated, "compare", "decomposition", "--prompt", V20, "--json")
    assert worse.returncode == 1
    report = json.loads(worse.stdout)
    assert (report["verdict"], report["action"]) == ("regressed", "block")
    precision = next(each for each in report["metrics"] if each["metric"] == "concept_precision")
    assert precision["zone_after"] == "fail"
    assert report["regressed"][0]["difference"] < 0
    never = invoke(evaluated, "compare", "decomposition", "--prompt", "decompose-concepts-v9.9")
    assert never.returncode == 2
    assert "decompose-concepts-v9.9.md does not exist" in never.stderr


@pytest.fixture(scope="module")
def verdict(original: Project) -> dict[str, Any]:
    """What is said of the worse version where nobody asks for a test."""
    done = invoke(original, "compare", "decomposition", "--prompt", V20, "--json")
    said: dict[str, Any] = json.loads(done.stdout)
    return said


@pytest.mark.parametrize("test", get_args(TestName))
def test_a_test_of_ones_choice_stands_beside_the_verdict(
    original: Project, verdict: dict[str, Any], test: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = ("compare", "decomposition", "--prompt", V20)
    computed_once(monkeypatch, compare, "_compare")  # for the JSON and for the screen
    chosen = invoke(original, *asked, "--test", test, "--alpha", "0.01", "--json")
    assert chosen.returncode == 1  # the verdict decides, as without the test
    tests = json.loads(chosen.stdout)["tests"]
    assert {**verdict, "tests": tests} == json.loads(chosen.stdout)
    assert {(each["test"], each["alpha"]) for each in tests} == {(test, 0.01)}
    found = {each["metric"]: each for each in tests}
    assert found.keys() == {each["metric"] for each in verdict["metrics"]}
    precision, canaries = found["concept_precision"], found["hallucination_rate"]
    if test == "mcnemar":
        assert (precision["significant"], precision["p_value"]) == (None, None)
        assert precision["reason"]
        assert (canaries["significant"], canaries["p_value"]) == (False, 1.0)
    else:
        assert precision["significant"] is True
        assert (precision["p_value"] is None) == (test == "bootstrap")
        assert precision["p_value"] is None or precision["p_value"] < 0.001
    screen = invoke(original, *asked, "--test", test, "--alpha", "0.01").stdout
    assert f"{test} at alpha 0.01:" in screen
    assert "It informs; the verdict decides." in screen


def test_a_level_needs_a_test_and_lies_between_0_and_1(original: Project) -> None:
    asked = ("compare", "decomposition", "--prompt", V20)
    lone = invoke(original, *asked, "--alpha", "0.1")
    assert (lone.returncode, "Choose one with --test." in lone.stderr) == (2, True)
    for wrong in (("--test", "t"), ("--test", "paired_t", "--alpha", "1")):
        assert invoke(original, *asked, *wrong).returncode == 2


def test_promotion_refuses_what_fails_or_regresses(evaluated: Project) -> None:
    before = (evaluated.golden("decomposition") / "baseline" / "decompose-concepts.json").read_bytes()
    done = command(evaluated, "baseline", "promote", "decomposition", V20, "--reason", "wishful thinking")
    assert done.returncode == 1
    assert "concept_precision: " in done.stderr
    assert "against baseline" in done.stderr
    assert (evaluated.golden("decomposition") / "baseline" / "decompose-concepts.json").read_bytes() == before


def test_promotion_records_who_and_why(evaluated: Project) -> None:
    done = invoke(
        evaluated, "baseline", "promote", "decomposition", V12, "--reason", "better in all", "--by", "Ada"
    )
    assert done.returncode == 0, done.stderr
    shown = json.loads(invoke(evaluated, "baseline", "show", "decomposition", "--json").stdout)[0]
    assert (shown["version"], shown["promoted_by"], shown["reason"]) == (V12, "Ada", "better in all")
    compared = json.loads(invoke(evaluated, "compare", "decomposition", "--prompt", V12, "--json").stdout)
    assert compared["verdict"] == "identical"
    assert "better in all" in invoke(evaluated, "baseline", "show", "decomposition").stdout


def test_promotion_wants_an_evaluation_of_what_is_there_now(evaluated: Project) -> None:
    file = prompt_file(evaluated, V12)
    original = file.read_text()
    file.write_text(original + "\nOne more rule.\n")
    stale = invoke(evaluated, "baseline", "promote", "decomposition", V12, "--reason", "x")
    assert stale.returncode == 2
    assert "changed since it was evaluated" in stale.stderr
    file.write_text(original.replace("status: active", "status: candidate"))
    assert invoke(evaluated, "baseline", "promote", "decomposition", V12, "--reason", "x").returncode == 0
    blank = invoke(evaluated, "baseline", "promote", "decomposition", V12, "--reason", " ")
    assert blank.returncode == 2


@pytest.mark.parametrize(
    ("version", "content", "told"),
    [
        ("../../../etc/passwd", None, "is not a version name"),
        ("decompose-concepts-v7.7", None, "does not exist"),
        ("bad-v1.0", "no front matter", "bad-v1.0.md:1: has no front matter"),
        (
            "bad-v1.0",
            "---\nsuite: x\nstatus: new\nparamters: {}\n---\n{{ topic }}",
            "bad-v1.0.md:4: paramters: is not a known field",
        ),
        (
            "bad-v1.0",
            "---\nsuite: decomposition\nstatus: active\n---\nA\n{{ tpic }}",
            "bad-v1.0.md:6: template: uses the unknown variable 'tpic'",
        ),
    ],
)
def test_a_prompt_that_cannot_be_used_exits_2(
    project: Project, version: str, content: str | None, told: str
) -> None:
    if content is not None:
        prompt_file(project, version).write_text(content)
    done = invoke(project, "run", "decomposition", "--prompt", version)
    assert done.returncode == 2
    assert told in done.stderr
    assert "Traceback" not in done.stderr


def impatient(*arguments: str) -> None:
    """That command, where a prompt has half a second."""
    with mock.patch.object(Renderer.__init__, "__defaults__", (0.5,)):
        command_line(*arguments)


def test_a_prompt_that_never_ends_exits_2(project: Project, tmp_path: Path) -> None:
    prompt_file(project, "bad-v1.0").write_text(
        "---\nsuite: decomposition\nstatus: active\n---\n"
        "{% for a in range(99999) %}{% for b in range(99999) %}{% endfor %}{% endfor %}"
    )
    err = tmp_path / "err"
    assert ended(begin(project, impatient, "run", "decomposition", "--prompt", "bad-v1.0", err=err)) == 2
    assert "does not finish within 0.5 s" in err.read_text()
    assert "Traceback" not in err.read_text()


def test_a_broken_golden_set_exits_2_with_every_problem(project: Project) -> None:
    cases = project.golden("decomposition") / "cases"
    (cases / "blockchain.gold.json").write_text("{")
    (cases / "empty.gold.json").write_text("")
    for arguments in (("run", "decomposition"), ("golden", "check"), ("compare", "decomposition")):
        done = invoke(project, *arguments)
        assert done.returncode == 2, arguments
        assert "blockchain.gold.json:1: not valid JSON" in done.stderr
        assert "empty.gold.json:1: the file is empty" in done.stderr
        assert "Traceback" not in done.stderr


def test_the_golden_set_is_checked_and_signed_off(project: Project) -> None:
    fine = invoke(project, "golden", "check", "decomposition")
    assert (fine.returncode, fine.stdout) == (0, "decomposition: 15 cases can be read\n")
    path = project.golden("decomposition") / "cases" / "blockchain.gold.json"
    path.write_text(path.read_text().replace('"topic": "Blockchain"', '"topic": "Block chains"'))
    changed = command(project, "golden", "check")
    assert changed.returncode == 1
    assert "not signed off: changed: blockchain" in changed.stdout
    assert "concepts_not_in_text" not in changed.stdout
    signed = invoke(project, "golden", "freeze", "decomposition", "--reason", "wording", "--by", "Ada")
    assert signed.returncode == 0
    assert invoke(project, "golden", "check", "decomposition").returncode == 0


def test_a_golden_set_elsewhere_is_checked(project: Project, tmp_path: Path) -> None:
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    (elsewhere / "short.gold.json").write_text(
        json.dumps(
            {
                "id": "short",
                "domain": "social",
                "sourceText": "Short.",
                "expectedConcepts": [{"label": "Absent"}],
            }
        )
    )
    done = invoke(project, "golden", "check", "decomposition", elsewhere)
    assert done.returncode == 1
    assert "critical: concepts_not_in_text:" in done.stdout
    assert "warning: words:" in done.stdout


def test_engines_are_named_in_one_file(project: Project) -> None:
    unknown = command(project, "run", "decomposition", "--engine", "gpt")
    assert unknown.returncode == 2
    assert "'gpt' is not an engine. Engines of engines.yaml: embedded, recorded, local." in unknown.stderr
    missing = invoke(project, "run", "decomposition", "--engine", "recorded")
    assert missing.returncode == 2
    assert "recorded/decomposition/decompose-concepts-v1.2.jsonl: does not exist" in missing.stderr


def test_a_damaged_baseline_never_lets_a_regression_through(evaluated: Project) -> None:
    with baseline_outputs(evaluated).open("a") as file:
        file.write("\n")
    done = invoke(evaluated, "run", "decomposition")
    assert done.returncode == 2
    assert "is not what was promoted" in done.stderr
    stuck = invoke(evaluated, "baseline", "promote", "decomposition", V12, "--reason", "mend it")
    assert stuck.returncode == 2
    mended = invoke(
        evaluated, "baseline", "promote", "decomposition", V12, "--reason", "mend it", "--replace"
    )
    assert mended.returncode == 0, mended.stderr
    assert invoke(evaluated, "run", "decomposition").returncode == 0


def test_promotion_judges_by_the_gates_of_today(evaluated: Project) -> None:
    gates = evaluated.golden("decomposition") / "gates.yaml"
    gates.write_text(gates.read_text().replace('fail: "< 0.60"', 'fail: "< 0.99"'))
    done = invoke(evaluated, "baseline", "promote", "decomposition", V12, "--reason", "was fine yesterday")
    assert done.returncode == 1
    assert "concept_recall: 86.2 % is in the fail zone" in done.stderr


def test_old_answers_are_not_taken_for_a_regression(evaluated: Project) -> None:
    path = evaluated.golden("decomposition") / "cases" / "blockchain.gold.json"
    path.write_text(path.read_text().replace('"topic": "Blockchain"', '"topic": "Block chains"'))
    done = invoke(evaluated, "compare", "decomposition", "--prompt", V12)
    assert done.returncode == 2
    assert "was not evaluated on the golden set as it is (blockchain)" in done.stderr


def test_everything_wrong_is_named_before_anything_is_asked(project: Project) -> None:
    (project.golden("decomposition") / "gates.yaml").write_text("metrics: {}\n")
    (project.golden("decomposition") / "cases" / "bad.gold.json").write_text("{")
    project.engines_file.write_text("default: none\nengines: {}\n")
    prompt_file(project, V20).write_text("nothing")
    done = invoke(project, "run", "decomposition", "--prompt", "all")
    assert done.returncode == 2
    for part in (
        "gates.yaml:1: metrics: is empty",
        "bad.gold.json:1:",
        "engines.yaml:1: default:",
        "v2.0.md:1:",
    ):
        assert part in done.stderr
    assert not (project.state / "outputs").exists()


def test_no_version_at_all_is_not_a_success(project: Project) -> None:
    for file in project.prompts("decomposition").iterdir():
        file.unlink()
    assert invoke(project, "run", "all", "--prompt", "all").returncode == 2


@pytest.mark.parametrize("code", ["raise SystemExit(0)", "import no_such_module", "SUITE = None", "x ="])
def test_a_suite_that_cannot_be_loaded_is_a_problem(project: Project, code: str) -> None:
    folder = project.own_suites / "broken"
    folder.mkdir(parents=True)
    (folder / "__init__.py").write_text(code)
    done = command(project, "golden", "check")
    assert done.returncode == 2
    assert "suite broken:" in done.stderr
    assert invoke(project, "golden", "check", "decomposition").returncode == 0


def test_a_score_that_raises_is_a_problem_of_its_case(project: Project, tmp_path: Path) -> None:
    folder = project.own_suites / "raising"
    shutil.copytree(TOY / "suites" / "toy", folder)
    code = (folder / "__init__.py").read_text().replace('name="toy"', 'name="raising"')
    given = "    gold, guess = "
    assert given in code
    (folder / "__init__.py").write_text(code.replace(given, f"    assert item.case.id != 'dog'\n{given}"))
    line = code[: code.index(given)].count("\n") + 1
    shutil.copytree(TOY / "golden" / "toy", project.golden("raising"))
    outputs = tmp_path / "outputs.jsonl"
    answers = ({"case_id": name, "output": {"animal": "cat", "hints": []}} for name in ("cat", "dog"))
    outputs.write_text("".join(json.dumps(answer) + "\n" for answer in answers))
    done = command(project, "score", "raising", "--golden", project.golden("raising"), "--outputs", outputs)
    assert done.returncode == 2
    assert f"suites/raising/__init__.py:{line}: score of case 'dog': AssertionError" in done.stderr


def test_a_defect_is_not_taken_for_a_gate(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    def crash(*given: object, **named: object) -> None:
        raise ZeroDivisionError

    monkeypatch.setattr("eval_pipeline.cli.score.summarize", crash)
    golden, outputs = project.golden("decomposition"), baseline_outputs(project)
    done = invoke(project, "score", "decomposition", "--golden", golden, "--outputs", outputs)
    assert done.returncode == 70
    assert "ZeroDivisionError" in done.stderr


def test_damaged_state_is_named(evaluated: Project) -> None:
    latest = evaluated.state / "outputs" / "decomposition" / V12 / "latest"
    table = latest.parent / latest.read_text()
    table.write_bytes(table.read_bytes()[:100])
    done = invoke(evaluated, "compare", "decomposition", "--prompt", V12)
    assert done.returncode == 2
    assert "is damaged" in done.stderr


def test_a_decayed_bystander_does_not_stop_the_active_version(project: Project) -> None:
    prompt_file(project, V10).write_text(prompt_file(project, V10).read_text() + "{{ gone }}")
    (project.prompts("decomposition") / "notes.md").write_text("Ideas.")
    assert invoke(project, "run", "decomposition").returncode == 0
    prompt_file(project, V20).write_text("---\nsuite: [\n---\n{{ topic }}")
    assert invoke(project, "run", "decomposition").returncode == 2


def test_first_runs_at_once_do_not_get_in_each_others_way(project: Project) -> None:
    runs = [
        begin(project, command_line, "run", "decomposition", "--prompt", version)
        for version in (V10, V12, V12)
    ]
    assert [ended(run) for run in runs] == [0, 0, 0]
