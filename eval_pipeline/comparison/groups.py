"""What changed in each group of cases."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from eval_pipeline.comparison.evidence import finite, partition, rules_for
from eval_pipeline.comparison.pairing import cases_of, paired_metrics, reads_tables
from eval_pipeline.comparison.records import GroupChange
from eval_pipeline.gates import TOLERANCE, Gate
from eval_pipeline.scoring import ATTRIBUTE, Scores
from eval_pipeline.statistics.estimates import Estimate
from eval_pipeline.statistics.multiplicity import benjamini_hochberg
from eval_pipeline.suite import Metric, Suite, Values

if TYPE_CHECKING:
    import pyarrow as pa

LEAST_CASES = 2
"""Below, a group says nothing of a difference."""
NUMBERS_AT_ONCE = 2_000_000
"""So many values of cases and metrics are in memory at a time: what sign flips take at once, or less."""
COLUMNS = ("cases", "before", "after", "difference", "low", "high", "p_value")


class _Axis(NamedTuple):
    """The groups by one attribute, and what is known of each: `[group, metric]`."""

    name: str
    groups: list[str]
    columns: dict[str, Values]


def group_changes(
    suite: Suite, old: Scores, new: Scores, gates: Mapping[str, Gate]
) -> tuple[GroupChange, ...]:
    """Every gated metric in every group of at least two cases, corrected for their number."""
    metrics, _ = partition(suite, gates)
    if not metrics:
        return ()
    sides = (_Side.of(old), _Side.of(new))
    by_itself = reads_tables(metrics, old)
    axes = [
        axis
        for name in suite.groups
        if (axis := _measured(name, *old.attribute(name), sides, metrics, by_itself)) is not None
    ]
    if not axes:
        return ()
    p_values = [np.ravel(axis.columns["p_value"]) for axis in axes]
    ends = np.cumsum([len(each) for each in p_values])[:-1]
    adjusted = np.split(benjamini_hochberg(np.concatenate(p_values)), ends)
    return tuple(
        change
        for axis, part in zip(axes, adjusted, strict=True)
        for change in _changes(axis, part, metrics, gates)
    )


class _Side(NamedTuple):
    """One side of a comparison, of which groups are taken by the places of their cases."""

    counts: pa.Table
    keyed: pa.Table
    cases: int
    nothing: Scores
    """The same without any row."""

    @classmethod
    def of(cls, scores: Scores) -> _Side:
        """A side without what formulas do not read."""
        unread = [name for name in scores.counts.column_names if name.startswith(ATTRIBUTE)]
        counts = scores.counts.drop_columns(["error", "detail", *unread]).combine_chunks()
        nothing = Scores(counts.slice(0, 0), scores.keyed.slice(0, 0), scores.diagnoses.slice(0, 0))
        return cls(counts, scores.keyed, len(cases_of(scores)), nothing)

    def taken(self, members: NDArray[np.int64], keyed: pa.Table | None) -> Scores:
        """The scores of the cases at `members[place, group]`, trial by trial, those of all groups in turn."""
        trials = np.arange(self.counts.num_rows // self.cases)
        rows = trials[:, np.newaxis, np.newaxis] * self.cases + members
        counts = self.counts.take(np.ravel(rows))
        return replace(self.nothing, counts=counts, keyed=self.nothing.keyed if keyed is None else keyed)

    def keyed_by(self, group_of: NDArray[np.int64], groups: int) -> list[pa.Table]:
        """The keyed counts of each group; `group_of` numbers the group of every case."""
        import pyarrow.compute as pc

        cases = self.counts["case_id"].slice(0, self.cases).combine_chunks()
        owners = group_of[pc.index_in(self.keyed["case_id"], value_set=cases).to_numpy()]
        sorted_ = self.keyed.take(np.argsort(owners, kind="stable"))
        sizes = np.bincount(owners, minlength=groups)
        return [sorted_.slice(end - size, size) for end, size in zip(np.cumsum(sizes), sizes, strict=True)]


def _measured(
    axis: str,
    groups: Sequence[str],
    group_of: NDArray[np.int64],
    sides: tuple[_Side, _Side],
    metrics: Sequence[Metric],
    by_itself: bool,
) -> _Axis | None:
    """The groups of an axis that are large enough; None where there are no two groups to tell apart.

    Groups of one size are computed side by side; one by one where formulas read keyed counts, since the keys
    of a group are its own.
    """
    group_of = group_of[: sides[0].cases]
    sizes = np.bincount(group_of, minlength=len(groups))
    large = np.flatnonzero(sizes >= LEAST_CASES)
    if len(groups) < 2 or not len(large):
        return None
    order, starts = np.argsort(group_of, kind="stable"), np.cumsum(sizes) - sizes
    keyed = [side.keyed_by(group_of, len(groups)) for side in sides] if by_itself else None
    columns = {name: np.empty((len(groups), len(metrics))) for name in COLUMNS}
    # A column by itself would be added up in another order than beside others.
    several = metrics if len(metrics) > 1 else [*metrics, *metrics]
    for size in np.unique(sizes[large]):
        alike = large[sizes[large] == size]
        block = 1 if by_itself else max(NUMBERS_AT_ONCE // (int(size) * len(metrics)), 1)
        for first in range(0, len(alike), block):
            part = alike[first : first + block]
            members = order[starts[part] + np.arange(size)[:, np.newaxis]]
            before, after = (
                side.taken(members, keyed[place][part[0]] if keyed else None)
                for place, side in enumerate(sides)
            )
            estimate = Estimate(paired_metrics(several, before, after, (len(part),)).moments)
            for name, values in _columns(estimate).items():
                columns[name][part] = values[:, : len(metrics)]
    return _Axis(
        axis, [groups[int(each)] for each in large], {name: each[large] for name, each in columns.items()}
    )


def _columns(estimate: Estimate) -> dict[str, Values]:
    moments = estimate.moments
    low, high = estimate.interval()
    cases = moments.cases.astype(np.float64)
    values = (cases, moments.before, moments.after, moments.difference, low, high, estimate.p_value)
    return dict(zip(COLUMNS, values, strict=True))


def _changes(
    axis: _Axis, adjusted: Values, metrics: Sequence[Metric], gates: Mapping[str, Gate]
) -> Iterator[GroupChange]:
    every = [*metrics] * len(axis.groups)
    flat = {name: np.ravel(values) for name, values in axis.columns.items()}
    rules = rules_for(every, gates, flat["before"])
    gain = rules.direction * flat["difference"]
    with np.errstate(invalid="ignore"):
        moved = (adjusted <= rules.alpha) & (np.abs(gain) >= rules.noticeable - TOLERANCE)
    ways = np.where(moved, np.where(gain > 0, "improved", "regressed"), "unclear").tolist()
    numbers = {name: values.tolist() for name, values in {**flat, "adjusted_p": adjusted}.items()}
    cases = numbers.pop("cases")
    names = np.repeat(np.arange(len(axis.groups)), len(metrics)).tolist()
    for place, metric in enumerate(every):
        yield GroupChange(
            axis=axis.name,
            group=axis.groups[names[place]],
            metric=metric.name,
            cases=int(cases[place]),
            verdict=ways[place],
            **{name: finite(values[place]) for name, values in numbers.items()},
        )
