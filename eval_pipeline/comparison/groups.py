"""What changed in each group of cases."""

from collections.abc import Iterator, Mapping, Sequence

import numpy as np

from eval_pipeline.comparison.evidence import finite, partition, rules_for
from eval_pipeline.comparison.pairing import paired_metrics
from eval_pipeline.comparison.records import GroupChange
from eval_pipeline.gates import TOLERANCE, Gate
from eval_pipeline.scoring import Scores
from eval_pipeline.statistics.estimates import Estimate
from eval_pipeline.statistics.multiplicity import benjamini_hochberg
from eval_pipeline.statistics.verdicts import Rules
from eval_pipeline.suite import Metric, Suite, Values


def group_changes(
    suite: Suite, old: Scores, new: Scores, gates: Mapping[str, Gate]
) -> tuple[GroupChange, ...]:
    """Every gated metric in every group of at least two cases, corrected for their number."""
    metrics, _ = partition(suite, gates)
    estimates: list[tuple[str, str, Estimate]] = []
    for axis in suite.groups:
        names, group_of = old.attribute(axis)
        ids = np.array(old.case_ids)
        members = [set(ids[group_of == number].tolist()) for number in range(len(names))]
        for name, cases in zip(names, members, strict=True):
            if len(cases) > 1 and len(names) > 1:
                moments = paired_metrics(metrics, old.restricted(cases), new.restricted(cases)).moments
                estimates.append((axis, name, Estimate(moments)))
    if not estimates:
        return ()
    adjusted = benjamini_hochberg(np.concatenate([estimate.p_value for _, _, estimate in estimates]))
    parts = adjusted.reshape(len(estimates), len(metrics))
    return tuple(
        change
        for (axis, name, estimate), part in zip(estimates, parts, strict=True)
        for change in _group(
            axis, name, estimate, part, metrics, rules_for(metrics, gates, estimate.moments.before)
        )
    )


def _group(
    axis: str, name: str, estimate: Estimate, adjusted: Values, metrics: Sequence[Metric], rules: Rules
) -> Iterator[GroupChange]:
    moments = estimate.moments
    low, high = estimate.interval()
    gain = rules.direction * moments.difference
    with np.errstate(invalid="ignore"):
        moved = (adjusted <= rules.alpha) & (np.abs(gain) >= rules.noticeable - TOLERANCE)
    columns = {
        "before": moments.before,
        "after": moments.after,
        "difference": moments.difference,
        "low": low,
        "high": high,
        "p_value": estimate.p_value,
        "adjusted_p": adjusted,
    }
    for place, metric in enumerate(metrics):
        yield GroupChange(
            axis=axis,
            group=name,
            metric=metric.name,
            cases=int(moments.cases[place]),
            verdict=("improved" if gain[place] > 0 else "regressed") if moved[place] else "unclear",
            **{column: finite(float(values[place])) for column, values in columns.items()},
        )
