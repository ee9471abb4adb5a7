"""Outputs files scored in step with the golden file, in parts, or through an index: always the same."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from eval_pipeline.golden import reader_of
from eval_pipeline.loading import load_suites, suite_names
from eval_pipeline.problems import BadInput, Problems
from eval_pipeline.project import Project
from eval_pipeline.scoring import OutputsScorer, ScoredFile, context_for, files
from eval_pipeline.suite import Suite

CASES = 6
PROJECT = Project.find()
SUITES = {
    suite.name: suite
    for suite in load_suites(PROJECT, suite_names(PROJECT))[0]
    if ".jsonl" in reader_of(suite).suffixes and [*PROJECT.golden(suite.name).glob("cases/*.json*")]
}


def golden_lines(suite: Suite) -> list[Any]:
    """The first golden entries of a suite, from whatever JSON they stand in."""
    entries: list[Any] = []
    for path in sorted((PROJECT.golden(suite.name) / "cases").rglob("*.json*")):
        text = path.read_text()
        content = (
            [json.loads(line) for line in text.splitlines()] if path.suffix == ".jsonl" else json.loads(text)
        )
        entries += content if isinstance(content, list) else [content]
    return entries[:CASES]


def write(path: Path, lines: list[Any]) -> Path:
    path.write_text("".join((line if isinstance(line, str) else json.dumps(line)) + "\n" for line in lines))
    return path


@pytest.fixture(params=sorted(SUITES), scope="module")
def suite(request: pytest.FixtureRequest) -> Suite:
    return SUITES[request.param]


@pytest.fixture
def golden(suite: Suite, tmp_path: Path) -> Path:
    return write(tmp_path / "golden.jsonl", golden_lines(suite))


@pytest.fixture
def recorded(suite: Suite, golden: Path) -> list[Any]:
    """A line for each of the golden entries, in their order."""
    (baseline,) = (PROJECT.golden(suite.name) / "baseline").glob("*.outputs.jsonl")
    lines = {line["case_id"]: line for line in map(json.loads, baseline.read_text().splitlines())}
    ids = [case.id for case, _ in reader_of(suite).read(golden, Problems())]
    assert len(ids) == CASES
    return [lines[case_id] for case_id in ids]


def scorer(suite: Suite) -> OutputsScorer:
    return OutputsScorer(suite, context_for(suite, PROJECT.golden(suite.name)), keep_diagnoses=True)


def content(scored: ScoredFile | None) -> Any:
    """What two results must have in common."""
    if scored is None:
        return None
    tables = (scored.scores.counts, scored.scores.keyed, scored.scores.diagnoses)
    overview = scored.overview
    columns = (overview.case_ids, overview.files, overview.attributes, overview.measures)
    return [table.to_pydict() for table in tables], columns, scored.unused


def through_the_index(suite: Suite, golden: Path, outputs: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    with monkeypatch.context() as patched:
        patched.setattr(OutputsScorer, "score_in_step", lambda *given: None)
        return content(scorer(suite).score(golden, outputs, Problems()))


def test_files_in_step_are_scored_as_through_the_index(
    suite: Suite, golden: Path, recorded: list[Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    changed = [
        *recorded[:2],
        {**recorded[2], "output": json.dumps(recorded[2]["output"]), "tokens": 70},
        {**recorded[3], "output": None},
        {**recorded[4], "error": "timeout", "detail": "30 s"},
        {**recorded[5], "output": {"nonsense": []}},
    ]
    for lines in (changed, [changed[0], "", *changed[1:]]):
        outputs = write(tmp_path / "o.jsonl", lines)
        expected = through_the_index(suite, golden, outputs, monkeypatch)
        assert content(scorer(suite).score(golden, outputs, Problems())) == expected
        if suite.selects is None:  # otherwise lines of cases that are not scored may be out of step
            assert content(scorer(suite).score_in_step(golden, outputs)) == expected
    if suite.selects is None:
        outputs = write(tmp_path / "o.jsonl", changed)
        monkeypatch.setattr(files, "LEAST_PART", 1)
        monkeypatch.setattr(files, "usable_processors", lambda: 3)
        assert content(scorer(suite).score_in_step(golden, outputs)) == expected


Change = Callable[[list[Any]], list[Any]]


@pytest.mark.parametrize(
    "change",
    [
        pytest.param(lambda lines: lines[::-1], id="another order"),
        pytest.param(lambda lines: lines[:-1], id="a missing line"),
        pytest.param(lambda lines: [*lines, {**lines[0], "output": None}], id="a repeated line"),
        pytest.param(lambda lines: [*lines, {**lines[0], "case_id": "stranger"}], id="a stranger"),
        pytest.param(lambda lines: [*lines, *({**line, "trial": 2} for line in lines)], id="two trials"),
        pytest.param(lambda lines: [], id="an empty file"),
    ],
)
def test_other_files_are_scored_through_the_index(
    suite: Suite,
    golden: Path,
    recorded: list[Any],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    change: Change,
) -> None:
    outputs = write(tmp_path / "o.jsonl", change(recorded))
    assert scorer(suite).score_in_step(golden, outputs) is None
    expected = through_the_index(suite, golden, outputs, monkeypatch)
    assert content(scorer(suite).score(golden, outputs, Problems())) == expected


def test_problems_of_both_files_are_raised_together(
    suite: Suite, golden: Path, recorded: list[Any], tmp_path: Path
) -> None:
    golden.write_text(golden.read_text() + "{\n")
    outputs = write(tmp_path / "o.jsonl", [*recorded, {**recorded[0], "tokens": "many"}])
    with pytest.raises(BadInput) as bad:
        scorer(suite).score(golden, outputs, Problems())
    assert [(problem.file, problem.line) for problem in bad.value.problems] == [
        (str(golden), CASES + 1),
        (str(outputs), CASES + 1),
    ]
