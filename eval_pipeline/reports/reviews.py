"""The briefs of section 8: what a week, a month or a quarter brought, on one page each."""

from __future__ import annotations

import datetime
from collections.abc import Iterator, Mapping, Sequence

from eval_pipeline.improvement import SHOWN, Month, Outcome, Proposal, Quarter, Satisfied, Suggestion, Week
from eval_pipeline.monitoring import FIGURES, Estimate, every_measure
from eval_pipeline.numbers import Unit, change, counted, number
from eval_pipeline.reports.blocks import Block, Bullets, Heading, Line
from eval_pipeline.reports.rows import Cell, Table
from eval_pipeline.reports.tables import units

SIMULATED = "Events of these days come from the simulator, all or some of them."
NOTHING = "Nothing stands out."
MOST_CASES = 12
LONGEST = 110


def weekly_blocks(week: Week) -> list[Block]:
    """The weekly brief: what to look at first, then the figures that say so."""
    return list(_weekly(week))


def _weekly(week: Week) -> Iterator[Block]:
    yield _title(week.suite.name, "week", week.start, week.end)
    if week.simulated:
        yield Line(SIMULATED)
    yield Heading("What to look at")
    yield Bullets(week.to_look_at) if week.to_look_at else Line(NOTHING)
    if week.figures is not None:
        yield _figures(week)
        if week.figures.errors:
            kinds = sorted(week.figures.errors.items(), key=lambda each: (-each[1], each[0]))
            said = ", ".join(f"{count:,} × {kind}" for kind, count in kinds[:5])
            yield Line(f"{said}.", "Errors:")
    if week.quality is not None:
        yield _measures(week.quality.estimates, week.quality.state)
    if week.lowest:
        names = {name for each in week.lowest for name in each.measures}
        shown = [name for name in every_measure(week.suite) if name in names]
        rows = [
            (
                each.request,
                number(each.score),
                ", ".join(name for name in shown if each.measures.get(name, 1.0) < 1),
                _short(each.text),
            )
            for each in week.lowest
        ]
        yield Table(("request", "score", "what is low", "input"), rows, "Lowest sampled answers")
    yield from _people(week)


def _figures(week: Week) -> Table:
    assert week.figures is not None
    aims = {aim.figure: aim for aim in week.aims}
    rows: list[tuple[str | Cell, ...]] = []
    for name in SHOWN:
        unit, now = FIGURES[name].unit, week.figures.value(name)
        if now is None and name not in aims:
            continue
        then = week.before.value(name) if week.before else None
        moved = change(now - then, unit) if now is not None and then is not None else ""
        aim = aims.get(name)
        state = Cell("") if aim is None else Cell("✓ met", "green") if aim.met else Cell("✗ missed", "red")
        rows.append((name.replace("_", " "), number(now, unit), moved, aim.wanted if aim else "", state))
    return Table(("figure", "this week", "change", "target", ""), rows, "Figures")


def _measures(estimates: Mapping[str, Estimate], state: str) -> Table:
    rows = [
        (
            each.measure,
            number(each.value, each.unit),
            f"{number(each.low, each.unit)} to {number(each.high, each.unit)}",
            f"{each.effective:.0f}{'' if each.enough else ' (no verdict)'}",
        )
        for each in estimates.values()
        if each.value is not None
    ]
    note = "Provisional: feedback may still add to the sample." if state != "closed" else ""
    return Table(("measure", "value", "interval", "effective n"), rows, "Sampled quality", note)


def _people(week: Week) -> Iterator[Block]:
    said = week.satisfaction
    lines = []
    if said.feedback is not None:
        score, requests = number(said.feedback, "number"), counted(said.feedback_count, "request")
        lines.append(f"Feedback score {score} of 5 from {requests}.")
    if said.rated:
        accuracy = number(said.accuracy if said.accuracy is not None else said.share)
        kappa = f"; κ = {number(said.kappa, 'number')}" if said.kappa is not None else ""
        lines.append(f"Raters found {accuracy} acceptable ({counted(said.rated, 'answer')}{kappa}).")
    if week.disliked:
        topics = ", ".join(f"{topic} ({count:,})" for topic, count in week.disliked.items())
        lines.append(f"Disliked most often: {topics}.")
    lines += [f"“{_short(comment)}”" for comment in week.comments]
    if lines:
        yield Heading("What people say")
        yield Bullets(lines)


def monthly_blocks(month: Month) -> list[Block]:
    """The monthly report: new cases and canaries, and which measures go with content users."""
    return list(_monthly(month))


def _monthly(month: Month) -> Iterator[Block]:
    yield _title(month.suite.name, "month", month.start, month.end)
    if month.simulated:
        yield Line(SIMULATED)
    if month.outcome is None:
        yield Line("No case can be drafted: the suite has a golden format of its own, without `drafting`.")
    else:
        yield from _suggested(month.suite.name, month.outcome)
    yield Heading("What goes with content users")
    yield _correlations(month.by_answer, "Measures of sampled answers, answer by answer")
    yield _correlations(month.by_version, "Metrics on the golden set, version by version")
    yield Line(
        "The last column is what each would weigh in a score that followed satisfaction alone: in "
        "proportion to the correlations whose interval leaves zero out. It is a proposal; nothing applies "
        "it. Whoever takes it changes the suite's score, and the baselines with it."
    )


def _suggested(suite: str, outcome: Outcome) -> Iterator[Block]:
    failures = outcome.failures
    yield Heading("Cases and canaries that production suggests")
    yield Line(
        f"{counted(failures.looked_at, 'request')}, {failures.failed:,} failed; "
        f"{counted(len(outcome.cases), 'case')} would be new. Write them: eval-pipeline cases suggest {suite}"
    )
    if outcome.cases:
        rows = [(_short(each.about), f"{each.times:,}", _short(_first(each))) for _, each in outcome.cases]
        more = len(rows) - MOST_CASES
        note = f"{more:,} more are left out." if more > 0 else ""
        yield Table(("about", "failures", "why"), rows[:MOST_CASES], "Cases", note)
    if outcome.canaries:
        rows = [(_short(each.canary or ""), f"{each.times:,}", each.near) for _, each in outcome.canaries]
        yield Table(("made up", "answers", "cases that may forbid it"), rows[:MOST_CASES], "Canaries")
    if outcome.golden:
        asked = ", ".join(sorted(outcome.golden)[:MOST_CASES])
        yield Line(f"{asked}.", "Golden cases that production fails, too:")


def _first(suggestion: Suggestion) -> str:
    return suggestion.why[0] if suggestion.why else ""


def _correlations(found: Sequence[Satisfied], title: str) -> Table:
    rows: list[tuple[str | Cell, ...]] = []
    for each in found:
        known = each.correlation
        if known is None:
            rows.append((each.name, "–", f"{each.pairs:,} pairs: too few, or all alike", "", ""))
            continue
        span = f"{known.low:+.2f} to {known.high:+.2f}"
        clear = Cell("clear", "green") if known.clear else Cell("may be chance", "dim")
        weight = number(each.weight) if each.weight is not None and each.better != "neither" else "–"
        rows.append((each.name, f"{known.value:+.2f}", f"{span} ({known.pairs:,} pairs)", clear, weight))
    return Table(("metric", "ρ", "interval", "", "proposed weight"), rows, title)


def quarterly_blocks(quarter: Quarter) -> list[Block]:
    """The quarterly report: whether thresholds still fit."""
    return list(_quarterly(quarter))


def _quarterly(quarter: Quarter) -> Iterator[Block]:
    yield _title(quarter.suite.name, "quarter", quarter.start, quarter.end)
    yield Line(
        f"{counted(quarter.evaluations, 'evaluation')} of the quarter. A proposed pass value is one that "
        "nine of ten of them reach, with the fail zone as far from it as now. These are proposals: "
        "thresholds change by a reviewed commit to gates.yaml, and by nothing else."
    )
    unit = units(quarter.suite)
    rows = [_proposal(each, unit.get(each.metric, "fraction")) for each in quarter.proposals]
    header = ("metric", "now", "proposed", "", "would have blocked", "would have let through")
    yield Table(header, rows, "Thresholds")
    loose = [each.metric for each in quarter.proposals if each.kind == "loosen"]
    if loose:
        yield Line(
            f"{', '.join(loose)}: fewer than nine of ten evaluations pass. A looser threshold would hide "
            "that; better find out why (eval-pipeline investigate)."
        )


def _proposal(each: Proposal, unit: Unit) -> tuple[str | Cell, ...]:
    now = f"fail {each.fails.text(unit)}, pass {each.passes.text(unit)}"
    if each.new_fails is None or each.new_passes is None:
        why = "as it is" if each.kind == "keep" else f"{counted(each.evaluations, 'evaluation')}: too few"
        return each.metric, now, "–", Cell(why, "dim"), "", ""
    new = f"fail {each.new_fails.text(unit)}, pass {each.new_passes.text(unit)}"
    state = Cell("tighten", "green") if each.kind == "tighten" else Cell("loosen: not advised", "yellow")
    return each.metric, now, new, state, _versions(each.blocked), _versions(each.let_through)


def _versions(names: Sequence[str]) -> str:
    distinct = sorted(set(names))
    more = f" and {len(distinct) - 3:,} more versions" if len(distinct) > 3 else ""
    return f"{len(names):,}: {', '.join(distinct[:3])}{more}" if names else "0"


def _title(suite: str, what: str, start: datetime.datetime, end: datetime.datetime) -> Heading:
    last = end - datetime.timedelta(microseconds=1)
    return Heading(f"{suite} in production: the {what} from {start:%Y-%m-%d} to {last:%Y-%m-%d}", 1)


def _short(text: str) -> str:
    flat = " ".join(text.split())
    return flat if len(flat) <= LONGEST else f"{flat[: LONGEST - 1]}…"
