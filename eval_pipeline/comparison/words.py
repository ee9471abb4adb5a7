"""A comparison in words that can be read aloud: the headline first, then what got worse and better."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from eval_pipeline.numbers import Unit, counted, number

if TYPE_CHECKING:
    from eval_pipeline.comparison.records import Comparison, Evidence, MetricChange

MOST_NAMED = 3
ORDER = ("block", "needs_approval", "investigate", "proceed")
"""Actions in the order in which metrics are named."""
IDENTICAL: str = "identical"
STILL = ("unchanged", "no worse")
"""Verdicts that come before the movement: what moved a little has not moved."""
UNDEFINED = {"regressed": "gone", "improved": "defined now"}
"""What became of a metric without a difference, by its verdict."""


def movement(
    metric: str, verdict: str, difference: float | None, unit: Unit, evidence: Evidence | None
) -> str:
    """`concept_recall fell 6.1 points (95 % CI 3.0 to 9.2 points)`: every number with its unit."""
    if difference is None:
        return f"{metric} is {UNDEFINED.get(verdict, 'undefined before and after')}"
    if verdict == IDENTICAL:
        return f"{metric} is identical in every case"
    moved = _moved(difference, unit)
    interval = _interval(unit, evidence)
    if verdict in STILL:
        return f"{metric} is {verdict} ({moved}{f', {interval}' if interval else ''})"
    return f"{metric} {moved}{f' ({interval})' if interval else ''}"


def size(value: float, unit: Unit) -> str:
    """The size of a difference with its unit: differences of fractions are points."""
    if unit == "fraction":
        return number(abs(value) * 100, "points")
    return number(abs(value), unit)


def _moved(difference: float, unit: Unit) -> str:
    shown = size(difference, unit)
    if shown == size(0.0, unit):
        return "did not move" if not difference else f"{_verb(difference)} less than can be shown"
    return f"{_verb(difference)} {shown}"


def _verb(difference: float) -> str:
    return "fell" if difference < 0 else "rose"


def _interval(unit: Unit, evidence: Evidence | None) -> str:
    """The interval in the direction of the difference; where it holds both, each end says which it is."""
    if evidence is None or evidence.low is None or evidence.high is None:
        return ""
    ends = (evidence.low, evidence.high)
    if ends[0] < 0 < ends[1]:
        return f"95 % CI from a fall of {_without_unit(ends[0], unit)} to a rise of {size(ends[1], unit)}"
    near, far = sorted(map(abs, ends))
    return f"95 % CI {_without_unit(near, unit)} to {size(far, unit)}" if far else ""


def _without_unit(value: float, unit: Unit) -> str:
    """For the first of two numbers; the second has the unit of both."""
    return size(value, unit).removesuffix(" ms").removesuffix(" points")


def sentence(comparison: Comparison) -> str:
    """The headline, what else got worse or better or is unclear, and the cases that fell the most."""
    if comparison.verdict == "incomparable":
        left_out = len(comparison.appeared) + len(comparison.vanished) + len(comparison.changed)
        return (
            f"{comparison.after} cannot be compared with {comparison.before}: "
            f"{counted(comparison.shared, 'case')} shared, {left_out:,} not."
        )
    size_ = f"{counted(comparison.shared, 'case')} × {counted(comparison.trials, 'trial')}"
    first = next((each for each in comparison.metrics if each.metric == comparison.headline), None)
    others = [each for each in comparison.metrics if each.gated and each is not first]
    parts = [f"{_headline(first)} over {size_}."] if first else [f"Over {size_}."]
    groups = (
        ("Worse", [each for each in others if _worse(each)]),
        ("Better", [each for each in others if each.verdict == "improved" and not _worse(each)]),
        ("Unclear", [each for each in others if each.verdict == "inconclusive" and not _worse(each)]),
    )
    parts += [f"{title}: {_named(changes)}." for title, changes in groups if changes]
    if not any(changes for _, changes in groups):
        parts.append(_nothing_else(others))
    worst = [f"{each.case_id} {_case(each.difference, comparison.unit)}" for each in comparison.regressed]
    if worst:
        parts.append(f"Worst cases by {comparison.headline}: {_some(worst)}.")
    return " ".join(filter(None, parts))


def _headline(change: MetricChange) -> str:
    """Its movement; what may be chance says so, and so does a rise that is bad or a fall that is good."""
    if change.verdict == "inconclusive":
        return f"{change.movement}, which may be chance,"
    good = {"improved": True, "regressed": False}.get(change.verdict)
    if good is None or change.difference is None or (change.difference > 0) == good:
        return change.movement
    return f"{change.movement}, which is {'better' if good else 'worse'},"


def _worse(change: MetricChange) -> bool:
    return change.verdict == "regressed" or change.action in ORDER[:2]


def _named(changes: Iterable[MetricChange]) -> str:
    """The movements, those that stop the change first."""
    return _some([_moving(each) for each in sorted(changes, key=lambda each: ORDER.index(each.action))])


def _moving(change: MetricChange) -> str:
    """A movement; what stops the change though it may be chance says why."""
    if change.verdict != "inconclusive" or not _worse(change):
        return change.movement
    entered = change.zone_after == "fail" and change.zone_before != "fail"
    return f"{change.movement}, {'into the fail zone' if entered else 'which may be chance'}"


def _some(things: Sequence[str]) -> str:
    more = f" and {len(things) - MOST_NAMED:,} more" if len(things) > MOST_NAMED else ""
    return ", ".join(things[:MOST_NAMED]) + more


def _nothing_else(others: Sequence[MetricChange]) -> str:
    if not others:
        return ""
    if all(each.verdict == IDENTICAL or each.difference is None for each in others):
        return "Every other gated metric is identical in every case."
    return "No other gated metric clearly got better or worse."


def _case(difference: float | None, unit: Unit) -> str:
    return "has no value any more" if difference is None else _moved(difference, unit)
