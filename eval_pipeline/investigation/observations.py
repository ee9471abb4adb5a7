"""What is seen of every answer: whether it fails, and what it shows by itself."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, NamedTuple

import msgspec
import numpy as np

from eval_pipeline.answers import Answer
from eval_pipeline.gates import Gate
from eval_pipeline.golden import GoldenCase, strings
from eval_pipeline.investigation.vocabulary import role_of
from eval_pipeline.scoring import Scores, metric_values, row_values
from eval_pipeline.suite import DiagnosisVocabulary, Metric, Suite, Wanted

MOST_READ = 2000
"""So many texts of failing answers, and as many of passing ones, are read."""
ERROR_KIND = "error"

Look = Callable[[str, int], Answer | None]
"""(case, trial) → the answer as the engine gave it."""


class Diagnosed(NamedTuple):
    """A mistake that scoring named."""

    kind: str
    expected: str
    got: str


@dataclass(frozen=True)
class Observation:
    """One answer."""

    case_id: str
    trial: int
    fails: bool
    error: str
    """The kind of error; blank where the answer could be used."""
    detail: str
    diagnoses: Sequence[Diagnosed] = ()
    values: Mapping[str, float] = field(default_factory=dict)
    """The suite's metrics of this answer alone, where they are defined."""
    text: str | None = None
    """What the engine wrote; None where it was not read."""

    @cached_property
    def kinds(self) -> Counter[str]:
        """How often each kind of mistake was made."""
        return Counter(each.kind for each in self.diagnoses)


@dataclass(frozen=True)
class CaseFacts:
    """What is known of a case."""

    id: str
    file: str
    attributes: Mapping[str, str]
    text: str
    wanted: Sequence[Wanted]

    @property
    def length(self) -> int:
        """How long the text is, in characters."""
        return len(self.text)


class Other(NamedTuple):
    """Another evaluation of the same golden set: of another version, by another engine."""

    label: str
    engine: str
    observations: Sequence[Observation]


def observe(
    suite: Suite,
    scores: Scores,
    vocabulary: DiagnosisVocabulary,
    failing_gates: Mapping[str, Gate] | None = None,
) -> list[Observation]:
    """Every answer that can pass or fail.

    It fails where its case does not pass. Where the answers that pass leave a metric in the fail zone of its
    gate all the same, those of them fail, too, whose own value lies there.
    """
    counts = scores.counts
    values = {metric.name: row_values(metric, scores) for metric in suite.metrics}
    gates = {
        metric.name: failing_gates[metric.name]
        for metric in suite.metrics
        if failing_gates and metric.name in failing_gates
        if _fails_all_the_same(metric, scores, failing_gates[metric.name])
    }
    mistakes = _diagnoses(scores, vocabulary)
    columns = (
        counts[name].to_pylist() for name in ("case_id", "trial", "error", "detail", "passable", "passed")
    )
    observations = []
    for row, (case_id, trial, error, detail, passable, passed) in enumerate(zip(*columns, strict=True)):
        own = {name: value for name, each in values.items() if (value := each[row]) is not None}
        at_fault = any(name in own and gate.zone(own[name]) == "fail" for name, gate in gates.items())
        if passable or at_fault:
            fails = at_fault or not passed
            found = mistakes.get((case_id, trial), ())
            observations.append(Observation(case_id, trial, fails, error or "", detail or "", found, own))
    return observations


def _fails_all_the_same(metric: Metric, scores: Scores, gate: Gate) -> bool:
    """Whether a metric lies in the fail zone even without the answers that do not pass."""
    passed = scores.counts["passed"].to_numpy() > 0
    value = metric_values(metric, scores.sums(np.where(passed, 0, -1), 1))[0]
    return value is not None and gate.zone(value) == "fail"


def _diagnoses(scores: Scores, vocabulary: DiagnosisVocabulary) -> dict[tuple[str, int], list[Diagnosed]]:
    """Every mistake by case and trial; what is no mistake is left out, and errors stand in columns."""
    found: dict[tuple[str, int], list[Diagnosed]] = {}
    for row in scores.diagnoses.to_pylist():
        each = Diagnosed(row["kind"], row["expected"] or "", row["got"] or "")
        if each.kind != ERROR_KIND and role_of(vocabulary, each) != "note":
            found.setdefault((row["case_id"], row["trial"]), []).append(each)
    return found


def with_texts(observations: Sequence[Observation], look: Look) -> tuple[list[Observation], int]:
    """The same, with what the engine wrote; how many failing answers were left unread."""
    left = {True: MOST_READ, False: MOST_READ}
    result, unread = [], 0
    for each in observations:
        if left[each.fails]:
            left[each.fails] -= 1
            answer = look(each.case_id, each.trial)
            result.append(replace(each, text=answer.text if answer else None))
        else:
            result.append(each)
            unread += each.fails
    return result, unread


def facts_of(cases: Iterable[GoldenCase], vocabulary: DiagnosisVocabulary) -> dict[str, CaseFacts]:
    """What is known of every case, by its id."""
    return {
        golden.case.id: CaseFacts(
            golden.case.id,
            golden.file,
            golden.case.attributes,
            vocabulary.text(golden.case.input) if vocabulary.text else all_text(golden.case.input),
            vocabulary.wanted(golden.case) if vocabulary.wanted else (),
        )
        for golden in cases
    }


def all_text(value: Any) -> str:
    """All texts of a value, one below the other."""
    return "\n".join(text for _, text in strings(msgspec.to_builtins(value)))
