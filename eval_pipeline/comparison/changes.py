"""What changed in each metric: the verdict by its evidence, the action by its gate."""

from collections.abc import Mapping

from msgspec.structs import replace

from eval_pipeline.comparison.evidence import drops_of
from eval_pipeline.comparison.records import Action, Evidence, MetricChange, Verdict
from eval_pipeline.comparison.words import movement, size
from eval_pipeline.gates import TOLERANCE, Gate, Regression
from eval_pipeline.numbers import Unit, change, counted, number
from eval_pipeline.scoring import Summary
from eval_pipeline.suite import Direction, Suite, TrialMetric, quantities


def metric_changes(
    suite: Suite,
    old: Summary,
    new: Summary,
    gates: Mapping[str, Gate],
    evidence: Mapping[str, Evidence],
) -> tuple[MetricChange, ...]:
    """What became of every number that can be compared."""
    absent = {each.name for each in uncomparable(suite, old, new)}
    return tuple(
        replace(
            metric_change(
                name,
                old.metrics[name].value,
                new.metrics[name].value,
                quantity.direction,
                quantity.unit,
                gates.get(name),
                evidence.get(name),
            ),
            bounds_before=old.metrics[name].bounds,
            bounds_after=new.metrics[name].bounds,
        )
        for name, quantity in quantities(suite).items()
        if name not in absent
    )


def uncomparable(suite: Suite, old: Summary, new: Summary) -> list[TrialMetric]:
    """The numbers over trials for which a side has too few; other numbers of trials make them others, too."""
    return [
        each for each in suite.trial_metrics if old.trials != new.trials or old.trials < each.minimum_trials
    ]


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

    Without evidence nobody can tell a difference from chance.
    """
    zone_before = gate.zone(before) if gate and before is not None else None
    zone_after = gate.zone(after) if gate and after is not None else None
    difference = after - before if after is not None and before is not None else None
    shown = f"{metric} {number(before, unit)} → {number(after, unit)}"
    if difference is not None:
        shown += f" ({change(difference, unit)}{_interval(evidence, unit)})"
    verdict, action, why = _verdict_of(before, after, difference, direction, unit, gate, evidence)
    drop = (-1.0 if direction == "higher" else 1.0) * (difference or 0.0)
    doubtful = verdict == "inconclusive" and _would_stop(drop, gate)
    if gate and zone_after == "fail" and zone_before != "fail" and before is not None:
        action = "block" if gate.severity == "critical" else "investigate"
        why = f"it entered the fail zone ({gate.bounds['fail'].text(unit)})"
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
        movement(metric, verdict, difference, unit, evidence),
        evidence,
        doubtful,
    )


def _interval(evidence: Evidence | None, unit: Unit) -> str:
    if evidence is None or evidence.low is None or evidence.high is None:
        return ""
    return f", 95 % CI {change(evidence.low, unit)} to {change(evidence.high, unit)}"


def _verdict_of(
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
        return "identical", "proceed", "undefined before and after"
    drops = drops_of(gate, unit, before)
    drop = -difference if direction == "higher" else difference
    without: Verdict = "inconclusive" if abs(difference) > TOLERANCE else "identical"
    verdict = evidence.verdict if evidence else without
    if verdict == "regressed" and drop > drops.block + TOLERANCE:
        action: Action = drops.beyond if gate and gate.regression else "investigate"
        return verdict, action, f"worse by more than {size(drops.block, unit)}"
    if verdict == "regressed":
        return verdict, "investigate", "worse; find out why and write it down"
    if verdict == "inconclusive":
        return verdict, _when_inconclusive(drop, drops, gate), _what_would_settle(evidence, drops, unit)
    if verdict == "improved":
        return verdict, "proceed", "better"
    reasons: dict[Verdict, str] = {
        "identical": "no case differs",
        "unchanged": f"a move of {size(drops.block, unit)} or more is excluded, up and down",
        "no worse": f"a drop of {size(drops.block, unit)} or more is excluded",
    }
    return verdict, "proceed", reasons[verdict]


def _would_stop(drop: float, gate: Gate | None) -> bool:
    """Whether a drop is one that the gate does not let pass, if it is certain."""
    return gate is not None and gate.regression is not None and drop > gate.regression.block + TOLERANCE


def _when_inconclusive(drop: float, drops: Regression, gate: Gate | None) -> Action:
    """A drop that would stop the change if it were certain follows the gate; a smaller one is looked at."""
    if gate and _would_stop(drop, gate):
        return gate.inconclusive
    return "investigate" if drop >= max(drops.investigate - TOLERANCE, TOLERANCE) else "proceed"


def _what_would_settle(evidence: Evidence | None, drops: Regression, unit: Unit) -> str:
    uncertain = "too uncertain to tell"
    if evidence is None:
        return f"{uncertain}: it is one number over all trials"
    ways = []
    if evidence.trials_needed:
        ways.append(counted(evidence.trials_needed, "trial"))
    if evidence.cases_needed and evidence.cases_needed > evidence.cases:
        ways.append(counted(evidence.cases_needed, "case"))
    if not ways:
        return uncertain
    return f"{uncertain}; {' or '.join(ways)} would show a drop of {size(drops.block, unit)}"
