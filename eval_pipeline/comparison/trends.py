"""Slides in the history of a version: the rules of the statistics, applied to every gated metric."""

from collections.abc import Mapping, Sequence

import msgspec

from eval_pipeline.gates import Gate
from eval_pipeline.numbers import Unit, change, counted, number
from eval_pipeline.scoring import Point
from eval_pipeline.statistics.slides import SLOPE_RUNS, Trend, trend
from eval_pipeline.suite import Suite, quantities

ALPHA = 0.05


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


def comparable(points: Sequence[Point], latest: Point) -> list[Point]:
    """The evaluations that asked anew, of the same version, on the same golden set, by the same engine."""
    return [
        point
        for point in points
        if not point.replay
        and (point.suite, point.version) == (latest.suite, latest.version)
        and (point.golden_hash, point.engine) == (latest.golden_hash, latest.engine)
    ]


def metric_trends(suite: Suite, gates: Mapping[str, Gate], points: Sequence[Point]) -> list[MetricTrend]:
    """The trend of every gated metric over points that can be compared; together they share one level."""
    known = quantities(suite)
    results = []
    for name in (name for name in gates if name in known):
        higher = known[name].direction == "higher"
        values = tuple(point.metrics.get(name) for point in points)
        noise = [point.noise.get(name) for point in points]
        judged = trend(values, noise, direction=1.0 if higher else -1.0, alpha=ALPHA / max(len(gates), 1))
        results.append(MetricTrend(name, known[name].unit, values, judged, "fell" if higher else "rose"))
    return results
