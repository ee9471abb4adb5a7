"""What the cases say about the difference of each metric."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import fields

import numpy as np

from eval_pipeline.answers import TrialRange
from eval_pipeline.comparison.pairing import paired_metrics
from eval_pipeline.comparison.records import Evidence
from eval_pipeline.gates import Gate, Regression
from eval_pipeline.numbers import Unit
from eval_pipeline.scoring import Scores
from eval_pipeline.statistics.looks import Plan
from eval_pipeline.statistics.pairs import Moments
from eval_pipeline.statistics.verdicts import Estimate, Judgement, Rules, judge_together
from eval_pipeline.suite import Metric, Suite, all_metrics

NOTICEABLE: dict[Unit, float] = {"fraction": 0.01, "points": 1.0, "number": 0.0}
"""Changes from which an ungated metric counts as moved: a point, or anything at all."""


def evidence_of(
    suite: Suite,
    pairs: Sequence[tuple[Scores, Scores]],
    gates: Mapping[str, Gate],
    range_: TrialRange | None,
) -> list[dict[str, Evidence]]:
    """The evidence on every metric of each pair of sides.

    The gated metrics of all pairs are one family; every other metric stands for itself.
    """
    family, others = partition(suite, gates)
    all_moments = [paired_metrics([*family, *others], old, new) for old, new in pairs]
    plans = [looks_of(range_, each) for each in all_moments]
    gated = [
        Estimate(each.select(slice(len(family))), plan) for each, plan in zip(all_moments, plans, strict=True)
    ]
    free = [
        Estimate(each.select(slice(len(family), None), None), plan)
        for each, plan in zip(all_moments, plans, strict=True)
    ]
    together = judge_together(gated, rules_for(family, gates))
    alone = [judge_together([each], rules_for(others, gates, (1,)))[0] for each in free]
    return [
        dict(zip([each.name for each in (*family, *others)], [*_rows(first), *_rows(second)], strict=True))
        for first, second in zip(together, alone, strict=True)
    ]


def partition(suite: Suite, gates: Mapping[str, Gate]) -> tuple[list[Metric], list[Metric]]:
    """The metrics with a gate, whose verdicts stand together, and the others."""
    metrics = all_metrics(suite)
    return (
        [metric for metric in metrics if metric.name in gates],
        [metric for metric in metrics if metric.name not in gates],
    )


def looks_of(range_: TrialRange | None, moments: Moments) -> Plan | None:
    """The plan by which trials were asked, with the trials that the side before has."""
    return Plan(range_.min, range_.max, moments.trials[0]) if range_ else None


def rules_for(metrics: Sequence[Metric], gates: Mapping[str, Gate], family: tuple[int, ...] = ()) -> Rules:
    """What counts as a change of each metric, by its gate."""
    drops = [drops_of(gates.get(metric.name), metric.unit) for metric in metrics]
    shape = (len(metrics), *family)
    return Rules.of(
        np.reshape([each.block for each in drops], shape),
        noticeable=np.reshape([each.investigate for each in drops], shape),
        direction=np.reshape([1.0 if each.direction == "higher" else -1.0 for each in metrics], shape),
    )


def _rows(verdicts: Judgement) -> list[Evidence]:
    columns = {each.name: np.ravel(getattr(verdicts, each.name)).tolist() for each in fields(verdicts)}
    return [
        Evidence(
            cases=columns["cases"][place],
            verdict=columns["verdict"][place],
            **{name: finite(columns[name][place]) for name in ("low", "high", "p_value", "adjusted_p")},
            minimum_detectable_effect=finite(columns["minimum_detectable_effect"][place]),
            cases_needed=_whole(columns["cases_needed"][place]),
            trials_needed=_whole(columns["trials_needed"][place]),
        )
        for place in range(len(columns["cases"]))
    ]


def finite(value: float) -> float | None:
    """A number; None where it is undefined or infinite."""
    return value if math.isfinite(value) else None


def _whole(value: float) -> int | None:
    return int(value) if math.isfinite(value) else None


def drops_of(gate: Gate | None, unit: Unit) -> Regression:
    """The drops that matter; where no gate says any, a noticeable one is looked at and none blocks."""
    return (gate.regression if gate else None) or Regression(NOTICEABLE[unit], math.inf)
