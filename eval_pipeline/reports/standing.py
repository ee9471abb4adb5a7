"""Where a project stands, as rows: versions in use and side by side, incidents, costs, what waits."""

import datetime
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from eval_pipeline.decisions import Incident, SuiteSurvey, Survey, VersionSurvey
from eval_pipeline.engines import Usage
from eval_pipeline.gates import Gate, GateResult, gate_result
from eval_pipeline.numbers import NOTHING, Unit, age, change, counted, number
from eval_pipeline.prompts import prompt_name, version_order
from eval_pipeline.reports.brief import brief_of
from eval_pipeline.reports.markdown import flat
from eval_pipeline.reports.rows import Cell, Table
from eval_pipeline.reports.tables import gate_label, units
from eval_pipeline.scoring import Point
from eval_pipeline.suite import Suite

MOST_ROWS = 30
MOST_TOLD = 3
LONGEST_FINDING = 200
LONGEST_REASON = 300
UNKNOWN = Cell("✗ was never evaluated", "red")
BROKEN = Cell("✗ cannot be loaded", "red")
NONE_ACTIVE = Cell("⚠ no version is active", "yellow")

STATES = {
    "pass": "passes",
    "warn": "passes with warnings",
    "approved": "passes by approval",
    "block": "is blocked",
    "incomplete": "is incomplete",
    "unknown": "never evaluated",
    "broken": "cannot be used",
}
"""What a version or a suite may be, as filters call it."""


class Stand(NamedTuple):
    """A version in use, or why a suite has none, as a person wants to see it first."""

    suite: str
    version: str
    engine: str
    state: str
    verdict: Cell
    headline: Cell
    """The metric that stands for all, in the colour and with the sign of its zone."""
    against: Cell
    answered_at: str
    """Blank where nothing was answered."""
    reason: str


def stands(survey: Survey) -> list[Stand]:
    """A row for each version in use, and one for each suite that has none."""
    return [stand for each in survey.suites for stand in _stands(each)]


def stand_table(rows: Sequence[Stand], now: datetime.datetime) -> Table:
    """The same as a table."""
    return Table(
        (
            "suite",
            "verdict",
            "version",
            "engine",
            "headline",
            "against the baseline",
            "age",
            "what to look at",
        ),
        [
            (
                row.suite,
                row.verdict,
                row.version or NOTHING,
                row.engine or NOTHING,
                row.headline,
                row.against,
                since(row.answered_at, now),
                row.reason,
            )
            for row in rows
        ],
        note="Age: since the answers were scored first.",
    )


def _stands(each: SuiteSurvey) -> Iterator[Stand]:
    nothing = Cell(NOTHING, "dim")
    if each.suite is None:
        yield Stand(each.name, "", "", "broken", BROKEN, nothing, nothing, "", _first(each.problems))
        return
    for version in each.active:
        yield stand_of(each, each.suite, version)
    if not each.active:
        reason = _first(each.problems) or "Make one active: eval-pipeline prompt activate"
        yield Stand(each.name, "", "", "broken", NONE_ACTIVE, nothing, nothing, "", reason)


def stand_of(each: SuiteSurvey, suite: Suite, version: VersionSurvey) -> Stand:
    """How a version stands, in words that reports use, too."""
    evaluation, nothing = version.evaluation, Cell(NOTHING, "dim")
    if evaluation is None or version.against is None:
        own = [problem for problem in each.problems if version.version in problem.file]
        reason = _first(own) or f"Run: eval-pipeline run {each.name} --prompt {version.version}"
        against = nothing if prompt_name(version.version) in each.baselines else NO_BASELINE
        return Stand(each.name, version.version, "", "unknown", UNKNOWN, nothing, against, "", reason)
    brief = brief_of(suite, version.version, evaluation, version.against)
    gate = next((gate for gate in evaluation.summary.gates if gate.metric == suite.headline), None)
    label = gate_label(gate) if gate else Cell("")
    reasons = [*(f"Since then {changed}" for changed in version.changed), brief.reason]
    return Stand(
        each.name,
        version.version,
        evaluation.identity.outputs.engine,
        version.state,
        brief.verdict,
        Cell(f"{brief.headline} {label.text.partition(' ')[0]}", label.colour) if brief.headline else nothing,
        _against(each, suite, version),
        version.answered_at,
        ". ".join(filter(None, reasons)),
    )


NO_BASELINE = Cell("⚠ no baseline", "yellow")


def _against(each: SuiteSurvey, suite: Suite, version: VersionSurvey) -> Cell:
    """What became of the headline since the baseline, and what the comparison says as a whole."""
    baseline = version.standings.baseline
    if version.state == "incomplete":
        return Cell(NOTHING, "dim")
    if baseline is None or prompt_name(version.version) not in each.baselines:
        return NO_BASELINE
    comparison = baseline.comparison
    moved = next((one for one in comparison.metrics if one.metric == suite.headline), None)
    difference = f", {change(moved.difference, units(suite)[suite.headline])}" if moved else ""
    colours = {"improved": "green", "regressed": "red", "inconclusive": "yellow", "incomparable": "yellow"}
    return Cell(f"{comparison.verdict}{difference}", colours.get(comparison.verdict, ""))  # type: ignore[arg-type]


def _first(problems: Sequence[object]) -> str:
    more = f" (and {len(problems) - 1:,} more)" if len(problems) > 1 else ""
    return f"{flat(problems[0], LONGEST_REASON)}{more}" if problems else ""


class Side(NamedTuple):
    """The latest evaluation of a version by an engine and a model."""

    point: Point
    version: VersionSurvey | None
    """None where its file is gone."""

    @property
    def is_latest(self) -> bool:
        """Whether no other engine or model was asked since: then there is a verdict, too."""
        evaluation = self.version.evaluation if self.version else None
        return evaluation is not None and evaluation.id == self.point.evaluation


def sides(each: SuiteSurvey) -> list[Side]:
    """The latest evaluation of every version by every engine and model: those in use first."""
    latest = {(point.version, point.engine, point.model): point for point in each.points}
    versions = {version.version: version for version in each.versions}
    found = [Side(point, versions.get(point.version)) for point in latest.values()]
    found.sort(key=lambda side: side.point.evaluated_at, reverse=True)
    found.sort(key=lambda side: version_order(side.point.version), reverse=True)
    return sorted(found, key=lambda side: not (side.version and side.version.status == "active"))


def side_table(each: SuiteSurvey, suite: Suite, now: datetime.datetime) -> Table:
    """Versions and engines side by side: the gated metrics with their zones."""
    unit, all_sides = units(suite), sides(each)
    names = [name for name in each.gates if name in unit]
    rows = [
        (
            side.point.version,
            (side.version.status if side.version else "") or "file is gone",
            verdict_of(side, suite),
            side.point.engine,
            side.point.model,
            f"{side.point.cases:,}{f' ({side.point.held_out})' if side.point.held_out else ''}",
            since(side.point.evaluated_at, now),
            *_values(side, each.gates, names, unit),
        )
        for side in all_sides[:MOST_ROWS]
    ]
    more = len(all_sides) - len(rows)
    notes = ["A verdict stands beside the latest evaluation of a version."] if rows else []
    notes += [f"{more:,} more are left out: eval-pipeline history {each.name}."] if more > 0 else []
    header = ("version", "status", "verdict", "engine", "model", "cases", "age", *names)
    return Table(header, rows, note=" ".join(notes))


def _values(
    side: Side, gates: Mapping[str, Gate], names: Sequence[str], unit: Mapping[str, Unit]
) -> Iterator[str | Cell]:
    evaluation = side.version.evaluation if side.version and side.is_latest else None
    known = {gate.metric: gate for gate in evaluation.summary.gates} if evaluation else {}
    for name in names:
        value = side.point.quality.get(name)
        applies = known[name].status != "not_applicable" if name in known else value is not None
        result = known.get(name) or gate_result(gates[name], name, value, applies, unit[name])
        yield Cell(NOTHING, "dim") if side.point.incomplete else gated_value(result, value, unit[name])


def gated_value(result: GateResult, value: float | None, unit: Unit) -> Cell:
    """A value in the colour of its zone, with the sign of its gate."""
    label = gate_label(result)
    if result.status == "not_applicable":
        return Cell(NOTHING, "dim")
    return Cell(f"{number(value, unit)} {label.text.split()[0]}", label.colour)


def verdict_of(side: Side, suite: Suite) -> Cell:
    """The verdict on an evaluation, where it is its version's latest."""
    if side.point.incomplete:
        return Cell("✗ is incomplete", "red")
    version = side.version
    if not side.is_latest or version is None or version.evaluation is None or version.against is None:
        return Cell("")
    return brief_of(suite, version.version, version.evaluation, version.against).verdict


def since(moment: str, now: datetime.datetime) -> str:
    """How old something is."""
    return age((now - datetime.datetime.fromisoformat(moment)).total_seconds()) if moment else NOTHING


def incident_table(incidents: Sequence[Incident]) -> Table:
    """Versions that are unwell and those that were."""
    rows = [
        (
            Cell("open", "red" if each.severity == "critical" else "yellow")
            if each.closed_at is None
            else "closed",
            each.severity,
            each.subject,
            _moment(each.opened_at),
            _moment(each.closed_at) if each.closed_at is not None else "",
            f"{each.relapses:,}",
            "; ".join(f"{finding.check}: {flat(finding.text, LONGEST_FINDING)}" for finding in each.findings),
        )
        for each in incidents
    ]
    return Table(("state", "severity", "version", "opened", "closed", "relapses", "findings"), rows)


def _moment(seconds: float) -> str:
    return datetime.datetime.fromtimestamp(seconds, datetime.UTC).strftime("%Y-%m-%d %H:%M")


def spent(rows: Sequence[Usage]) -> str:
    """What calls cost, and how many of them nobody knows the cost of."""
    unknown = sum(row.calls for row in rows if row.dollars is None)
    known = number(sum(row.dollars or 0.0 for row in rows), "dollars")
    if not unknown:
        return known
    everything = unknown == sum(row.calls for row in rows)
    return "an unknown cost" if everything else f"{known} and {counted(unknown, 'call')} of unknown cost"


def by_day(usage: Iterable[Usage]) -> dict[str, list[Usage]]:
    """What was asked on each day (UTC), the latest first."""
    days: dict[str, list[Usage]] = {}
    for row in usage:
        days.setdefault(row.day, []).append(row)
    return dict(sorted(days.items(), reverse=True))


def cost_table(usage: Sequence[Usage], most: int = MOST_ROWS) -> Table:
    """What metered calls cost, day by day."""
    days = by_day(usage)
    rows = [
        (
            day,
            f"{sum(row.calls for row in rows):,}",
            f"{sum(row.prompt_tokens for row in rows):,}",
            f"{sum(row.completion_tokens for row in rows):,}",
            spent(rows),
            ", ".join(sorted({row.suite for row in rows})),
        )
        for day, rows in list(days.items())[:most]
    ]
    more = len(days) - len(rows)
    note = f"{more:,} earlier days are left out: eval-pipeline journal stats." if more > 0 else ""
    return Table(("day", "calls", "input tokens", "output tokens", "cost", "suites"), rows, note=note)


class Task(NamedTuple):
    """Something that waits for a person."""

    sign: Cell
    suite: str
    what: str
    command: str = ""


def tasks(survey: Survey) -> list[Task]:
    """What waits for somebody, what stops things first."""
    every = [*(task for each in survey.suites for task in _tasks(each)), *_gone(survey)]
    return sorted(every, key=lambda task: task.sign.colour != "red")


def _tasks(each: SuiteSurvey) -> Iterator[Task]:
    wrong, look, good = Cell("✗", "red"), Cell("⚠", "yellow"), Cell("★", "green")
    run = f"eval-pipeline run {each.name} --prompt"
    for problem in each.problems[:MOST_TOLD]:
        yield Task(wrong, each.name, flat(problem, LONGEST_REASON), f"eval-pipeline golden check {each.name}")
    if more := each.problems[MOST_TOLD:]:
        yield Task(wrong, each.name, f"and {counted(len(more), 'more problem')}")
    if each.suite is None:
        return
    if not each.active:
        yield Task(
            look, each.name, "no version is active", f"eval-pipeline prompt activate {each.name} VERSION"
        )
    for version in each.active:
        stand = stand_of(each, each.suite, version)
        command = f"{run} {version.version}"
        if stand.state == "block":
            command = f"eval-pipeline investigate {each.name} {version.version}"
        if stand.state in ("block", "incomplete", "unknown"):
            reason = f": {stand.reason}" if stand.state != "unknown" and stand.reason else ""
            yield Task(wrong, each.name, f"{stand.version} {stand.verdict.text[2:]}{reason}", command)
        elif version.changed:
            yield Task(
                look,
                each.name,
                f"{stand.version}: since it was evaluated {', '.join(version.changed)}",
                command,
            )
        if prompt_name(version.version) not in each.baselines:
            promote = f"eval-pipeline baseline promote {each.name} {version.version} --reason …"
            yield Task(look, each.name, f"{prompt_name(version.version)} has no baseline", promote)
    if each.unsigned:
        few = ", ".join(each.unsigned[:MOST_TOLD]) + (", …" if len(each.unsigned) > MOST_TOLD else "")
        freeze = f"eval-pipeline golden freeze {each.name} --reason …"
        yield Task(look, each.name, f"the golden set is not signed off: {few}", freeze)
    in_play = {version.version for version in each.versions if version.status != "archived"}
    for proposal in each.proposals:
        if proposal.version not in in_play:
            continue
        promote = f"eval-pipeline baseline promote {each.name} {proposal.version} --reason …"
        yield Task(good, each.name, f"{proposal.version} is better than {proposal.against}", promote)


def _gone(survey: Survey) -> Iterator[Task]:
    for name in survey.gone:
        yield Task(Cell("⚠", "yellow"), name, "left results, and is no suite any more: they are not shown")
