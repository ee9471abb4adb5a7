"""Asset checks: what each one is about, and what it says when it passes or fails."""

import warnings
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import dagster as dg
import msgspec

from eval_pipeline.answers import Costs, Outage, OutputsIdentity, error_lines
from eval_pipeline.comparison import MetricTrend
from eval_pipeline.decisions import COMPLETE, Standing, Standings, objections
from eval_pipeline.gates import ERROR_GATE, GATES_FILE, OPERATION_UNITS, Gate, GateResult, operation_results
from eval_pipeline.golden import Unsigned, shortfalls
from eval_pipeline.numbers import counted, number
from eval_pipeline.orchestration.metadata import by_comparison
from eval_pipeline.orchestration.places import Place
from eval_pipeline.problems import Problem
from eval_pipeline.reports import (
    VersionState,
    bullets,
    hidden_problems,
    named_things,
    plain,
    probe_notes,
    probe_table,
    table,
)
from eval_pipeline.scoring import Evaluation, Probed, Scores
from eval_pipeline.stages import LoadedGolden
from eval_pipeline.suite import Severity, Suite, quantities

MOST_LINES = 50
LONGEST_LINE = 2000
MOST_PROBLEMS = 1000
"""So many of what is wrong with input are kept with a check."""
PROBLEMS = "problems"

Checks = Iterator[dg.AssetCheckResult]
_USABLE = f"golden/{{}}/{GATES_FILE} and the suite's formulas can be used."

WELL_FORMED = "well_formed"
SIGNED_OFF = "signed_off"
PROBES = "probes"
PROMPT_VALID = "prompt_valid"
ANSWERED = "answered"
SCORED = "scored"
REPORTED = "reported"
LATENCY = "latency"
COST = "cost"
GATES_VALID = "gates_valid"
REGRESSION = "regression"
TREND = "trend"
ACTIVE_PASSES = "active_version_passes"
"""It is about the version in use, whichever one a run evaluates."""


def gate_check(metric: str) -> str:
    """The name of the check for a gate on a metric."""
    return f"gate_{metric.replace('@', '_at_')}"


def speaks_for_itself(check: str, evaluation: Evaluation) -> bool:
    """Whether a check says of an evaluation what its gates, limits, comparison, outage or sign-off say."""
    if check == ANSWERED:
        return evaluation.outage is not None
    spoken_for = (SIGNED_OFF, COMPLETE, LATENCY, COST, REGRESSION, ACTIVE_PASSES)
    return check in spoken_for or check.startswith(gate_check(""))


def golden_specs(place: Place) -> list[dg.AssetCheckSpec]:
    """Whether the golden set is readable, signed off, and good enough."""
    described = {
        WELL_FORMED: "Every golden file can be read. If not, nothing downstream runs.",
        SIGNED_OFF: "The golden set is as a person last signed it off.",
        PROBES: "No measure rewards cheating, and the golden answers pass.",
        **{each.name: each.description for each in place.suite.requirements},
    }
    return [
        dg.AssetCheckSpec(name, asset=place.key("golden_set"), description=text, blocking=name == WELL_FORMED)
        for name, text in described.items()
    ]


def output_specs(place: Place) -> list[dg.AssetCheckSpec]:
    """Whether the version could be asked, and every case got an answer."""
    return [
        _spec(
            place, "model_outputs", PROMPT_VALID, "The prompt, its template and its engine can be used.", True
        ),
        _spec(place, "model_outputs", ANSWERED, "Every case has an answer in every trial."),
        _spec(place, "model_outputs", LATENCY, f"Latency is within the limit of {GATES_FILE}."),
        _spec(place, "model_outputs", COST, f"Cost is within the limit of {GATES_FILE}."),
    ]


def score_specs(place: Place) -> list[dg.AssetCheckSpec]:
    """Whether the suite's code could score every answer."""
    return [_spec(place, "case_scores", SCORED, "The suite's code scores every answer.", True)]


def report_specs(place: Place) -> list[dg.AssetCheckSpec]:
    """Whether the suite's code could make its tables."""
    return [_spec(place, "report", REPORTED, "The suite's code makes every table of the report.", True)]


def gate_specs(place: Place, gated: Sequence[str]) -> list[dg.AssetCheckSpec]:
    """In which zone each gated metric is."""
    described = quantities(place.suite)
    return [
        _spec(place, "metrics", GATES_VALID, _USABLE.format(place.suite.name), True),
        _spec(place, "metrics", COMPLETE, "Enough answers arrived for a verdict on quality: no outage."),
        *(_spec(place, "metrics", gate_check(name), described[name].description) for name in gated),
        _spec(place, "metrics", TREND, "No gated metric slides over the evaluations that asked anew."),
    ]


def comparison_specs(place: Place) -> list[dg.AssetCheckSpec]:
    """Whether anything got worse than the baseline, or than what would be replaced."""
    text = "No gated metric fell so far that the regression table stops the change."
    return [_spec(place, "baseline_comparison", REGRESSION, text)]


def _spec(place: Place, stage: str, name: str, text: str, blocking: bool = False) -> dg.AssetCheckSpec:
    """A check that has a result of its own for every prompt version."""
    with warnings.catch_warnings():
        # Partitioned checks are a preview of Dagster's; a version without its own results would be worse.
        warnings.simplefilter("ignore", dg.PreviewWarning)
        return dg.AssetCheckSpec(
            name,
            asset=place.key(stage),
            description=text,
            blocking=blocking,
            partitions_def=place.partitions,
        )


def golden_checks(suite: Suite, loaded: LoadedGolden) -> Checks:
    """What there is to say about a golden set that can be read."""
    yield _passed(WELL_FORMED, f"{counted(loaded.table.facts.cases, 'case')} can be read.")
    yield _signed_off(suite, loaded.unsigned)
    for requirement, missing in shortfalls(suite, loaded.overview):
        facts = requirement.facts(loaded.overview) if requirement.facts else []
        yield _result(
            check_name=requirement.name,
            passed=not missing,
            severity=_severity(requirement.severity),
            description="; ".join(missing[:MOST_LINES]) if missing else requirement.description,
            metadata={
                "shortfalls": len(missing),
                **(
                    {"facts": dg.MetadataValue.md(bullets(plain(line, LONGEST_LINE) for line in facts))}
                    if facts
                    else {}
                ),
            },
        )


def _signed_off(suite: Suite, unsigned: Unsigned) -> dg.AssetCheckResult:
    """Whether the golden set is as somebody vouched for; one that nobody froze yet is a warning."""
    said = "The golden set is as it was signed off."
    if unsigned:
        command = f"eval-pipeline golden freeze {suite.name} --reason …"
        changes = ", ".join(unsigned.changes[:MOST_LINES])
        said = f"Changes that nobody signed off: {changes}. Review them, then run: {command}"
        if unsigned.never:
            said = f"It was never signed off. Once its cases are reviewed, run: {command}"
    return _result(
        check_name=SIGNED_OFF,
        passed=not unsigned,
        severity=_severity("critical" if unsigned.blocks else "warning"),
        description=said,
        metadata={"changes": len(unsigned.changes)},
    )


def probes_check(suite: Suite, probed: Probed) -> dg.AssetCheckResult:
    """Whether the suite's measures can be gamed, with the table of what each probe scores."""
    cheats = counted(len(probed.probes), "probe")
    fine = f"{cheats}: none passes the critical gates, none passes more cases than by chance."
    return _result(
        check_name=PROBES,
        passed=not (probed.broken or probed.warnings),
        severity=dg.AssetCheckSeverity.WARN,
        description="\n".join(each.message for each in (*probed.broken, *probed.warnings)) or fine,
        metadata={
            "probes": dg.MetadataValue.md(table(probe_table(suite, probed))),
            "notes": dg.MetadataValue.md(bullets(plain(note, LONGEST_LINE) for note in probe_notes(probed))),
        },
    )


def output_checks(version: str, costs: Costs, limits: Mapping[str, Gate]) -> Checks:
    """What there is to say about the answers to a version."""
    yield _passed(PROMPT_VALID, f"{version}: the prompt renders and its engine answers.")
    total, answers = costs.error_count, costs.answers
    kinds = " ".join(error_lines(costs.errors, costs.examples))
    size = f"{counted(total, 'error')} in {counted(answers, 'answer')}"
    too_many = ERROR_GATE.zone(total / answers) == "fail"
    yield _result(
        check_name=ANSWERED,
        passed=not total,
        severity=_severity("critical" if too_many else "warning"),
        description=f"{version}: {size}{f': {kinds}' if total else '.'}",
        metadata={"answers": answers, "errors": total, **costs.errors},
    )
    results = {each.metric: each for each in operation_results(limits, costs.measures)}
    for check, measure in ((LATENCY, "latency_p95_ms"), (COST, "cost_usd_per_answer")):
        yield _limit_check(check, version, measure, costs.measures[measure], results.get(measure))


def _limit_check(
    check: str, version: str, measure: str, value: float | None, result: GateResult | None
) -> dg.AssetCheckResult:
    if result is None or value is None:
        shown = "nothing was measured" if value is None else number(value, OPERATION_UNITS[measure])
        return _passed(
            check, f"{version}: {shown}; {'no limit is set' if result is None else 'not applicable'}."
        )
    return _result(
        check_name=check,
        passed=result.status == "pass",
        severity=_severity("critical" if result.status == "fail" else "warning"),
        description=f"{version}: {result.message}",
        metadata={"value": value, "zone": result.zone or "none"},
    )


def scored_check(version: str, scores: Scores) -> dg.AssetCheckResult:
    """That every answer could be scored."""
    return _passed(SCORED, f"{version}: {counted(scores.counts.num_rows, 'answer')} scored.")


def reported_check(version: str) -> dg.AssetCheckResult:
    """That the report could be made."""
    return _passed(REPORTED, f"{version}: the report is made.")


def gate_checks(
    suite: Suite, gated: Sequence[str], evaluation: Evaluation, scores: Scores, page: Mapping[str, Any]
) -> Checks:
    """In which zone each gated metric is, and what a bad one is made of; an outage leaves that open.

    `page` is the link to the report, where there is one.
    """
    yield _passed(GATES_VALID, f"{counted(len(evaluation.summary.gates), 'gate')} in use.")
    results = {result.metric: result for result in evaluation.summary.gates}
    named = named_things(suite, evaluation.summary, scores)
    version, outage = evaluation.identity.outputs.subject, evaluation.outage
    yield _result(
        check_name=COMPLETE,
        passed=outage is None,
        description=f"{version}: {outage.text if outage else 'enough answers arrived.'}",
        metadata=outage.errors if outage else {},
    )
    for name in gated:
        if outage and name in results:
            yield _undecided(gate_check(name), version)
        elif name in results:
            hidden = hidden_problems(evaluation.summary) if name == suite.headline else ""
            yield _gate_check(suite, version, results[name], named.get(name, []), hidden, page)
        else:
            message = f"{GATES_FILE} no longer has a gate on {name}; reload the definitions."
            yield _passed(gate_check(name), message)


def _gate_check(
    suite: Suite,
    version: str,
    result: GateResult,
    named: Sequence[str],
    hidden: str,
    page: Mapping[str, Any],
) -> dg.AssetCheckResult:
    by_case = f" By case: {'; '.join(named)}." if named else ""
    return _result(
        check_name=gate_check(result.metric),
        passed=result.status in ("pass", "not_applicable"),
        severity=_severity("critical" if result.status == "fail" else "warning"),
        description=" ".join(filter(None, (f"{version}: {result.text}", hidden))) + by_case,
        metadata={
            "status": result.status,
            "zone": result.zone or "none",
            **({"value": result.value} if result.value is not None else {}),
            **(
                {"why": f"eval-pipeline investigate {suite.name} {version}"}
                if result.status == "fail"
                else {}
            ),
            **page,
        },
    )


def _undecided(check: str, version: str) -> dg.AssetCheckResult:
    """A check on quality for which too few answers arrived."""
    return _result(
        check_name=check,
        passed=False,
        severity=dg.AssetCheckSeverity.WARN,
        description=f"{version}: incomplete, so there is no verdict; see the check {COMPLETE!r}.",
    )


def trend_check(version: str, runs: int, trends: Sequence[MetricTrend]) -> dg.AssetCheckResult:
    """Whether any gated metric slides; how often each fell in a row is for information."""
    alarming = [each.text for each in trends if each.trend.alarm]
    steady = f"no gated metric slides over {counted(runs, 'evaluation')} that asked anew"
    return _result(
        check_name=TREND,
        passed=not alarming,
        severity=dg.AssetCheckSeverity.WARN,
        description=f"{version}: {'; '.join(alarming) or steady}.",
        metadata={
            "evaluations": runs,
            **{f"consecutive_declines_{each.metric}": each.trend.consecutive_declines for each in trends},
        },
    )


def regression_check(
    suite: Suite,
    outputs: OutputsIdentity,
    standings: Standings,
    page: Mapping[str, Any],
    outage: Outage | None = None,
) -> dg.AssetCheckResult:
    """What became of a version against its baseline and against what it would replace."""
    version = outputs.subject
    if outage:
        return _undecided(REGRESSION, version)
    approvals = standings.baseline.approvals if standings.baseline else ()
    against = objections(None, standings.all, approvals, missing=standings.missing)
    lines = [f"{version} against {each.comparison.before}: {each.conclusion}" for each in standings.all]
    if standings.baseline is None:
        lines.append(
            f"{version}: there is no baseline to compare with. Promote an evaluation that you trust: "
            f"eval-pipeline baseline promote {suite.name} {outputs.version} --reason …"
        )
    lines += [f"{version}: {standings.missing}"] if standings.missing else []
    return _result(
        check_name=REGRESSION,
        passed=against.state in ("pass", "approved") and standings.baseline is not None,
        severity=_severity("critical" if against.blocking else "warning"),
        description="\n".join([*lines, *([standings.note] if standings.note else ())]),
        metadata={**by_comparison(standings, _numbers), **page},
    )


def _numbers(standing: Standing) -> dict[str, Any]:
    comparison = standing.comparison
    return {
        "verdict": comparison.verdict,
        "action": comparison.action,
        "approved": standing.approved,
        "cases_regressed": len(comparison.regressed),
        "cases_improved": len(comparison.improved),
    }


def active_check(states: Sequence[VersionState]) -> dg.AssetCheckResult:
    """Whether the versions in use pass; none in use, or one that was not evaluated, does not."""
    active = [each for each in states if each.status == "active"]
    return _result(
        check_name=ACTIVE_PASSES,
        passed=bool(active) and all(each.passes for each in active),
        severity=_severity("critical" if any(each.brief for each in active) else "warning"),
        description="\n".join(each.text for each in active) or "No version is active.",
    )


def problems_check(check: str, problems: Sequence[Problem]) -> dg.AssetCheckResult:
    """Bad input as a failed check: every problem, as the command line would print it."""
    lines = [str(problem) for problem in problems[:MOST_LINES]]
    more = f"\nand {len(problems) - MOST_LINES:,} more" if len(problems) > MOST_LINES else ""
    kept = list(problems[:MOST_PROBLEMS])
    if left := len(problems) - len(kept):
        kept.append(Problem(kept[-1].file, 0, "", f"{left:,} more problems", "Correct the others first."))
    return _result(
        check_name=check,
        passed=False,
        description="\n".join(lines) + more,
        metadata={
            "count": len(problems),
            PROBLEMS: dg.MetadataValue.json([msgspec.to_builtins(problem) for problem in kept]),
        },
    )


def problems_of(check: dg.AssetCheckEvaluation) -> list[Problem]:
    """The problems that made a check fail; none where it judged what could be used."""
    result = check.metadata.get(PROBLEMS)
    return msgspec.convert(result.value, list[Problem]) if result else []


def _passed(check: str, description: str) -> dg.AssetCheckResult:
    return _result(check_name=check, passed=True, description=description)


def _result(
    *,
    check_name: str,
    passed: bool,
    description: str,
    severity: dg.AssetCheckSeverity = dg.AssetCheckSeverity.ERROR,
    metadata: Mapping[str, Any] | None = None,
) -> dg.AssetCheckResult:
    """Every result of every check goes through here: Dagster shows a description as Markdown."""
    lines = [plain(line, LONGEST_LINE) for line in description.splitlines()]
    return dg.AssetCheckResult(
        check_name=check_name,
        passed=passed,
        severity=severity,
        description=lines[0] if len(lines) == 1 else bullets(lines),
        metadata=metadata,
    )


def _severity(severity: Severity) -> dg.AssetCheckSeverity:
    return dg.AssetCheckSeverity.ERROR if severity == "critical" else dg.AssetCheckSeverity.WARN
