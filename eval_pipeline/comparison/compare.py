"""Comparing two evaluations: both sides scored by today's code on the cases they share."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, fields
from typing import Literal, NamedTuple

import msgspec
import numpy as np

from eval_pipeline.answers.recorded import AnswerSource
from eval_pipeline.answers.trials import TrialRange
from eval_pipeline.approvals import INCOMPARABLE, Approval, approved_metrics
from eval_pipeline.comparison.pairing import paired_metrics
from eval_pipeline.content import content_hash
from eval_pipeline.evaluation import CaseResult, OutputsIdentity, Summary, case_results, summarize
from eval_pipeline.gates import TOLERANCE, Gate, Regression, Zone
from eval_pipeline.golden import GoldenCase
from eval_pipeline.problems import bad_value
from eval_pipeline.reports.numbers import change, counted, number
from eval_pipeline.scoring import Scores, all_metrics, quantities, score_cases
from eval_pipeline.statistics.looks import Plan
from eval_pipeline.statistics.multiplicity import benjamini_hochberg
from eval_pipeline.statistics.pairs import Moments
from eval_pipeline.statistics.verdicts import Estimate, Rules, judge
from eval_pipeline.suite import Context, Direction, Metric, Suite, Unit, Values

Verdict = Literal["improved", "unchanged", "inconclusive", "regressed", "incomparable"]
Action = Literal["proceed", "investigate", "needs_approval", "block"]

ENDS: dict[Action, str] = {"block": "blocked", "needs_approval": "needs an approval"}
ACTIONS: tuple[Action, ...] = ("proceed", "investigate", "needs_approval", "block")
STOPPING: tuple[Action, ...] = ("needs_approval", "block")
NOTICEABLE: dict[Unit, float] = {"fraction": 0.01, "points": 1.0, "number": 0.0}
"""Changes from which an ungated metric counts as moved: a point, or anything at all."""
MOST_LEFT_OUT = 0.10
DIGITS = 9
"""To so many digits the numbers of a comparison must agree for it to be the same."""


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
    movement: str = ""
    """The change in words that can be read aloud."""
    evidence: Evidence | None = None
    """What stands behind the verdict; none for numbers that are defined over trials."""
    doubtful: bool = False
    """Whether it fell so far that it would stop the change if that were certain."""


class Evidence(msgspec.Struct, frozen=True):
    """What the cases say of a difference. Null where it cannot be told."""

    cases: int
    verdict: Literal["improved", "unchanged", "inconclusive", "regressed"]
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


class CaseChange(msgspec.Struct, frozen=True):
    """What became of one case, by the suite's headline metric."""

    case_id: str
    before: float | None
    after: float | None
    difference: float | None


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
    unit: Unit = "fraction"
    """The unit of the headline metric, in which cases are compared."""
    key: str = ""
    """This very comparison in one word: both sides, the gates and the numbers."""
    identities: tuple[OutputsIdentity, OutputsIdentity] | None = None
    """What the sides are the answers of."""
    approvals: tuple[Approval, ...] = ()
    """Approvals that were given for this very comparison and have not expired."""
    groups: tuple[GroupChange, ...] = ()
    """The gated metrics by group. They inform; the actions rest on the whole."""

    @property
    def moved_groups(self) -> list[GroupChange]:
        """The groups that moved by more than chance explains, those that regressed first."""
        moved = [each for each in self.groups if each.verdict != "unclear"]
        return sorted(moved, key=lambda each: (each.verdict != "regressed", each.adjusted_p or 0.0))

    @property
    def demands(self) -> dict[str, Action]:
        """The gated metrics that do not let the change simply proceed, with the action of each."""
        found: dict[str, Action] = {
            each.metric: each.action for each in self.metrics if each.gated and each.action != "proceed"
        }
        if self.verdict == "incomparable":
            found[INCOMPARABLE] = "needs_approval"
        return found

    @property
    def open(self) -> dict[str, Action]:
        """Those that no approval covers."""
        approved = approved_metrics(self.approvals)
        return {name: action for name, action in self.demands.items() if name not in approved}

    @property
    def stops(self) -> bool:
        """Whether the change must not go on as it is."""
        return any(action in STOPPING for action in self.open.values())

    @property
    def undecided(self) -> list[str]:
        """What needs an approval before anybody builds on the result: it stops, or may be a deep fall."""
        doubtful = {each.metric for each in self.metrics if each.gated and each.doubtful}
        return [name for name, action in self.open.items() if action in STOPPING or name in doubtful]

    @property
    def approved(self) -> bool:
        """Whether approvals cover all that does not simply proceed."""
        return bool(self.demands) and not self.open

    @property
    def standing(self) -> Action:
        """The action that is left when what was approved is left out."""
        return max(self.open.values(), key=ACTIONS.index, default="proceed")

    @property
    def conclusion(self) -> str:
        """Verdict, action, the sentence that says why, and who approved it."""
        action = "approved" if self.approved else self.standing.replace("_", " ")
        told = "".join(f" {each.told}." for each in self.approvals)
        return f"{self.verdict}; {action}. {self.sentence}{told}"

    @property
    def sentence(self) -> str:
        """The comparison in one sentence that can be read aloud."""
        if self.verdict == "incomparable":
            left_out = len(self.appeared) + len(self.vanished) + len(self.changed)
            return (
                f"{self.after} cannot be compared with {self.before}: "
                f"{left_out} cases are not shared, only {self.shared} are."
            )
        gated = [each for each in self.metrics if each.gated]
        moved = [each for each in gated if each.verdict == self.verdict and each.verdict != "unchanged"]
        moved += [each for each in gated if each.action != "proceed" and each not in moved]
        moved.sort(key=lambda each: -ACTIONS.index(each.action))
        still = "No gated metric moved"
        if any(each.difference for each in gated):
            still += " beyond chance"
        told = ", ".join(each.movement for each in moved[:3]) or still
        size = f"{counted(self.shared, 'case')} × {counted(self.trials, 'trial')}"
        ends = "approved" if self.approved else ENDS.get(self.standing, self.verdict)
        end = f"{told} over {size}; {ends}."
        worst = ", ".join(
            f"{each.case_id} {change(each.difference, self.unit).removesuffix(' pp')}"
            for each in self.regressed[:3]
        )
        return f"{end} Worst: {worst}." if worst else end


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
    overlap = overlap_of(present, before)
    changes: tuple[MetricChange, ...] = ()
    moved: list[CaseChange] = []
    groups: tuple[GroupChange, ...] = ()
    trials = after.identity.trials
    if overlap.shared:
        old, new = (_scored(suite, overlap.cases(cases()), side, gates, context) for side in (before, after))
        evidence = _evidence(suite, old.scores, new.scores, gates, after.identity.plan)
        changes = _metric_changes(suite, old.summary, new.summary, gates, evidence)
        groups = _group_changes(suite, old.scores, new.scores, gates)
        moved = _case_changes(suite, old.cases, new.cases)
        trials = new.summary.trials
    action: Action = max((each.action for each in changes), key=ACTIONS.index, default="proceed")
    if not overlap.comparable:
        action = max(action, "needs_approval", key=ACTIONS.index)
    return Comparison(
        suite=suite.name,
        before=before.label,
        after=after.label,
        notes=tuple(_notes(before, after)),
        shared=len(overlap.shared),
        appeared=overlap.appeared,
        vanished=overlap.vanished,
        changed=overlap.changed,
        metrics=changes,
        improved=tuple(each for each in moved if _gain(suite, each) > TOLERANCE),
        regressed=tuple(each for each in moved if _gain(suite, each) < -TOLERANCE),
        verdict=_verdict(changes) if overlap.comparable else "incomparable",
        action=action,
        trials=trials,
        unit=suite.metric(suite.headline).unit,
        key=_key(before, after, gates, changes),
        identities=(before.identity, after.identity),
        groups=groups,
    )


def _key(before: Side, after: Side, gates: Mapping[str, Gate], changes: Iterable[MetricChange]) -> str:
    numbers = [
        (
            each.metric,
            *(None if value is None else round(value, DIGITS) for value in (each.before, each.after)),
        )
        for each in changes
        if each.gated
    ]
    sides = [(side.identity, side.golden_hash) for side in (before, after)]
    return content_hash([*sides, dict(gates), numbers])


@dataclass(frozen=True)
class Overlap:
    """Which cases of the golden set a side answered as they are now."""

    shared: Set[str]
    appeared: tuple[str, ...]
    vanished: tuple[str, ...]
    changed: tuple[str, ...]

    @property
    def comparable(self) -> bool:
        """Whether what is left out is little enough."""
        left_out = len(self.appeared) + len(self.vanished) + len(self.changed)
        return bool(self.shared) and left_out <= MOST_LEFT_OUT * (len(self.shared) + left_out)

    def cases(self, cases: Iterable[GoldenCase]) -> Iterator[GoldenCase]:
        """Those of the cases that are shared."""
        return (each for each in cases if each.case.id in self.shared)


def overlap_of(present: Mapping[str, str], before: Side) -> Overlap:
    """What a side has in common with the golden set, whose cases come with the hash of their inputs."""
    common = present.keys() & before.input_hashes.keys()
    changed = sorted(name for name in common if before.input_hashes[name] != present[name])
    return Overlap(
        common - set(changed),
        tuple(sorted(present.keys() - before.input_hashes.keys())),
        tuple(sorted(before.input_hashes.keys() - present.keys())),
        tuple(changed),
    )


class _Scored(NamedTuple):
    scores: Scores
    summary: Summary
    cases: tuple[CaseResult, ...]


def _scored(
    suite: Suite, cases: Iterable[GoldenCase], side: Side, gates: Mapping[str, Gate], context: Context
) -> _Scored:
    scores = score_cases(suite, cases, side.answers, context, keep_diagnoses=False)
    return _Scored(scores, summarize(suite, scores, gates), case_results(suite, scores))


def _evidence(
    suite: Suite, old: Scores, new: Scores, gates: Mapping[str, Gate], range_: TrialRange | None
) -> dict[str, Evidence]:
    """The evidence on every metric. Gated ones are one family; the others stand for themselves."""
    family, others = partition(suite, gates)
    moments = paired_metrics([*family, *others], old, new)
    plan = looks_of(range_, moments)
    found = [
        *_judged(moments.select(slice(len(family))), family, gates, (), plan),
        *_judged(moments.select(slice(len(family), None), None), others, gates, (1,), plan),
    ]
    return {metric.name: each for metric, each in zip([*family, *others], found, strict=True)}


def _group_changes(
    suite: Suite, old: Scores, new: Scores, gates: Mapping[str, Gate]
) -> tuple[GroupChange, ...]:
    """Every gated metric in every group of at least two cases, corrected for their number."""
    metrics, _ = partition(suite, gates)
    rules = rules_for(metrics, gates)
    found: list[tuple[str, str, Estimate]] = []
    for axis in suite.groups:
        names, group_of = old.attribute(axis)
        ids = np.array(old.case_ids)
        members = [set(ids[group_of == number].tolist()) for number in range(len(names))]
        for name, cases in zip(names, members, strict=True):
            if len(cases) > 1 and len(names) > 1:
                moments = paired_metrics(metrics, old.restricted(cases), new.restricted(cases))
                found.append((axis, name, Estimate(moments)))
    if not found:
        return ()
    p_values = [np.minimum(estimate.p_value * estimate.slack, 1.0) for _, _, estimate in found]
    adjusted = benjamini_hochberg(np.concatenate(p_values))
    parts = adjusted.reshape(len(found), len(metrics))
    return tuple(
        change
        for (axis, name, estimate), part in zip(found, parts, strict=True)
        for change in _group(axis, name, estimate, part, metrics, rules)
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
            **{column: _finite(float(values[place])) for column, values in columns.items()},
        )


def partition(suite: Suite, gates: Mapping[str, Gate]) -> tuple[list[Metric], list[Metric]]:
    """The metrics with a gate, whose verdicts stand together, and the others."""
    metrics = all_metrics(suite)
    return (
        [metric for metric in metrics if metric.name in gates],
        [metric for metric in metrics if metric.name not in gates],
    )


def looks_of(range_: TrialRange | None, moments: Moments) -> Plan | None:
    """The plan by which trials were asked, with the trials that the side before has."""
    return Plan(range_.min, range_.max, moments.trials[0]) if range_ else None


def rules_for(metrics: Sequence[Metric], gates: Mapping[str, Gate], family: tuple[int, ...] = ()) -> Rules:
    """What counts as a change of each metric, by its gate."""
    drops = [_drops(gates.get(metric.name), metric.unit) for metric in metrics]
    shape = (len(metrics), *family)
    return Rules.of(
        np.reshape([each.block for each in drops], shape),
        noticeable=np.reshape([each.investigate for each in drops], shape),
        direction=np.reshape([1.0 if each.direction == "higher" else -1.0 for each in metrics], shape),
    )


def _judged(
    moments: Moments,
    metrics: Sequence[Metric],
    gates: Mapping[str, Gate],
    family: tuple[int, ...],
    plan: Plan | None,
) -> list[Evidence]:
    if not metrics:
        return []
    found = judge(moments, rules_for(metrics, gates, family), plan)
    columns = {each.name: np.ravel(getattr(found, each.name)).tolist() for each in fields(found)}
    return [
        Evidence(
            cases=columns["cases"][place],
            verdict=columns["verdict"][place],
            **{name: _finite(columns[name][place]) for name in ("low", "high", "p_value", "adjusted_p")},
            minimum_detectable_effect=_finite(columns["minimum_detectable_effect"][place]),
            cases_needed=_whole(columns["cases_needed"][place]),
            trials_needed=_whole(columns["trials_needed"][place]),
        )
        for place in range(len(metrics))
    ]


def _finite(value: float) -> float | None:
    return value if math.isfinite(value) else None


def _whole(value: float) -> int | None:
    return int(value) if math.isfinite(value) else None


def _drops(gate: Gate | None, unit: Unit) -> Regression:
    """The drops that matter; where no gate says any, a noticeable one is looked at and none blocks."""
    return (gate.regression if gate else None) or Regression(NOTICEABLE[unit], math.inf)


def _notes(before: Side, after: Side) -> Iterable[str]:
    for what in ("engine", "model", "trials"):
        old, new = getattr(before.identity, what), getattr(after.identity, what)
        if old != new:
            yield f"The {what} differs: {old} before, {new} after."
    if before.golden_hash != after.golden_hash:
        yield "The golden set changed since; both sides are scored against it as it is now."


def _metric_changes(
    suite: Suite,
    old: Summary,
    new: Summary,
    gates: Mapping[str, Gate],
    evidence: Mapping[str, Evidence],
) -> tuple[MetricChange, ...]:
    return tuple(
        metric_change(
            name,
            old.metrics[name].value,
            new.metrics[name].value,
            quantity.direction,
            quantity.unit,
            gates.get(name),
            evidence.get(name),
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
    evidence: Evidence | None = None,
) -> MetricChange:
    """One metric before and after: the verdict by its evidence, the action by the gate's regression table.

    Without evidence the table alone judges the difference.
    """
    zone_before = gate.zone(before) if gate and before is not None else None
    zone_after = gate.zone(after) if gate and after is not None else None
    difference = after - before if after is not None and before is not None else None
    shown = f"{metric} {number(before, unit)} → {number(after, unit)}"
    if difference is not None:
        shown += f" ({change(difference, unit)}{_interval(evidence, unit)})"
    verdict, action, why = _judge_change(before, after, difference, direction, unit, gate, evidence)
    drop = (-1.0 if direction == "higher" else 1.0) * (difference or 0.0)
    doubtful = verdict == "inconclusive" and drop > _drops(gate, unit).block + TOLERANCE
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
        _movement(metric, difference, unit, evidence, why),
        evidence,
        doubtful,
    )


def _movement(metric: str, difference: float | None, unit: Unit, evidence: Evidence | None, why: str) -> str:
    """`concept_recall fell 6.1 points (95 % CI 3.0–9.2)`."""
    if difference is None:
        return f"{metric}: {why}"
    sign = -1.0 if difference < 0 else 1.0
    said = f"{metric} {'fell' if difference < 0 else 'rose'} {_points(sign * difference, unit)}"
    if unit != "number":
        said += " points"
    if evidence is None or evidence.low is None or evidence.high is None:
        return said
    low, high = sorted((sign * evidence.low, sign * evidence.high))
    between = "–" if low >= 0 else " to "
    return f"{said} (95 % CI {_points(low, unit)}{between}{_points(high, unit)})"


def _points(size: float, unit: Unit) -> str:
    return number(size, unit).removesuffix(" %").replace("-", "−")


def _interval(evidence: Evidence | None, unit: Unit) -> str:
    if evidence is None or evidence.low is None or evidence.high is None:
        return ""
    return f", 95 % CI {_bare(evidence.low, unit)} to {_bare(evidence.high, unit)}"


def _judge_change(
    before: float | None,
    after: float | None,
    difference: float | None,
    direction: Direction,
    unit: Unit,
    gate: Gate | None,
    evidence: Evidence | None,
) -> tuple[Verdict, Action, str]:
    if difference is None:
        if before is not None:
            return "regressed", "block", "the metric is gone"
        if after is not None:
            return "improved", "proceed", "defined now"
        return "unchanged", "proceed", "undefined before and after"
    drops = _drops(gate, unit)
    drop = -difference if direction == "higher" else difference
    verdict: Verdict = evidence.verdict if evidence else _by_size(drop, drops)
    if verdict == "regressed" and drop > drops.block + TOLERANCE:
        return verdict, drops.beyond, f"worse by more than {_size(drops.block, unit)}"
    if verdict == "regressed":
        return verdict, "investigate", "worse; find out why and write it down"
    if verdict == "inconclusive":
        return verdict, _when_inconclusive(drop, drops, gate), _what_would_settle(evidence, drops, unit)
    if verdict == "improved":
        return verdict, "proceed", "better"
    return verdict, "proceed", "no change that matters"


def _by_size(drop: float, drops: Regression) -> Verdict:
    noticeable = max(drops.investigate - TOLERANCE, TOLERANCE)
    if abs(drop) < noticeable:
        return "unchanged"
    return "regressed" if drop > 0 else "improved"


def _when_inconclusive(drop: float, drops: Regression, gate: Gate | None) -> Action:
    """A drop that would block if it were certain follows the gate; a smaller one is looked at."""
    if gate and drop > drops.block + TOLERANCE:
        return gate.inconclusive
    return "investigate" if drop >= max(drops.investigate - TOLERANCE, TOLERANCE) else "proceed"


def _what_would_settle(evidence: Evidence | None, drops: Regression, unit: Unit) -> str:
    told = "too uncertain to tell"
    if evidence is None or not math.isfinite(drops.block):
        return told
    ways = []
    if evidence.trials_needed:
        ways.append(counted(evidence.trials_needed, "trial"))
    if evidence.cases_needed and evidence.cases_needed > evidence.cases:
        ways.append(counted(evidence.cases_needed, "case"))
    return f"{told}; {' or '.join(ways)} would show a drop of {_size(drops.block, unit)}" if ways else told


def _bare(size: float, unit: Unit) -> str:
    return change(size, unit).removesuffix(" pp")


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
    """The worst of the gated metrics; what is uncertain weighs more than what improved only if it fell."""
    gated = [each for each in changes if each.gated]
    verdicts = {each.verdict for each in gated}
    fell = any(each.verdict == "inconclusive" and each.action != "proceed" for each in gated)
    if "regressed" in verdicts:
        return "regressed"
    if "inconclusive" in verdicts and (fell or "improved" not in verdicts):
        return "inconclusive"
    return "improved" if "improved" in verdicts else "unchanged"
