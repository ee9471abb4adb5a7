"""How much trials differ: stability of runs, consistency of findings."""

import math
import statistics
from collections import Counter
from collections.abc import Collection, Hashable, Iterable, Sequence
from typing import Literal, NamedTuple, TypeVar

Finding = TypeVar("Finding", bound=Hashable)
Stability = Literal["STABLE", "MODERATE", "UNSTABLE"]

LEAST_TRIALS = 3
STABLE_ABOVE = 0.8
UNSTABLE_BELOW = 0.6


def run_stability(values: Sequence[float | None]) -> float | None:
    """1 − sd ÷ mean over trials, sd with n − 1.

    Null below three trials, where a trial has no value, and where the mean is 0 but the trials differ.
    """
    present = [value for value in values if value is not None]
    if len(present) != len(values) or len(present) < LEAST_TRIALS:
        return None
    mean, deviation = statistics.fmean(present), statistics.stdev(present)
    if mean == 0:
        return 1.0 if deviation == 0 else None
    return 1.0 - deviation / mean


def stability_label(stability: float) -> Stability:
    """STABLE above 0.8, UNSTABLE below 0.6, MODERATE between and on the edges."""
    if stability > STABLE_ABOVE:
        return "STABLE"
    return "UNSTABLE" if stability < UNSTABLE_BELOW else "MODERATE"


def overall_stability(stabilities: Iterable[float | None]) -> Stability | None:
    """The worst label of an experiment's metrics; null where any of them cannot be told."""
    results = list(stabilities)
    labels = {stability_label(each) for each in results if each is not None}
    if "UNSTABLE" in labels:
        return "UNSTABLE"
    if not results or None in results:
        return None
    return "MODERATE" if "MODERATE" in labels else "STABLE"


class Consistency(NamedTuple):
    """How findings repeat over trials. The share shrinks with their number, so that one is part of it."""

    share: float | None
    trials: int


def finding_consistency(trials: Sequence[Collection[Hashable]]) -> Consistency:
    """Findings in all trials ÷ findings in any trial, for one task; null where nothing was found."""
    seen = _appearances(trials)
    everywhere = sum(count == len(trials) for count in seen.values())
    return Consistency(everywhere / len(seen) if seen else None, len(trials))


def recurrent_findings(trials: Sequence[Collection[Finding]]) -> set[Finding]:
    """Findings that appear in over half of the trials."""
    return {finding for finding, count in _appearances(trials).items() if count > len(trials) / 2}


def _appearances(trials: Sequence[Collection[Finding]]) -> Counter[Finding]:
    return Counter(finding for trial in trials for finding in set(trial))


def pooled_sd_rule(before: Sequence[float], after: Sequence[float]) -> bool | None:
    """|difference of means| > 2 · √((sd₁² + sd₂²) ÷ 2) over trials. For information: it is not the verdict.

    Null where a side has fewer than two trials.
    """
    if len(before) < 2 or len(after) < 2:
        return None
    pooled = math.sqrt((statistics.variance(before) + statistics.variance(after)) / 2)
    return abs(statistics.fmean(after) - statistics.fmean(before)) > 2 * pooled
