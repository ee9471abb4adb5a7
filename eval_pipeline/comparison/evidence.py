"""What the cases say about the difference of each metric."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import fields
from typing import TYPE_CHECKING

import numpy as np
from msgspec.structs import replace

from eval_pipeline.answers import TrialRange
from eval_pipeline.comparison.pairing import cases_of, paired_metrics
from eval_pipeline.comparison.records import Evidence, HeavyCase, Influence
from eval_pipeline.gates import Gate, Regression
from eval_pipeline.numbers import Unit
from eval_pipeline.scoring import Scores
from eval_pipeline.statistics.arrays import ROUNDING
from eval_pipeline.statistics.estimates import Estimate
from eval_pipeline.statistics.looks import Plan
from eval_pipeline.statistics.pairs import Moments, Pairs, side_by_side
from eval_pipeline.statistics.verdicts import Judgement, Rules, judge_together
from eval_pipeline.suite import Metric, Suite, Values, all_metrics

if TYPE_CHECKING:
    import pyarrow as pa

DROPS: dict[Unit, Regression] = {
    "fraction": Regression(investigate=0.01, block=0.05),
    "points": Regression(investigate=1.0, block=5.0),
}
"""The drops that matter where `gates.yaml` says none: a point is looked at, five are too many."""
RELATIVE = Regression(investigate=0.01, block=0.05)
"""The same for plain numbers, as parts of the value before."""
MOST_INFLUENCES = 3
NUMBERS_AT_ONCE = 2_000_000
"""So many values of cases and metrics are in memory at a time."""


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
    metrics = [*family, *others]
    gated, free = [], []
    weighed = []
    for old, new in pairs:
        moments, weights = _measured(metrics, old, new)
        plan = looks_of(range_, moments)
        gated.append(Estimate(moments.select(slice(len(family))), plan))
        free.append(Estimate(moments.select(slice(len(family), None), None), plan))
        weighed.append(weights)
    together = judge_together(gated, [rules_for(family, gates, each.moments.before) for each in gated])
    alone = [judge_together([each], [rules_for(others, gates, each.moments.before)])[0] for each in free]
    return [
        {
            metric.name: replace(evidence, carried_by=carried_by, heavy=heavy)
            for metric, evidence, (carried_by, heavy) in zip(
                metrics, [*_rows(first), *_rows(second)], weights, strict=True
            )
        }
        for first, second, weights in zip(together, alone, weighed, strict=True)
    ]


_Weights = list[tuple[tuple[Influence, ...], HeavyCase | None]]


def _measured(metrics: Sequence[Metric], old: Scores, new: Scores) -> tuple[Moments, _Weights]:
    """What the cases show of every metric, and which of them weigh; of very many, some metrics at a time."""
    at_once = max(NUMBERS_AT_ONCE // max(old.counts.num_rows, new.counts.num_rows, 1), 2)
    parts: list[Moments] = []
    weights: _Weights = []
    for first in range(0, len(metrics), at_once):
        pairs = paired_metrics(metrics[first : first + at_once], old, new)
        parts.append(pairs.moments)
        weights += _weights(pairs, parts[-1], cases_of(old))
    return side_by_side(parts), weights


def _weights(pairs: Pairs, moments: Moments, case_ids: pa.ChunkedArray) -> _Weights:
    """The cases that carry each pooled metric's difference, and the one that weighs too much."""
    influences = pairs.influences
    results = []
    for place, pooled in enumerate(pairs.unequal):
        carried_by: tuple[Influence, ...] = ()
        sign = 1.0 if moments.difference[place] > 0 else -1.0
        if pooled and abs(moments.difference[place]) > ROUNDING:
            column = np.nan_to_num(sign * influences[:, place])
            most = np.argsort(-column, kind="stable")[:MOST_INFLUENCES]
            carried_by = tuple(
                Influence(case_ids[int(case)].as_py(), sign * float(column[case]))
                for case in most
                if column[case] > ROUNDING
            )
        heavy = None
        if np.isfinite(moments.equal_difference[place]):
            heavy = HeavyCase(
                case_ids[int(moments.heaviest[place])].as_py(),
                float(moments.share[place]),
                finite(float(moments.without_heaviest[place])),
                finite(float(moments.equal_difference[place])),
            )
        results.append((carried_by, heavy))
    return results


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


def rules_for(metrics: Sequence[Metric], gates: Mapping[str, Gate], before: Values) -> Rules:
    """What counts as a change of each metric, by its gate; `before` are the values that changed."""
    drops = [
        drops_of(gates.get(metric.name), metric.unit, value)
        for metric, value in zip(metrics, np.ravel(before).tolist(), strict=True)
    ]
    shape = np.shape(before)
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
            low=finite(columns["low"][place]),
            high=finite(columns["high"][place]),
            p_value=finite(columns["p_value"][place]),
            adjusted_p=finite(columns["adjusted_p"][place]),
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


def drops_of(gate: Gate | None, unit: Unit, before: float | None) -> Regression:
    """The drops that matter: the gate's own, else those of the metric's unit."""
    if gate and gate.regression:
        return gate.regression
    if unit in DROPS:
        return DROPS[unit]
    size = abs(before) if before is not None and math.isfinite(before) else 0.0
    return Regression(investigate=RELATIVE.investigate * size, block=RELATIVE.block * size)
