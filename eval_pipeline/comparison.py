"""Comparing two evaluations: both sides scored by today's code on the cases they share."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Literal

import msgspec

from eval_pipeline.answers import AnswerSource
from eval_pipeline.evaluation import CaseResult, OutputsIdentity, Summary, case_results, summarize
from eval_pipeline.gates import TOLERANCE, Gate, Regression, Zone
from eval_pipeline.golden import GoldenCase
from eval_pipeline.problems import bad_value
from eval_pipeline.reports.numbers import change, number
from eval_pipeline.scoring import quantities, score_cases
from eval_pipeline.suite import Context, Direction, Suite, Unit

Verdict = Literal["improved", "unchanged", "regressed", "incomparable"]
Action = Literal["proceed", "investigate", "needs_approval", "block"]

ACTIONS: tuple[Action, ...] = ("proceed", "investigate", "needs_approval", "block")
NOTICEABLE: dict[Unit, float] = {"fraction": 0.01, "points": 1.0, "number": 0.0}
"""Changes from which an ungated metric counts as moved: a point, or anything at all."""
MOST_LEFT_OUT = 0.10


@dataclass(frozen=True)
class Side:
    """One side of a comparison: its answers, and which input of each case they answer."""

    label: str
    identity: OutputsIdentity
    answers: AnswerSource
    input_hashes: Mapping[str, str]
    golden_hash: str


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


class CaseChange(msgspec.Struct, frozen=True):
    """What became of one case, by the suite's headline metric."""

    case_id: str
    before: float | None
    after: float | None
    difference: float | None


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
    unit: Unit = "fraction"
    """The unit of the headline metric, in which cases are compared."""

    @property
    def stops(self) -> bool:
        """Whether the change must not go on as it is."""
        return self.action in ("needs_approval", "block")

    @property
    def conclusion(self) -> str:
        """Verdict, action, and the sentence that says why."""
        return f"{self.verdict}; {self.action.replace('_', ' ')}. {self.sentence}"

    @property
    def sentence(self) -> str:
        """The comparison in one sentence that can be read aloud."""
        if self.verdict == "incomparable":
            left_out = len(self.appeared) + len(self.vanished) + len(self.changed)
            return (
                f"{self.after} cannot be compared with {self.before}: "
                f"{left_out} cases are not shared, only {self.shared} are."
            )
        moved = [each for each in self.metrics if each.gated and each.verdict != "unchanged"]
        worst = [each for each in moved if ACTIONS.index(each.action) == ACTIONS.index(self.action)]
        told = "; ".join(each.reason for each in (worst or moved)[:3]) or "No gated metric moved"
        worst_cases = (f"{each.case_id} {change(each.difference, self.unit)}" for each in self.regressed[:3])
        cases = ", ".join(worst_cases)
        return f"{told}.{f' Worst cases: {cases}.' if cases else ''}"


def compare(
    suite: Suite,
    present: Mapping[str, str],
    cases: Callable[[], Iterable[GoldenCase]],
    before: Side,
    after: Side,
    gates: Mapping[str, Gate],
    context: Context,
) -> Comparison:
    """Score both sides on the shared, unchanged cases and say what moved.

    `present` names the golden set's cases with the hash of their inputs; `cases` reads them.
    """
    stale = sorted(name for name, hash_ in present.items() if after.input_hashes.get(name) != hash_)
    if stale:
        raise bad_value(
            "version",
            f"{after.label} was not evaluated on the golden set as it is ({', '.join(stale[:5])})",
            "Run it again.",
        )
    appeared = sorted(present.keys() - before.input_hashes.keys())
    vanished = sorted(before.input_hashes.keys() - present.keys())
    common = present.keys() & before.input_hashes.keys()
    changed = sorted(name for name in common if before.input_hashes[name] != present[name])
    shared = common - set(changed)
    left_out = len(appeared) + len(vanished) + len(changed)
    comparable = bool(shared) and left_out <= MOST_LEFT_OUT * (len(shared) + left_out)
    changes: tuple[MetricChange, ...] = ()
    moved: list[CaseChange] = []
    if shared:
        (old, old_cases), (new, new_cases) = (
            _scored(suite, (each for each in cases() if each.case.id in shared), side, gates, context)
            for side in (before, after)
        )
        changes = _metric_changes(suite, old, new, gates)
        moved = _case_changes(suite, old_cases, new_cases)
    action: Action = max((each.action for each in changes), key=ACTIONS.index, default="proceed")
    if not comparable:
        action = max(action, "needs_approval", key=ACTIONS.index)
    return Comparison(
        suite=suite.name,
        before=before.label,
        after=after.label,
        notes=tuple(_notes(before, after)),
        shared=len(shared),
        appeared=tuple(appeared),
        vanished=tuple(vanished),
        changed=tuple(changed),
        metrics=changes,
        improved=tuple(each for each in moved if _gain(suite, each) > TOLERANCE),
        regressed=tuple(each for each in moved if _gain(suite, each) < -TOLERANCE),
        verdict=_verdict(changes) if comparable else "incomparable",
        action=action,
        unit=suite.metric(suite.headline).unit,
    )


def _scored(
    suite: Suite, cases: Iterable[GoldenCase], side: Side, gates: Mapping[str, Gate], context: Context
) -> tuple[Summary, tuple[CaseResult, ...]]:
    scores = score_cases(suite, cases, side.answers, context, keep_diagnoses=False)
    return summarize(suite, scores, gates), case_results(suite, scores)


def _notes(before: Side, after: Side) -> Iterable[str]:
    for what in ("engine", "model", "trials"):
        old, new = getattr(before.identity, what), getattr(after.identity, what)
        if old != new:
            yield f"The {what} differs: {old} before, {new} after."
    if before.golden_hash != after.golden_hash:
        yield "The golden set changed since; both sides are scored against it as it is now."


def _metric_changes(
    suite: Suite, old: Summary, new: Summary, gates: Mapping[str, Gate]
) -> tuple[MetricChange, ...]:
    return tuple(
        metric_change(
            name,
            old.metrics[name].value,
            new.metrics[name].value,
            quantity.direction,
            quantity.unit,
            gates.get(name),
        )
        for name, quantity in quantities(suite).items()
    )


def metric_change(
    metric: str,
    before: float | None,
    after: float | None,
    direction: Direction,
    unit: Unit,
    gate: Gate | None,
) -> MetricChange:
    """One metric before and after; a drop is judged by the gate's regression table."""
    zone_before = gate.zone(before) if gate and before is not None else None
    zone_after = gate.zone(after) if gate and after is not None else None
    difference = after - before if after is not None and before is not None else None
    shown = f"{metric} {number(before, unit)} → {number(after, unit)}"
    if difference is not None:
        shown += f" ({change(difference, unit)})"
    verdict, action, why = _judge_change(before, after, difference, direction, unit, gate)
    if gate and zone_after == "fail" and zone_before != "fail" and before is not None:
        action = "block" if gate.severity == "critical" else "investigate"
        why = f"it entered the fail zone ({gate.fail})"
    if gate is None:
        action = "proceed"
    return MetricChange(
        metric,
        before,
        after,
        difference,
        zone_before,
        zone_after,
        gate is not None,
        verdict,
        action,
        f"{shown}: {why}",
    )


def _judge_change(
    before: float | None,
    after: float | None,
    difference: float | None,
    direction: Direction,
    unit: Unit,
    gate: Gate | None,
) -> tuple[Verdict, Action, str]:
    if difference is None:
        if before is None:
            return (
                ("unchanged", "proceed", "undefined before and after")
                if after is None
                else (
                    "improved",
                    "proceed",
                    "defined now",
                )
            )
        return "regressed", "block", "the metric is gone"
    rules = (gate.regression if gate else None) or Regression(NOTICEABLE[unit], float("inf"))
    drop = -difference if direction == "higher" else difference
    if drop > rules.block + TOLERANCE:
        return "regressed", rules.beyond, f"worse by more than {_size(rules.block, unit)}"
    if drop >= max(rules.investigate - TOLERANCE, TOLERANCE):
        return "regressed", "investigate", "worse; find out why and write it down"
    if -drop >= max(rules.investigate - TOLERANCE, TOLERANCE):
        return "improved", "proceed", "better"
    return "unchanged", "proceed", "no change that matters"


def _size(size: float, unit: Unit) -> str:
    return change(size, unit).lstrip("+")


def _case_changes(suite: Suite, old: Iterable[CaseResult], new: Iterable[CaseResult]) -> list[CaseChange]:
    """Every case's headline before and after, worst change first."""
    before = {each.case_id: each.headline for each in old}
    changes = [
        CaseChange(
            each.case_id,
            before[each.case_id],
            each.headline,
            _difference(before[each.case_id], each.headline),
        )
        for each in new
    ]
    return sorted(changes, key=lambda each: (_gain(suite, each), each.case_id))


def _difference(before: float | None, after: float | None) -> float | None:
    return None if before is None or after is None else after - before


def _gain(suite: Suite, case: CaseChange) -> float:
    sign = 1.0 if suite.metric(suite.headline).direction == "higher" else -1.0
    if case.difference is not None:
        return sign * case.difference
    return float("-inf") if case.before is not None else 0.0


def _verdict(changes: Iterable[MetricChange]) -> Verdict:
    verdicts = {each.verdict for each in changes if each.gated}
    if "regressed" in verdicts:
        return "regressed"
    return "improved" if "improved" in verdicts else "unchanged"
