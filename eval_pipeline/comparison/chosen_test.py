"""A significance test that a person chose, on every metric. It informs; the verdict rests on the evidence."""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from eval_pipeline.comparison.pairing import left_out
from eval_pipeline.comparison.records import MetricTest
from eval_pipeline.numbers import counted
from eval_pipeline.scoring import Scores
from eval_pipeline.statistics.pairs import paired
from eval_pipeline.statistics.significance import TestName, is_binary, significance_test
from eval_pipeline.suite import Suite, Values, all_metrics


class ChosenTest(NamedTuple):
    """Which test, and at which level a difference is called significant."""

    name: TestName
    alpha: float = 0.05
    seed: int = 0


def chosen_tests(suite: Suite, before: Scores, after: Scores, chosen: ChosenTest) -> Iterator[MetricTest]:
    """The test on every metric: one value for each case and side, the mean over its trials.

    For a mean over cases that is the case's own value, for pooled metrics its jackknife pseudo-value.
    """
    metrics = all_metrics(suite)
    pairs = paired(left_out(metrics, before), left_out(metrics, after))
    values = [
        (pairs.cases * side.whole - (pairs.cases - 1) * side.without).mean(axis=1) for side in pairs.sides
    ]
    for place, metric in enumerate(metrics):
        applies = pairs.applies[:, place]
        old, new = (each[applies, place] for each in values)
        if reason := _obstacle(old, new, chosen.name):
            yield MetricTest(metric.name, chosen.name, chosen.alpha, len(old), reason=reason)
            continue
        outcome = significance_test(old, new, chosen.name, chosen.alpha, seed=chosen.seed)
        yield MetricTest(
            metric=metric.name,
            test=chosen.name,
            alpha=chosen.alpha,
            cases=outcome.cases,
            statistic=outcome.statistic,
            p_value=outcome.p_value,
            low=outcome.low,
            high=outcome.high,
            significant=outcome.significant,
        )
    for over_trials in suite.trial_metrics:
        reason = "it is defined over trials: no case has a value of its own"
        yield MetricTest(over_trials.name, chosen.name, chosen.alpha, 0, reason=reason)


def _obstacle(before: Values, after: Values, test: TestName) -> str:
    """Why a test does not apply; blank where it does."""
    if len(before) < 2:
        return f"{counted(len(before), 'case')} {'is' if len(before) == 1 else 'are'} too few"
    values = np.concatenate([before, after])
    if not np.isfinite(values).all():
        return "it is undefined on one side, or without one of the cases"
    if test == "mcnemar" and not is_binary(values):
        return "McNemar's test is for cases that are right or wrong, and these have other values"
    return ""
