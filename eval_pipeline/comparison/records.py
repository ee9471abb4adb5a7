"""What a comparison says, as data."""

from __future__ import annotations

from typing import Literal

import msgspec

from eval_pipeline.answers import OutputsIdentity
from eval_pipeline.comparison.words import sentence
from eval_pipeline.gates import Zone
from eval_pipeline.numbers import Unit
from eval_pipeline.suite import Reading

Verdict = Literal[
    "improved", "identical", "unchanged", "no worse", "inconclusive", "regressed", "incomparable"
]
Action = Literal["proceed", "investigate", "needs_approval", "block"]
Role = Literal["baseline", "replaced", "version"]
"""What the side before is: the frozen baseline, what would be replaced, or a version that somebody named."""
ACTIONS: tuple[Action, ...] = ("proceed", "investigate", "needs_approval", "block")
DIGITS = 9
"""To so many digits the numbers of a comparison must agree for it to be the same."""


class MetricChange(msgspec.Struct, frozen=True):
    """What became of one metric."""

    metric: str
    before: float | None
    after: float | None
    difference: float | None
    zone_before: Zone | None
    zone_after: Zone | None
    gated: bool
    verdict: Verdict
    action: Action
    reason: str
    movement: str = ""
    """The change in words that can be read aloud."""
    evidence: Evidence | None = None
    """What stands behind the verdict; none for numbers that are defined over trials."""
    doubtful: bool = False
    """Whether it fell so far that it would stop the change if that were certain."""
    bounds_before: tuple[float, float] | None = None
    bounds_after: tuple[float, float] | None = None
    """Wilson's 95 % bounds, where the metric is a rate and near 0 or 1."""


class Evidence(msgspec.Struct, frozen=True):
    """What the cases say of a difference. Null where they do not suffice."""

    cases: int
    verdict: Literal["improved", "identical", "unchanged", "no worse", "inconclusive", "regressed"]
    low: float | None
    high: float | None
    """The ends of the 95 % confidence interval of the difference."""
    p_value: float | None
    """Two-sided, of the metric by itself."""
    adjusted_p: float | None
    """One-sided, in the direction of the difference, corrected for the number of gated metrics."""
    minimum_detectable_effect: float | None
    """The smallest true drop that these cases and trials show with 80 % power."""
    cases_needed: int | None
    """How many cases would show a drop that blocks."""
    trials_needed: int | None
    """How many trials would show it on these cases; null where none suffice or nobody knows."""
    carried_by: tuple[Influence, ...] = ()
    """Of a pooled metric that differs: the cases without which it would differ the least."""
    heavy: HeavyCase | None = None
    """Of a pooled metric: the case that holds more than a tenth of what it counts, if one does."""


class Influence(msgspec.Struct, frozen=True):
    """What one case adds to the difference of a pooled metric."""

    case_id: str
    difference: float
    """The difference without the case is smaller by that."""


class HeavyCase(msgspec.Struct, frozen=True):
    """A case that holds much of what a pooled metric counts, and the difference without its weight."""

    case_id: str
    share: float
    """How much of it, on the side where that is more."""
    without: float | None
    """The difference without the case."""
    equal_weights: float | None
    """The difference of the means over cases."""


class MetricTest(msgspec.Struct, frozen=True):
    """What a test that a person chose says of one metric. What it does not yield is null."""

    metric: str
    test: str
    alpha: float
    cases: int
    statistic: float | None = None
    p_value: float | None = None
    """Two-sided, of the metric by itself."""
    low: float | None = None
    high: float | None = None
    """The ends of the interval of the difference at the level 1 − alpha."""
    significant: bool | None = None
    """Whether chance is ruled out at the level alpha; null where the test does not apply."""
    reason: str = ""
    """Why it does not apply."""


class CaseChange(msgspec.Struct, frozen=True):
    """What became of one case, by the suite's headline metric."""

    case_id: str
    before: float | None
    after: float | None
    difference: float | None


class CaseExample(msgspec.Struct, frozen=True):
    """A case that got worse: its input, what was expected, and each side's first answer, all bounded."""

    case_id: str
    input: str
    expected: str
    before: str
    after: str


class GroupChange(msgspec.Struct, frozen=True):
    """What became of a gated metric in one group of cases."""

    axis: str
    group: str
    metric: str
    cases: int
    before: float | None
    after: float | None
    difference: float | None
    low: float | None
    high: float | None
    p_value: float | None
    """Two-sided, of the group by itself."""
    adjusted_p: float | None
    """Corrected by Benjamini and Hochberg for all groups and metrics of the comparison."""
    verdict: Literal["improved", "unclear", "regressed"]


class Comparison(msgspec.Struct, frozen=True):
    """What changed from one evaluation to another, and what to do about it."""

    suite: str
    before: str
    after: str
    notes: tuple[str, ...]
    """What differs between the sides besides the prompt; read it first."""
    shared: int
    appeared: tuple[str, ...]
    vanished: tuple[str, ...]
    changed: tuple[str, ...]
    """Cases whose input changed, so that the sides answer different questions."""
    metrics: tuple[MetricChange, ...]
    improved: tuple[CaseChange, ...]
    regressed: tuple[CaseChange, ...]
    verdict: Verdict
    action: Action
    trials: int = 1
    """Trials of the side after."""
    headline: str = ""
    """The metric that stands for all, and in which cases are compared."""
    unit: Unit = "fraction"
    """The unit of the headline metric."""
    key: str = ""
    """This very comparison in one word: both sides, the gates and the numbers."""
    identities: tuple[OutputsIdentity, OutputsIdentity] | None = None
    """What the sides are the answers of."""
    groups: tuple[GroupChange, ...] = ()
    """The gated metrics by group. They inform; the actions rest on the whole."""
    examples: tuple[CaseExample, ...] = ()
    """The cases that fell the most, with their answers."""
    readings: tuple[Reading, ...] = ()
    """What the suite's document makes of it. They inform; the verdict decides."""
    tests: tuple[MetricTest, ...] = ()
    """The test that was asked for, on every metric. It informs; the verdict decides."""
    role: Role = "version"
    """What the side before is to the side after."""

    @property
    def moved_groups(self) -> list[GroupChange]:
        """The groups that moved by more than chance explains, those that regressed first."""
        moved = [each for each in self.groups if each.verdict != "unclear"]
        return sorted(moved, key=lambda each: (each.verdict != "regressed", each.adjusted_p or 0.0))

    @property
    def sentence(self) -> str:
        """What changed, in words that can be read aloud."""
        return sentence(self)


def rounded(value: float | None) -> float | None:
    """A number to the digits that decide whether two results are the same."""
    return None if value is None else round(value, DIGITS)
