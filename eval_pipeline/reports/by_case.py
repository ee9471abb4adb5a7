"""Scores by case: what each trial earned, and what was wrong with it."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import msgspec

from eval_pipeline.scoring import ATTRIBUTE, Scores, case_rows
from eval_pipeline.scoring.rows import METRIC
from eval_pipeline.scoring.summary import mean_or_none
from eval_pipeline.suite import Diagnosis, Suite, all_metrics

if TYPE_CHECKING:
    import pyarrow as pa


class TrialScores(msgspec.Struct, frozen=True):
    """What one answer earned, each metric by itself, and what was wrong with it."""

    trial: int
    error: str | None
    detail: str
    passed: bool | None
    """None where the case can neither pass nor fail."""
    metrics: dict[str, float | None]
    diagnoses: tuple[Diagnosis, ...]


class CaseScores(msgspec.Struct, frozen=True):
    """A case in all its trials."""

    case_id: str
    attributes: dict[str, str]
    trials: tuple[TrialScores, ...]

    def value(self, metric: str) -> float | None:
        """A metric's mean over trials; undefined where any trial's is."""
        return mean_or_none([each.metrics[metric] for each in self.trials])

    @property
    def passed(self) -> int | None:
        """In how many trials it passes; None where it can neither pass nor fail."""
        results = [each.passed for each in self.trials if each.passed is not None]
        return sum(results) if results else None

    @property
    def failed(self) -> bool:
        """Whether any trial did not pass, or had no usable answer."""
        return any(each.passed is False or each.error for each in self.trials)

    @property
    def differs(self) -> bool:
        """Whether trials earned different values."""
        return any(each.metrics != self.trials[0].metrics for each in self.trials)

    @property
    def kinds(self) -> list[str]:
        """The kinds of what was wrong, in any trial."""
        return sorted({each.kind for trial in self.trials for each in trial.diagnoses})


def by_case(suite: Suite, scores: Scores) -> dict[str, CaseScores]:
    """Every case with the values of `case_rows` and its diagnoses."""
    diagnoses: dict[tuple[str, int], list[Diagnosis]] = defaultdict(list)
    for row in scores.diagnoses.to_pylist():
        key = row["case_id"], row["trial"]
        diagnoses[key].append(Diagnosis(row["kind"], row["expected"], row["got"]))
    attributes: dict[str, dict[str, str]] = {}
    trials: dict[str, list[TrialScores]] = defaultdict(list)
    for row, passable, passed in _rows(case_rows(scores, suite), scores):
        case_id = row["case_id"]
        attributes.setdefault(case_id, _attributes(row))
        trials[case_id].append(
            TrialScores(
                row["trial"],
                row["error"],
                row["detail"] or "",
                bool(passed) if passable else None,
                {each.name: row[_column(each.name, row)] for each in all_metrics(suite)},
                tuple(diagnoses.get((case_id, row["trial"]), ())),
            )
        )
    return {name: CaseScores(name, attributes[name], tuple(each)) for name, each in sorted(trials.items())}


def _rows(table: pa.Table, scores: Scores) -> Any:
    passes = (scores.counts[name].to_pylist() for name in ("passable", "passed"))
    return zip(table.to_pylist(), *passes, strict=True)


def _column(metric: str, row: Mapping[str, Any]) -> str:
    return METRIC + metric if METRIC + metric in row else metric


def _attributes(row: Mapping[str, Any]) -> dict[str, str]:
    return {
        name.removeprefix(ATTRIBUTE): value
        for name, value in row.items()
        if name.startswith(ATTRIBUTE) and value is not None
    }
