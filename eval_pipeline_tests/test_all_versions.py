"""Every version of every shipped suite: what a run of all says, and what can be looked at afterwards."""

from __future__ import annotations

import json
import re
from pathlib import Path

import msgspec
import pytest
from rich.cells import cell_len

from eval_pipeline.answers import recorded_line
from eval_pipeline.cli import compare
from eval_pipeline.numbers import number
from eval_pipeline.problems import Problems
from eval_pipeline.project import Project
from eval_pipeline.prompts import active_versions, load_prompts, versions_in
from eval_pipeline.store import Store
from eval_pipeline.suites import find_suite, suite_names
from eval_pipeline_tests.browsing import CHROMIUM, Watched, browser, nodes_of
from eval_pipeline_tests.conftest import REPOSITORY, House
from eval_pipeline_tests.running import computed_once, invoke

SHIPPED = suite_names(Project(REPOSITORY, REPOSITORY / ".eval"))
LEARNED = [f"heritage_{task}" for task in ("linking", "ner", "qa", "rag", "retrieval", "typing")]


def test_a_run_of_all_says_what_became_of_each(house: House) -> None:
    assert house.code == 1  # v2.0 of decomposition fails its gates
    for name in SHIPPED:
        suite = find_suite(house.project, name)
        (active,) = active_versions(suite, house.project.prompts(name))
        for prompt in load_prompts(suite, house.project.prompts(name), Problems()):
            assert f"\n{name}: {prompt.version}\n" in f"\n{house.printed}"
            compared = Store(house.project.state).compared(name, prompt.version)
            assert compared is not None
            assert not compared.missing
            replaced = [f"{active} (in use)" in each.before for each in compared.comparisons]
            assert any(replaced) == (prompt.front.status == "candidate"), prompt.version
            assert bool(compared.note) == (prompt.version == active)
    assert re.search(r"heritage summary: .*type_classification_accuracy: [0-9.]+ % ✗ fail", house.printed)
    assert re.search(r"\naccuracy: typing-[a-z]-\d+: . \(", house.printed)  # what a failing gate is made of
    assert [name for name in SHIPPED if find_suite(house.project, name).held_out] == LEARNED


@pytest.mark.parametrize("name", SHIPPED)
def test_cases_can_be_looked_at(house: House, name: str, tmp_path: Path) -> None:
    """Every version has a page with all cases and its evaluation's numbers; the worst is on the screen."""
    project = house.project
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
    page_without_texts(project, name, version, tmp_path / "without.html")


def page_without_texts(project: Project, name: str, version: str, file: Path) -> None:
    """With `--text none` no words of inputs, expectations or answers are anywhere in the file."""
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


@pytest.mark.browser
@pytest.mark.skipif(CHROMIUM is None, reason="needs Debian's chromium: make browser")
def test_pages_do_not_complain(house: House) -> None:
    """Each page in a browser: no complaint, no request."""
    with browser() as running:
        watched = Watched(running.new_page())
        for file in sorted(house.project.state.rglob("report.html")):
            page = watched.show(file)
            page.locator("#list tbody a").first.click()
            page.locator("#case h3").wait_for()
            assert (watched.complaints, watched.elsewhere) == ([], []), file


@pytest.mark.parametrize("suite", SHIPPED)
def test_comparisons_fit_a_screen(house: House, suite: str) -> None:
    """At 80 columns no line is wider and nothing is missing that a pipe gets, where every line is whole."""
    project = house.project
    first, *_, last = versions_in(project.prompts(suite))
    for against in ("baseline", first):
        asked = ("compare", suite, "--prompt", last, "--against", against)
        with pytest.MonkeyPatch.context() as patched:
            computed_once(patched, compare, "_compare")
            whole = invoke(project, *asked).stdout
            patched.setenv("COLUMNS", "80")
            narrow = invoke(project, *asked).stdout
        assert max(map(cell_len, narrow.splitlines())) <= 80, (suite, against)
        assert sorted(set(narrow.split())) == sorted(set(whole.split())), (suite, against)
        assert not re.search(r"\d$\s*^\s*(%|pp|points)", narrow, re.MULTILINE), (suite, against)
        before, after = narrow.splitlines()[0], narrow[narrow.index("\nAfter:") :]
        assert before.startswith(f"Before: {'baseline ' if against == 'baseline' else first}")
        assert after.startswith(f"\nAfter:  {last} on embedded ({suite}-")
        assert narrow.count(" UTC") == 2
        for word in ("verdict", "action", "95 % CI"):
            assert word in narrow


@pytest.mark.parametrize("name", LEARNED)
def test_held_out_numbers_are_those_of_score(house: House, name: str, tmp_path: Path) -> None:
    """Engines that learned from cases count by the split `test`; the other numbers stand beside it."""
    project = house.project
    (active,) = active_versions(find_suite(project, name), project.prompts(name))
    store = Store(project.state)
    answers, evaluation = store.outputs(name, active), store.evaluation(name, active)
    assert answers is not None
    assert evaluation is not None
    summary = evaluation.summary
    assert summary.held_out is not None
    assert summary.held_out.size in house.printed
    outputs = tmp_path / "outputs.jsonl"
    outputs.write_bytes(b"".join(recorded_line(each, find_suite(project, name).output) for each in answers))
    values = {each: value.value for each, value in summary.metrics.items()}
    numbers = {"test": values, **{split: part.metrics for split, part in summary.held_out.beside.items()}}
    for split, expected in numbers.items():
        given = () if split == "all" else ("--set", f"split={split}")
        golden = project.golden(name)
        scored = invoke(project, "score", name, "--golden", golden, "--outputs", outputs, "--json", *given)
        found = json.loads(scored.stdout)["metrics"]
        assert {each: found[each] for each in expected} == pytest.approx(expected)
