"""Comparing two evaluations: both sides scored by today's code on the cases they share."""

from collections.abc import Iterable, Mapping, Sequence, Set

from eval_pipeline.comparison.changes import metric_changes, uncomparable
from eval_pipeline.comparison.chosen_test import ChosenTest, chosen_tests
from eval_pipeline.comparison.evidence import evidence_of
from eval_pipeline.comparison.examples import Cases, examples_of
from eval_pipeline.comparison.groups import group_changes
from eval_pipeline.comparison.moved import moved_cases
from eval_pipeline.comparison.overlap import Overlap, Side, overlap_of, restricted
from eval_pipeline.comparison.records import (
    ACTIONS,
    Action,
    CaseChange,
    Comparison,
    Evidence,
    GroupChange,
    MetricChange,
    Verdict,
    rounded,
)
from eval_pipeline.files import content_hash
from eval_pipeline.gates import Gate, plain_gates
from eval_pipeline.numbers import Unit, change, counted, number
from eval_pipeline.problems import BadInput, Problem, bad_value
from eval_pipeline.scoring import Scores, Summary, lost_verdicts, outage_among, score_cases, summarize
from eval_pipeline.suite import Context, Reading, Suite, quantities, suite_code

WORST_FIRST: tuple[Verdict, ...] = ("regressed", "inconclusive", "improved", "no worse", "unchanged")


def compare(
    suite: Suite,
    present: Mapping[str, str],
    cases: Cases,
    before: Sequence[Side],
    after: Side,
    gates: Mapping[str, Gate],
    context: Context,
    test: ChosenTest | None = None,
) -> tuple[Comparison, ...]:
    """Score the sides on the cases that each side before shares unchanged, and say what moved since each.

    The gated metrics of all comparisons are one family; a side that shares too little is no part of it.
    `present` names the golden set's cases with the hash of their inputs; `cases` reads them, or some of them.
    """
    _stop_if_stale(present, after)
    with suite_code(suite.name):
        overlaps = [overlap_of(present, side) for side in before]
        each_shares = [each.shared for each in overlaps]
        shared = each_shares[0] if len(each_shares) == 1 else set().union(*each_shares)
        latest = _scores(suite, shared, cases, after, gates, context) if shared else None
        pairs = {
            place: (_scores(suite, each.shared, cases, side, gates, context), restricted(latest, each.shared))
            for place, (side, each) in enumerate(zip(before, overlaps, strict=True))
            if latest and each.shared
        }
        together = [place for place in pairs if overlaps[place].comparable]
        families = [together] if together else []
        families += [[place] for place in pairs if place not in together]
        evidence = {
            place: each
            for family in families
            for place, each in zip(
                family,
                evidence_of(suite, [pairs[place] for place in family], gates, after.identity.plan),
                strict=True,
            )
        }
        return tuple(
            _compared(
                suite, cases, side, after, overlap, pairs.get(place), gates, evidence.get(place, {}), test
            )
            for place, (side, overlap) in enumerate(zip(before, overlaps, strict=True))
        )


def _compared(
    suite: Suite,
    cases: Cases,
    before: Side,
    after: Side,
    overlap: Overlap,
    scores: tuple[Scores, Scores] | None,
    gates: Mapping[str, Gate],
    evidence: Mapping[str, Evidence],
    test: ChosenTest | None,
) -> Comparison:
    changes: tuple[MetricChange, ...] = ()
    fell: tuple[CaseChange, ...] = ()
    rose: tuple[CaseChange, ...] = ()
    groups: tuple[GroupChange, ...] = ()
    readings: tuple[Reading, ...] = ()
    trials = after.identity.trials
    notes: list[str] = []
    if scores:
        old, new = (summarize(suite, side, gates) for side in scores)
        changes = metric_changes(suite, old, new, gates, evidence)
        groups = group_changes(suite, *scores, gates)
        fell, rose = moved_cases(suite, *scores)
        trials = new.trials
        notes = [
            *_held_out(suite, groups, before, after),
            *_left_out(suite, old, new),
            *_heavy_cases(changes),
        ]
        if suite.reporting.readings:
            per_trial = ({name: each.trials for name, each in side.metrics.items()} for side in (old, new))
            readings = tuple(suite.reporting.readings(*per_trial))
    action: Action = max((each.action for each in changes), key=ACTIONS.index, default="proceed")
    if not overlap.comparable:
        action = max(action, "needs_approval", key=ACTIONS.index)
    return Comparison(
        suite=suite.name,
        before=before.label,
        after=after.label,
        notes=(*_notes(before, after), *notes),
        shared=len(overlap.shared),
        appeared=overlap.appeared,
        vanished=overlap.vanished,
        changed=overlap.changed,
        metrics=changes,
        improved=rose,
        regressed=fell,
        verdict=_verdict(changes) if overlap.comparable else "incomparable",
        action=action,
        trials=trials,
        headline=suite.headline,
        unit=suite.metric(suite.headline).unit,
        key=_key(before, after, gates, changes),
        identities=(before.identity, after.identity),
        groups=groups,
        examples=examples_of(fell, cases, before, after),
        readings=readings,
        tests=tuple(chosen_tests(suite, *scores, test)) if scores and test else (),
        role=before.role,
    )


def _stop_if_stale(present: Mapping[str, str], after: Side) -> None:
    stale = sorted(name for name, hash_ in present.items() if after.input_hashes.get(name) != hash_)
    if stale:
        raise bad_value(
            "version",
            f"{after.label} was not evaluated on the golden set as it is ({', '.join(stale[:5])})",
            "Run it again.",
        )


def _key(before: Side, after: Side, gates: Mapping[str, Gate], changes: Iterable[MetricChange]) -> str:
    numbers = [(each.metric, rounded(each.before), rounded(each.after)) for each in changes if each.gated]
    sides = [(side.identity, side.golden_hash) for side in (before, after)]
    return content_hash([*sides, plain_gates(gates), numbers])


def _scores(
    suite: Suite,
    shared: Set[str],
    cases: Cases,
    side: Side,
    gates: Mapping[str, Gate],
    context: Context,
) -> Scores:
    """The scores of a side on some cases: those that are there already, or new ones.

    A side that its judge did not rule on is none.
    """
    if side.scores is not None:
        return restricted(side.scores, shared)
    wanted = (each for each in cases() if each.case.id in shared)
    judged = context.judge is not None
    scores = score_cases(suite, wanted, side.answers, context, keep_diagnoses=judged)
    if judged and (outage := outage_among(lost_verdicts(scores), gates)):
        raise BadInput([Problem(side.label, 0, "", outage.text, "")])
    return scores


def _notes(before: Side, after: Side) -> Iterable[str]:
    for field, what in (("engine", "engine"), ("model", "model"), ("trials", "number of trials")):
        old, new = getattr(before.identity, field), getattr(after.identity, field)
        if old != new:
            yield f"The {what} differs: {old} before, {new} after."
    if before.golden_hash != after.golden_hash:
        yield "The golden set changed since; both sides are scored against it as it is now."


def _held_out(suite: Suite, groups: Iterable[GroupChange], before: Side, after: Side) -> Iterable[str]:
    """What became of the gated metrics on the cases that an engine of either side did not learn from."""
    for held_out in dict.fromkeys(each.identity.held_out for each in (before, after)):
        own = [each for each in groups if (each.axis, each.group) == held_out]
        moves = ", ".join(_moved(each, quantities(suite)[each.metric].unit) for each in own)
        if held_out and own:
            size = counted(max(each.cases for each in own), "case")
            yield f"All cases are paired. On {' '.join(held_out)} alone, {size}: {moves}."


def _moved(each: GroupChange, unit: Unit) -> str:
    known = each.low is not None and each.high is not None
    interval = f", 95 % CI {change(each.low, unit)} to {change(each.high, unit)}" if known else ""
    values = f"{number(each.before, unit)} → {number(each.after, unit)}"
    return f"{each.metric} {values} ({change(each.difference, unit)}{interval})"


def _left_out(suite: Suite, old: Summary, new: Summary) -> Iterable[str]:
    """The numbers over trials that these trials do not allow to compare."""
    if absent := uncomparable(suite, old, new):
        least = max(each.minimum_trials for each in absent)
        yield (
            f"Not compared, since that takes {counted(least, 'trial')} or more, and as many on both sides "
            f"(here {old.trials:,} and {new.trials:,}): {', '.join(each.name for each in absent)}."
        )


def _heavy_cases(changes: Iterable[MetricChange]) -> Iterable[str]:
    """The cases that hold so much of what metrics count that a difference may be theirs alone."""
    held: dict[str, list[str]] = {}
    for each in changes:
        if each.evidence and each.evidence.heavy and each.verdict != "identical":
            heavy = each.evidence.heavy
            held.setdefault(heavy.case_id, []).append(f"{number(heavy.share)} of {each.metric}")
    for case_id, shares in held.items():
        yield (
            f"{case_id} alone holds much of what is counted: {', '.join(shares)}. "
            "Look at these differences without it and on equal case weights, too."
        )


def _verdict(changes: Iterable[MetricChange]) -> Verdict:
    """The worst of the gated metrics; what is uncertain weighs more than what improved only if it fell.

    Numbers over trials have no evidence: they count only where they ask for an action.
    """
    gated = [each for each in changes if each.gated and (each.evidence or each.action != "proceed")]
    verdicts = {each.verdict for each in gated}
    fell = any(each.verdict == "inconclusive" and each.action != "proceed" for each in gated)
    if "inconclusive" in verdicts and not fell and "improved" in verdicts:
        verdicts.remove("inconclusive")
    return next((each for each in WORST_FIRST if each in verdicts), "identical")
