"""Configurations that promptfoo itself ran: our scorers pass what it passed, on the same outputs."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from eval_pipeline.declarative import read_suite
from eval_pipeline.golden import read_cases
from eval_pipeline.importing import Imported, read_promptfoo, suite_files
from eval_pipeline.problems import Problems
from eval_pipeline.prompts import Renderer, load_prompts
from eval_pipeline.scoring import OutputsScorer, context_for

FIXTURES = Path(__file__).parent / "fixtures"
NAMES = sorted(path.parent.name for path in FIXTURES.glob("*/results.json"))
LISTED = {"foreign": {3, 4, 5}, "options": {1}, "weights": {13}}
"""Tests that are listed, and no cases."""
LESS = {"foreign": {1, 2}}
"""Tests of which an assertion is listed, so that they may pass more easily."""


class Taken(NamedTuple):
    """A fixture, what it became, and where."""

    imported: Imported
    root: Path
    results: list[dict[str, Any]]


@pytest.fixture(scope="module", params=NAMES)
def taken(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Taken:
    root = tmp_path_factory.mktemp("imported")
    contents, imported = suite_files(
        "taken", read_promptfoo(FIXTURES / request.param / "promptfooconfig.yaml")
    )
    for path, text in contents.items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text(text)
    return Taken(imported, root, results_of(request.param))


def results_of(name: str) -> list[dict[str, Any]]:
    document = json.loads((FIXTURES / name / "results.json").read_text())
    assert document["metadata"]["promptfooVersion"].startswith("0.121.")
    rows: list[dict[str, Any]] = document["results"]["results"]
    repeat = 2 if name == "options" else 1
    return [{**row, "testIdx": row["testIdx"] // repeat} for row in rows if row["testIdx"] % repeat == 0]


def ids_of(taken: Taken, name: str) -> dict[int, str]:
    """The names of cases by the number of their test."""
    total = max(row["testIdx"] for row in taken.results) + 1
    numbers = [number for number in range(1, total + 1) if number not in LISTED.get(name, ())]
    return dict(zip(numbers, (str(row[taken.imported.id]) for row in taken.imported.rows), strict=True))


def test_the_same_cases_pass(taken: Taken, request: pytest.FixtureRequest, tmp_path: Path) -> None:
    name = request.node.callspec.params["taken"]
    golden, suite = taken.root / "golden" / "taken", read_suite(taken.root / "golden" / "taken")
    ids = ids_of(taken, name)
    for prompt in sorted({row["promptIdx"] for row in taken.results}):
        rows = [row for row in taken.results if row["promptIdx"] == prompt and row["testIdx"] + 1 in ids]
        answers = [
            {
                "case_id": ids[row["testIdx"] + 1],
                "output": row["response"]["output"],
                "latency_ms": row["latencyMs"],
                "cost_usd": row["cost"],
            }
            for row in rows
        ]
        outputs = tmp_path / f"{prompt}.jsonl"
        outputs.write_text("".join(json.dumps(each) + "\n" for each in answers))
        problems = Problems()
        scorer = OutputsScorer(suite, context_for(suite, golden), keep_diagnoses=False)
        scores = scorer.score(golden, outputs, problems).scores
        problems.stop_if_any()
        passed = dict(zip(scores.case_ids, scores.counts["passed"].to_pylist(), strict=True))
        compared = [row for row in rows if row["testIdx"] + 1 not in LESS.get(name, ())]
        ours = {row["testIdx"] + 1: bool(passed[ids[row["testIdx"] + 1]]) for row in compared}
        assert ours == {row["testIdx"] + 1: row["success"] for row in compared}


def test_prompts_say_the_same(taken: Taken, request: pytest.FixtureRequest) -> None:
    """What promptfoo's echo provider was asked is what our renderer makes of the version."""
    name = request.node.callspec.params["taken"]
    golden, suite = taken.root / "golden" / "taken", read_suite(taken.root / "golden" / "taken")
    problems = Problems()
    cases = {each.case.id: each.case for each in read_cases(suite, golden, problems)}
    ids = ids_of(taken, name)
    prompts = load_prompts(suite, taken.root / "prompts" / "taken", problems)
    problems.stop_if_any()
    assert [each.front.status for each in prompts] == ["active", *["candidate"] * (len(prompts) - 1)]
    for number, prompt in enumerate(prompts):
        rows = [row for row in taken.results if row["promptIdx"] == number and row["testIdx"] + 1 in ids]
        with Renderer(prompt) as renderer:
            rendered = renderer.render([cases[ids[row["testIdx"] + 1]].input for row in rows])
        for texts, row in zip(rendered, rows, strict=True):
            if name == "options" and row["testIdx"] == 2:
                continue  # its prefix is listed
            asked = row["prompt"]["raw"]
            if prompt.layout.is_chat:
                said = [(each["role"], each["content"].strip()) for each in json.loads(asked)]
                assert list(zip((part.role for part in prompt.layout.parts), texts, strict=True)) == said
            else:
                assert texts == (asked,) or json.loads(texts[0]) == json.loads(asked)  # it writes JSON anew
