"""Small tasks, findings and scores for tests of the review suite."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import msgspec

from eval_pipeline.answers import Answer
from eval_pipeline.golden import GoldenCase
from eval_pipeline.scoring import Summary, score_cases, summarize
from eval_pipeline.suite import Context
from eval_pipeline.suites.review import SUITE
from eval_pipeline.suites.review.cases import GoldenTask, to_case
from eval_pipeline.suites.review.findings import Finding
from eval_pipeline.suites.review.matching import Decision
from eval_pipeline_tests.sources import Recorded, golden

LINES = [f"Line {number} says something about subject {number}." for number in range(1, 41)]


def error(number: int, severity: str = "IMPORTANT", category: str = "EDGE", **more: Any) -> dict[str, Any]:
    """An expected error on a line of its own."""
    return {
        "id": f"E{number}",
        "severity": severity,
        "category": category,
        "text": f"error {number}",
        "quote": LINES[number - 1],
        "location": str(number),
        **more,
    }


def task(*errors: dict[str, Any], id_: str = "task") -> GoldenCase:
    """A task with these errors."""
    entry = {
        "id": id_,
        "title": "A task",
        "kind": "design",
        "document": LINES,
        "expected_errors": list(errors),
    }
    return golden(to_case(msgspec.convert(entry, GoldenTask)))


def finding(number: int, category: str = "EDGE", depth: str = "CAUSE", **more: Any) -> dict[str, Any]:
    """A finding that quotes a line."""
    return {
        "id": f"F{number}",
        "concern": "A1",
        "method": "reading",
        "category": category,
        "depth": depth,
        "text": f"finding {number}",
        "quote": LINES[number - 1],
        "location": str(number),
        **more,
    }


def key_of(given: Mapping[str, Any]) -> str:
    """The key under which decisions know a finding."""
    return msgspec.convert(given, Finding).key


def output(*findings: dict[str, Any], tokens: int = 1000, **more: Any) -> dict[str, Any]:
    """An output with these findings."""
    return {"findings": list(findings), "tokens": {"agent": tokens}, **more}


class Trials:
    """Answers that differ from trial to trial; None is an error."""

    def __init__(self, outputs: Sequence[Mapping[str, Any]]) -> None:
        self._sources = [Recorded(each) for each in outputs]
        self.trials = tuple(range(1, len(outputs) + 1))

    def get(self, case_id: str, trial: int, input_hash: str) -> Answer | None:
        """The answer of a trial."""
        return self._sources[trial - 1].get(case_id, trial, input_hash)


def summary(
    cases: Sequence[GoldenCase],
    *outputs: Mapping[str, Any],
    decisions: Mapping[tuple[str, str], Decision] | None = None,
) -> Summary:
    """Everything that scoring says, one mapping of outputs for each trial."""
    scores = score_cases(SUITE, cases, Trials(outputs), Context(references=decisions))
    return summarize(SUITE, scores, {})


def values(
    case: GoldenCase, given: Any, decisions: Mapping[tuple[str, str], Decision] | None = None
) -> dict[str, float | None]:
    """Every metric of one output."""
    found = summary([case], {case.case.id: given}, decisions=decisions)
    return {name: each.value for name, each in found.metrics.items()}
