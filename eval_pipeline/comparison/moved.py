"""The cases that got worse and better, by the suite's headline metric."""

import math

import numpy as np
from numpy.typing import NDArray

from eval_pipeline.comparison.pairing import cases_of
from eval_pipeline.comparison.records import CaseChange
from eval_pipeline.gates import TOLERANCE
from eval_pipeline.scoring import Scores
from eval_pipeline.suite import Suite, Values


def moved_cases(
    suite: Suite, old: Scores, new: Scores
) -> tuple[tuple[CaseChange, ...], tuple[CaseChange, ...]]:
    """The cases that fell, the worst first, and those that rose, the best first.

    A case that lost its value fell farther than any other; one that had none before did not move.
    """
    before, after = headlines(suite, old), headlines(suite, new)
    difference = after - before
    sign = 1.0 if suite.metric(suite.headline).direction == "higher" else -1.0
    gain = np.where(np.isnan(difference), np.where(np.isnan(before), 0.0, -np.inf), sign * difference)
    worst, best = np.argsort(gain, kind="stable"), np.argsort(-gain, kind="stable")
    names = cases_of(new)

    def changes(places: NDArray[np.intp]) -> tuple[CaseChange, ...]:
        numbers = (
            [None if math.isnan(each) else each for each in values[places].tolist()]
            for values in (before, after, difference)
        )
        return tuple(map(CaseChange, names.take(places).to_pylist(), *numbers))

    return changes(worst[gain[worst] < -TOLERANCE]), changes(best[gain[best] > TOLERANCE])


def headlines(suite: Suite, scores: Scores) -> Values:
    """Each case's headline, the mean over trials; NaN where any is undefined, or it cannot pass or fail."""
    metric, cases = suite.metric(suite.headline), len(cases_of(scores))
    rows = [np.asarray(metric.formula(sums), dtype=np.float64) for _, sums in scores.rows()]
    values = np.concatenate(rows).reshape(-1, cases)
    counts = scores.counts["passable"].to_numpy().reshape(values.shape) != 0
    undefined = (counts & ~np.isfinite(values)).any(axis=0)
    values = np.where(counts & ~undefined, values, 0.0)
    # Rounded once, however many trials there are.
    totals = (
        values.sum(axis=0) if len(values) <= 2 else np.array([math.fsum(each) for each in values.T.tolist()])
    )
    trials = counts.sum(axis=0)
    return np.where(undefined | (trials == 0), np.nan, totals / np.maximum(trials, 1))
