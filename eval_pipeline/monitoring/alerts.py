"""The six alerts of production: what is watched, over which window, and how bad it is.

A limit is crossed where chance does not explain it: the whole 95 % interval lies beyond it. It is kept again
as soon as the value itself is back within it. In between, and with too few requests, nothing changes.
"""

from __future__ import annotations

import datetime
import math
from collections.abc import Callable, Mapping
from typing import Literal, NamedTuple

from eval_pipeline.monitoring.figures import FIGURES, Figures, Spread
from eval_pipeline.monitoring.quality import Quality
from eval_pipeline.monitoring.sketch import value_of
from eval_pipeline.numbers import Unit, limit, number
from eval_pipeline.statistics.power import t_quantile
from eval_pipeline.statistics.sampled import LEAST, wilson
from eval_pipeline.suite import Severity
from eval_pipeline.suite.production import HALLUCINATION

HOUR = datetime.timedelta(hours=1)
TAIL = 0.025

State = Literal["crossed", "kept", "unsure"]


class Reading(NamedTuple):
    """A value with its interval, and on how many requests it rests."""

    value: float
    low: float
    high: float
    requests: float


class Alert(NamedTuple):
    """Something that is watched."""

    name: str
    severity: Severity
    limit: float
    above: bool
    """Whether what is above the limit is bad, or what is below."""
    window: datetime.timedelta
    unit: Unit
    action: str

    def crossed_by(self, value: float) -> bool:
        """Whether a value is beyond the limit."""
        return value > self.limit if self.above else value < self.limit


class Watched(NamedTuple):
    """An alert at a moment."""

    alert: Alert
    at: datetime.datetime
    """The end of the window."""
    reading: Reading | None

    @property
    def state(self) -> State:
        """Whether the limit is crossed, kept, or nobody knows."""
        read = self.reading
        if read is None or read.requests < LEAST:
            return "unsure"
        if not self.alert.crossed_by(read.value):
            return "kept"
        nearest = read.low if self.alert.above else read.high
        return "crossed" if self.alert.crossed_by(nearest) else "unsure"

    @property
    def text(self) -> str:
        """It in a sentence."""
        alert = self.alert
        value = number(self.reading.value, alert.unit) if self.reading else "unknown"
        side = "above" if alert.above else "below"
        hours = alert.window // HOUR
        span = f"{hours} h" if hours < 48 else f"{hours // 24} days"
        return (
            f"{alert.name} is {value} in the {span} until {self.at:%Y-%m-%d %H:%M} UTC; "
            f"{side} {limit(alert.limit, alert.unit)} it alerts. {alert.action}"
        )


ALERTS = (
    Alert("mean_confidence", "warning", 0.7, False, 24 * HOUR, "number", "Investigate prompt drift."),
    Alert(HALLUCINATION, "critical", 0.02, True, 168 * HOUR, "fraction", "Pause deployments, investigate."),
    Alert("latency_p95_ms", "warning", 5000.0, True, HOUR, "milliseconds", "Check the API's performance."),
    Alert("cost_per_request_usd", "warning", 0.10, True, 24 * HOUR, "dollars", "Review token usage."),
    Alert("concepts_per_answer", "warning", 10.0, False, 24 * HOUR, "number", "Check completeness."),
    Alert("error_rate", "critical", 0.01, True, HOUR, "fraction", "Check the API's availability."),
)
"""Section 7.3, in its order."""
ALERT_NAMES = tuple(alert.name for alert in ALERTS)


def alerts_for(limits: Mapping[str, float]) -> list[Alert]:
    """The alerts of a suite, with its own limits."""
    return [alert._replace(limit=limits.get(alert.name, alert.limit)) for alert in ALERTS]


def reads_figures(alert: Alert) -> bool:
    """Whether an alert is about figures of all requests, and not about a sample."""
    return alert.name in FIGURES


def watch_figures(alert: Alert, figures: Figures | None, at: datetime.datetime) -> Watched:
    """An alert on the figures of its window."""
    read = _READINGS[alert.name](figures, alert) if figures else None
    return Watched(alert, at, read)


def watch_quality(alert: Alert, quality: Quality | None, at: datetime.datetime) -> Watched:
    """An alert on what samples say."""
    estimate = quality.estimates.get(alert.name) if quality else None
    if estimate is None or estimate.value is None or estimate.low is None or estimate.high is None:
        return Watched(alert, at, None)
    return Watched(alert, at, Reading(estimate.value, estimate.low, estimate.high, estimate.effective))


def _mean(measure: str) -> Callable[[Figures, Alert], Reading | None]:
    return lambda figures, alert: mean_reading(figures.measure(measure))


def mean_reading(spread: Spread) -> Reading | None:
    """The mean with Student's interval."""
    if spread.mean is None:
        return None
    variance = max(spread.squares / spread.count - spread.mean**2, 0.0)
    freedom = spread.count - 1
    reach = float(t_quantile(freedom, 1 - TAIL)) * math.sqrt(variance / freedom) if freedom else math.inf
    return Reading(spread.mean, spread.mean - reach, spread.mean + reach, spread.count)


def _latency(figures: Figures, alert: Alert) -> Reading | None:
    """The 95th percentile; it is beyond the limit for certain where surely more than 5 % of requests are."""
    spread = figures.measure("latency_ms")
    value = spread.quantile(0.95)
    if value is None:
        return None
    slow = sum(count for bucket, count in spread.buckets.items() if value_of(bucket) > alert.limit)
    low, high = wilson(slow / spread.count, spread.count)
    return Reading(
        value,
        value if low > 0.05 else min(value, alert.limit),
        value if high < 0.05 else max(value, alert.limit),
        spread.count,
    )


def _errors(figures: Figures, alert: Alert) -> Reading | None:
    if not figures.requests:
        return None
    rate = figures.error_count / figures.requests
    return Reading(rate, *wilson(rate, figures.requests), figures.requests)


_READINGS: Mapping[str, Callable[[Figures, Alert], Reading | None]] = {
    "mean_confidence": _mean("confidence"),
    "latency_p95_ms": _latency,
    "cost_per_request_usd": _mean("cost_usd"),
    "concepts_per_answer": _mean("concepts"),
    "error_rate": _errors,
}
