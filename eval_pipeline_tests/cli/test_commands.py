"""The other commands, as a person runs them: run, compare, baseline, golden."""

from __future__ import annotations

import json
import os
import re
import shutil
from pathlib import Path
from typing import get_args
from unittest import mock

import msgspec
import pytest
from rich.cells import cell_len

from eval_pipeline import cli
from eval_pipeline.answers import recorded_line
from eval_pipeline.numbers import number
from eval_pipeline.problems import Problems
from eval_pipeline.project import Project
from eval_pipeline.prompts import active_versions, load_prompts, versions_in
from eval_pipeline.statistics.significance import TestName
from eval_pipeline.store import Store
from eval_pipeline.suites import find_suite, suite_names
from eval_pipeline_tests.browsing import CHROMIUM, Watched, browser, nodes_of
from eval_pipeline_tests.conftest import TOY, copy_project
from eval_pipeline_tests.running import baseline_outputs, begin, command, command_line, ended, invoke

V10, V12, V20 = (f"decompose-concepts-v{each}" for each in ("1.0", "1.2", "2.0"))


def prompt_file(project: Project, version: str) -> Path:
    return project.prompts("decomposition") / f"{version}.md"


@pytest.fixture(scope="module")
def original(tmp_path_factory: pytest.TempPathFactory) -> Project:
    """A project in which every version has been evaluated."""
    project = copy_project(tmp_path_factory.mktemp("commands") / "project")
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
        assert "..." not in re.sub(r"(\[ARGS]|\[SUITES]|FILES)\.\.\.", "", done.stdout), words
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


def test_all_versions_of_all_suites_at_once(project: Project) -> None:
    done = command(project, "run", "all", "--prompt", "all")
    assert done.returncode == 1, done.stderr  # v2.0 of decomposition fails its gates
    for name in suite_names(project):
        suite = find_suite(project, name)
        (active,) = active_versions(suite, project.prompts(name))
        for prompt in load_prompts(suite, project.prompts(name), Problems()):
            assert f"\n{name}: {prompt.version}\n" in f"\n{done.stdout}"
            compared = Store(project.state).compared(name, prompt.version)
            assert compared is not None
            assert not compared.missing
            replaced = [f"{active} (in use)" in each.before for each in compared.comparisons]
            assert any(replaced) == (prompt.front.status == "candidate"), prompt.version
            assert bool(compared.note) == (prompt.version == active)
    assert re.search(r"heritage summary: .*type_classification_accuracy: [0-9.]+ % ✗ fail", done.stdout)
    assert re.search(r"\naccuracy: typing-[a-z]-\d+: . \(", done.stdout)  # what a failing gate is made of
    learned = [name for name in suite_names(project) if find_suite(project, name).held_out]
    assert learned == [f"heritage_{task}" for task in ("linking", "ner", "qa", "rag", "retrieval", "typing")]
    for name in learned:
        held_out_numbers_are_those_of_score(project, name, done.stdout)
    for name in suite_names(project):
        comparisons_fit_a_screen(project, name)
        cases_can_be_looked_at(project, name)
    pages_do_not_complain(project)


def cases_can_be_looked_at(project: Project, name: str) -> None:
    """Every version has a page with all cases and its evaluation's numbers; the worst is on the screen."""
    suite, store = find_suite(project, name), Store(project.state)
    unit = suite.metric(suite.headline).unit
    for version in versions_in(project.prompts(name)):
        evaluation = store.evaluation(name, version)
        assert evaluation is not None
        page = store.page_path(evaluation.identity).read_text()
        index = nodes_of(page)["index"]
        shown = dict(zip(index["id"], index["shown"][suite.headline], strict=True))
        for case in evaluation.case_results:
            assert shown[case.case_id] == number(case.headline, unit)
        assert len(shown) == store.golden(name).facts.cases  # type: ignore[union-attr]
        worst = evaluation.case_results[0]
    done = invoke(project, "case", name, version, worst.case_id)
    assert done.returncode == 0, done.stderr
    assert number(worst.headline, unit) in done.stdout
    page_without_texts(project, name, version)


def page_without_texts(project: Project, name: str, version: str) -> None:
    """With `--text none` no words of inputs, expectations or answers are anywhere in the file."""
    file = project.root / "without.html"
    done = invoke(project, "report", name, version, "--text", "none", "--out", file)
    assert done.returncode == 0, done.stderr
    html = file.read_text()
    said = html + json.dumps(nodes_of(html), ensure_ascii=False)
    store = Store(project.state)
    golden, answers = store.golden(name), store.outputs(name, version)
    assert golden is not None
    assert answers is not None
    values = [
        value
        for each in golden.cases(find_suite(project, name))
        for value in (each.case.input, each.case.expected)
    ]
    texts = [json.dumps(msgspec.to_builtins(value), ensure_ascii=False) for value in values]
    texts += [answer.text or "" for answer in answers]
    runs = {run for text in texts for run in re.findall(r"[^\W\d_]+(?: [^\W\d_]+){4,}", text)}
    told = [run for run in runs if run in said]
    assert told == [], (name, told[:3])


def pages_do_not_complain(project: Project) -> None:
    """Each page in a browser, where there is one: no complaint, no request."""
    if CHROMIUM is None:
        return
    with browser() as running:
        watched = Watched(running.new_page())
        for file in sorted(project.state.rglob("report.html")):
            page = watched.show(file)
            page.locator("#list tbody a").first.click()
            page.locator("#case h3").wait_for()
            assert (watched.complaints, watched.elsewhere) == ([], []), file


def comparisons_fit_a_screen(project: Project, suite: str) -> None:
    """At 80 columns no line is wider and nothing is missing that a pipe gets, where every line is whole."""
    first, *_, last = versions_in(project.prompts(suite))
    for against in ("baseline", first):
        asked = ("compare", suite, "--prompt", last, "--against", against)
        with mock.patch.dict(os.environ, {"COLUMNS": "80"}):
            narrow = invoke(project, *asked).stdout
        whole = invoke(project, *asked).stdout
        assert max(map(cell_len, narrow.splitlines())) <= 80, (suite, against)
        assert sorted(set(narrow.split())) == sorted(set(whole.split())), (suite, against)
        assert not re.search(r"\d$\s*^\s*(%|pp|points)", narrow, re.MULTILINE), (suite, against)
        before, after = narrow.splitlines()[0], narrow[narrow.index("\nAfter:") :]
        assert before.startswith(f"Before: {'baseline ' if against == 'baseline' else first}")
        assert after.startswith(f"\nAfter:  {last} on embedded ({suite}-")
        assert narrow.count(" UTC") == 2
        for word in ("verdict", "action", "95 % CI"):
            assert word in narrow


def held_out_numbers_are_those_of_score(project: Project, name: str, printed: str) -> None:
    """Engines that learned from cases count by the split `test`; the other numbers stand beside it."""
    (active,) = active_versions(find_suite(project, name), project.prompts(name))
    store = Store(project.state)
    answers, evaluation = store.outputs(name, active), store.evaluation(name, active)
    assert answers is not None
    assert evaluation is not None
    summary = evaluation.summary
    assert summary.held_out is not None
    assert summary.held_out.size in printed
    outputs = project.root / "outputs.jsonl"
    outputs.write_bytes(b"".join(recorded_line(each, find_suite(project, name).output) for each in answers))
    values = {each: value.value for each, value in summary.metrics.items()}
    numbers = {"test": values, **{split: part.metrics for split, part in summary.held_out.beside.items()}}
    for split, expected in numbers.items():
        given = () if split == "all" else ("--set", f"split={split}")
        golden = project.golden(name)
        scored = invoke(project, "score", name, "--golden", golden, "--outputs", outputs, "--json", *given)
        found = json.loads(scored.stdout)["metrics"]
        assert {each: found[each] for each in expected} == pytest.approx(expected)


def test_recorded_answers_are_scored_on_all_cases(project: Project) -> None:
    """Whoever wrote them learned nothing here: all 950 cases count."""
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


@pytest.mark.parametrize("test", get_args(TestName))
def test_a_test_of_ones_choice_stands_beside_the_verdict(original: Project, test: str) -> None:
    asked = ("compare", "decomposition", "--prompt", V20)
    verdict = json.loads(invoke(original, *asked, "--json").stdout)
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
        (
            "bad-v1.0",
            "---\nsuite: decomposition\nstatus: active\n---\n"
            "{% for a in range(99999) %}{% for b in range(99999) %}{% endfor %}{% endfor %}",
            "does not finish within",
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
