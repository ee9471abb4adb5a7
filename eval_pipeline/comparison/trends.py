"""Slides in the history of a version: the rules of the statistics, applied to every gated metric."""

import itertools
import math
from collections.abc import Iterable, Mapping, Sequence

import msgspec
import numpy as np

from eval_pipeline.comparison.pairing import left_out
from eval_pipeline.gates import Gate
from eval_pipeline.numbers import Unit, change, counted, number
from eval_pipeline.scoring import Point, Scores, Step
from eval_pipeline.statistics.pairs import paired
from eval_pipeline.statistics.slides import SLOPE_RUNS, Trend, trend
from eval_pipeline.suite import Metric, Suite, quantities

ALPHA = 0.01
"""How often a suite in which nothing changes may raise an alarm in a month of nights."""


class MetricTrend(msgspec.Struct, frozen=True):
    """How one metric went over the evaluations that can be compared with each other."""

    metric: str
    unit: Unit
    values: tuple[float | None, ...]
    """Oldest first."""
    trend: Trend
    worsens: str
    """What getting worse is called: `fell` or `rose`."""

    @property
    def text(self) -> str:
        """What is alarming about it, in words."""
        reasons = []
        if self.trend.declining:
            last = [each for each in self.values if each is not None][-self.trend.declines_beyond_noise - 1 :]
            steps = " → ".join(number(value, self.unit) for value in last)
            times = counted(self.trend.declines_beyond_noise, "time")
            reasons.append(f"{self.worsens} {times} in a row by more than noise ({steps})")
        if self.trend.sliding and self.trend.slope is not None:
            slope = abs(self.trend.slope) * (-1 if self.worsens == "fell" else 1)
            runs = min(len(self.values), SLOPE_RUNS)
            reasons.append(f"slides by {change(slope, self.unit)} a run over the last {runs}")
        return f"{self.metric} {' and '.join(reasons)}"


def series(points: Iterable[Point]) -> list[list[Point]]:
    """The evaluations that can be compared with each other, oldest first.

    They asked anew and are complete; version, golden set, engine, model, scoring and the cases that numbers
    rest on are the same.
    """
    lines: dict[tuple[str, ...], list[Point]] = {}
    for point in points:
        if not point.replay and not point.incomplete:
            lines.setdefault(_conditions(point), []).append(point)
    return list(lines.values())


def comparable(points: Iterable[Point], latest: Point) -> list[Point]:
    """Those of the evaluations that can be compared with the latest one."""
    lines = {_conditions(line[0]): line for line in series(points)}
    return lines.get(_conditions(latest), [])


def _conditions(point: Point) -> tuple[str, ...]:
    names = ("suite", "version", "golden_hash", "engine", "model", "scoring", "held_out")
    return tuple(getattr(point, name) for name in names)


def metric_trends(suite: Suite, gates: Mapping[str, Gate], points: Sequence[Point]) -> list[MetricTrend]:
    """The trend of every gated metric over points that can be compared; together they share one level."""
    known = quantities(suite)
    results = []
    for name in (name for name in gates if name in known):
        higher = known[name].direction == "higher"
        values = tuple(point.metrics.get(name) for point in points)
        steps = _noise(name, [point for point in points if point.metrics.get(name) is not None])
        judged = trend(
            [value for value in values if value is not None],
            [error for error, _ in steps],
            [freedom for _, freedom in steps],
            direction=1.0 if higher else -1.0,
            alpha=ALPHA / max(len(gates), 1),
        )
        results.append(MetricTrend(name, known[name].unit, values, judged, "fell" if higher else "rose"))
    return results


def _noise(metric: str, points: Sequence[Point]) -> list[tuple[float | None, float]]:
    """The noise between neighbours: of their paired cases, else of their trials; None where it is unknown."""
    steps: list[tuple[float | None, float]] = []
    for before, after in itertools.pairwise(points):
        own = (before.noise.get(metric), after.noise.get(metric))
        if after.step and after.step.since == before.run and metric in after.step.errors:
            steps.append((after.step.errors[metric], after.step.freedom[metric]))
        elif own[0] is not None and own[1] is not None:
            steps.append((math.hypot(own[0], own[1]), before.trials + after.trials - 2))
        else:
            steps.append((None, 0.0))
    return steps


def step_between(run: str, before: Scores, after: Scores, metrics: Sequence[Metric]) -> Step:
    """The noise from the evaluation of a run to the next: both hold the same cases, scored alike.

    A case that moves further than the others counts for more of the noise: how many cases it rests on is
    (Σ d²)² ÷ Σ d⁴, which is the number of flips where cases are right or wrong.
    """
    pairs = paired(left_out(metrics, before), left_out(metrics, after))
    moments, squares = pairs.moments, pairs.differences**2
    errors = moments.spread / np.sqrt(np.maximum(moments.cases, 1))
    fourth = (squares**2).sum(axis=0)
    freedom = np.divide(squares.sum(axis=0) ** 2, fourth, out=np.zeros_like(fourth), where=fourth > 0)
    told = [place for place, error in enumerate(errors) if np.isfinite(error)]
    return Step(
        run,
        {metrics[place].name: float(errors[place]) for place in told},
        {metrics[place].name: float(freedom[place]) for place in told},
    )
