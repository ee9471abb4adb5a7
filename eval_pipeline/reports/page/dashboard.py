"""The dashboard: all suites of a project on one page."""

from collections.abc import Iterator, Sequence
from urllib.parse import quote

from eval_pipeline.decisions import MOST_INCIDENTS, SuiteSurvey, Survey, VersionSurvey
from eval_pipeline.numbers import NOTHING, counted, moment
from eval_pipeline.reports.charts import BLUE, GREY, ZONE_COLOURS, Bar, bars
from eval_pipeline.reports.history import history_table
from eval_pipeline.reports.markdown import flat
from eval_pipeline.reports.page.html import (
    Html,
    bullets,
    card,
    cell,
    chart,
    command,
    element,
    joined,
    section,
    table,
    unfolding,
)
from eval_pipeline.reports.page.production import ANCHOR, production
from eval_pipeline.reports.page.shell import document, main, masthead
from eval_pipeline.reports.page.trends import prompts_of, trend_figures
from eval_pipeline.reports.page.verdicts import LONGEST_LINE, MOST_LINES, Links, verdict
from eval_pipeline.reports.rows import Cell
from eval_pipeline.reports.standing import (
    MOST_ROWS,
    STATES,
    Stand,
    by_day,
    cost_table,
    incident_table,
    side_table,
    since,
    spent,
    stand_table,
    stands,
    tasks,
)
from eval_pipeline.suite import Suite

UNBROKEN = "\u00a0"
"""A space at which no line ends."""
MOST_EVALUATIONS = 10
MOST_DAYS = 14


def dashboard(survey: Survey, links: Links) -> str:
    """The whole page."""
    at, rows = survey.at.isoformat(timespec="seconds"), stands(survey)
    body = joined(
        [
            masthead("Evaluations", element("span", "as of ", _time(at, moment(at)), class_="muted")),
            main(
                _parts(survey),
                _cards(survey, rows),
                _filters(survey, rows),
                section("Versions in use", _stands(survey, rows, links), anchor="versions"),
                section("What waits for somebody", _tasks(survey), anchor="tasks"),
                *(_suite(each, rows, survey, links) for each in survey.suites),
                production(survey),
                section("Incidents", _incidents(survey), anchor="incidents"),
                section("What metered calls cost", _costs(survey), anchor="costs"),
            ),
            element(
                "footer",
                element("p", "Zones, from the best: ", *_zones(), ". A vertical line is a 95 % interval."),
                element(
                    "p",
                    "Written anew after every evaluation, and by ",
                    element("code", "eval-pipeline dashboard"),
                    ".",
                ),
            ),
        ]
    )
    return document("Evaluations", body, ("dashboard.js",))


def _parts(survey: Survey) -> Html:
    """Where the parts of the page begin."""
    parts = {"versions": "Versions in use", "tasks": "What waits for somebody"}
    parts |= {ANCHOR: f"Production ({counted(len(survey.served), 'suite')} with events)"}
    parts |= {"incidents": "Incidents", "costs": "Costs"}
    links = (element("a", title, href=f"#{anchor}") for anchor, title in parts.items())
    return element("nav", *links, aria_label="parts of this page")


def _zones() -> Iterator[str]:
    for number, zone in enumerate(ZONE_COLOURS):
        yield ", " if number else ""
        yield element("span", zone, class_=f"zone {zone}")


def _time(iso: str, shown: str) -> Html:
    return element("time", shown, datetime=iso)


def _age(iso: str, survey: Survey) -> Html:
    """How old something is; the page's script keeps it true."""
    if not iso:
        return cell(Cell(NOTHING, "dim"))
    return element("time", since(iso, survey.at), datetime=iso, class_="age", title=moment(iso))


def _cards(survey: Survey, rows: Sequence[Stand]) -> Html:
    good = sum(row.state in ("pass", "warn", "approved") for row in rows)
    stopped = [row for row in rows if row.state in ("block", "incomplete")]
    unknown = [row for row in rows if row.state in ("unknown", "broken")]
    open_ = [each for each in survey.incidents if each.closed_at is None]
    unsigned = [each.name for each in survey.suites if each.unsigned]
    answered = [row.answered_at for row in rows if row.answered_at]
    cards = [
        ("versions in use", f"{good:,} of {len(rows):,} pass", f"in {counted(len(survey.suites), 'suite')}"),
        ("blocked or incomplete", f"{len(stopped):,}", _few([row.suite for row in stopped])),
        ("without an evaluation", f"{len(unknown):,}", _few([row.suite for row in unknown])),
        ("open incidents", f"{len(open_):,}", _few([each.subject for each in open_])),
        ("unsigned golden sets", f"{len(unsigned):,}", _few(unsigned)),
        ("cost, latest day", *_latest_cost(survey)),
        ("oldest answers", _age(min(answered, default=""), survey), "of the versions in use"),
    ]
    return element("div", *(card(*each) for each in cards), class_="cards even")


def _few(names: Sequence[str]) -> str:
    distinct = list(dict.fromkeys(names))
    return ", ".join(distinct[:3]) + (f" and {len(distinct) - 3:,} more" if len(distinct) > 3 else "")


def _latest_cost(survey: Survey) -> tuple[str, str]:
    day, rows = next(iter(by_day(survey.usage).items()), ("", []))
    return (spent(rows), day) if day else (NOTHING, "no metered call so far")


def _tasks(survey: Survey) -> Html:
    waiting = tasks(survey)
    if not waiting:
        return element(
            "p", "Nothing: every version in use passes, is compared, and rests on signed golden sets."
        )
    items = [
        element(
            "li",
            cell(task.sign),
            element("span", _anchor(task.suite), f" {flat(task.what, LONGEST_LINE)}"),
            command(task.command) if task.command else "",
        )
        for task in waiting
    ]
    return element("ul", *items, class_="tasks")


def _anchor(suite: str) -> Html:
    return element("a", flat(suite), href=f"#suite-{quote(suite)}")


def _filters(survey: Survey, rows: Sequence[Stand]) -> Html:
    """What narrows the page down; without scripts it would do nothing, and is not shown."""
    engines = sorted({flat(point.engine) for each in survey.suites for point in each.points})
    present = {row.state for row in rows}
    choices = {
        "suite": {each.name: each.name for each in survey.suites},
        "engine": {engine: engine for engine in engines},
        "status": {state: name for state, name in STATES.items() if state in present},
    }
    controls = [
        element(
            "label",
            f"{name} ",
            element(
                "select",
                element("option", "all", value=""),
                *(element("option", flat(shown), value=value) for value, shown in options.items()),
                data_filter=name,
            ),
        )
        for name, options in choices.items()
    ]
    search = element("label", "text ", element("input", type="search", data_filter="text"))
    count = element("output", "", id="shown")
    label = "Filters"
    return element(
        "div",
        *controls,
        search,
        count,
        class_="filters screen",
        role="search",
        aria_label=label,
        hidden=True,
        id="filters",
    )


def _stands(survey: Survey, rows: Sequence[Stand], links: Links) -> Html:
    versions = {(each.name, version.version): version for each in survey.suites for version in each.versions}
    content = stand_table(rows, survey.at)
    shown = [
        (
            _marked(row),
            row.verdict,
            _version(row, versions.get((row.suite, row.version)), links),
            row.engine or NOTHING,
            row.headline._replace(text=row.headline.text.replace(" %", f"{UNBROKEN}%")),
            row.against,
            _age(row.answered_at, survey),
            row.reason,
        )
        for row in rows
    ]
    return table(content._replace(rows=shown), "stands")


def _marked(row: Stand) -> Html:
    """The name of a suite, with what filters look at."""
    return element(
        "a",
        row.suite,
        href=f"#suite-{quote(row.suite)}",
        data_suite=row.suite,
        data_engine=flat(row.engine),
        data_status=row.state,
    )


def _version(row: Stand, version: VersionSurvey | None, links: Links) -> Html:
    address = links.report(version) if version else ""
    return element("a", row.version, href=address) if address else cell(row.version or NOTHING)


def _suite(each: SuiteSurvey, rows: Sequence[Stand], survey: Survey, links: Links) -> Html:
    """Everything of a suite. What filters look at stands on its section."""
    own = [row for row in rows if row.suite == each.name]
    engines = sorted({flat(point.engine) for point in each.points} | {flat(row.engine) for row in own})
    heading = element("h2", each.name, id=f"suite-{quote(each.name)}")
    return element(
        "section",
        heading,
        *(_content(each, each.suite, survey, links) if each.suite else _broken(each)),
        class_="suite",
        data_suite=each.name,
        data_engine="\n".join(engines),
        data_status="\n".join(dict.fromkeys(row.state for row in own)),
    )


def _broken(each: SuiteSurvey) -> Iterator[Html]:
    yield element("p", "✗ The suite cannot be loaded, so nothing of it is evaluated.", class_="red")
    yield bullets(flat(problem, LONGEST_LINE) for problem in each.problems[:MOST_LINES])
    if each.points:
        yield element(
            "p", f"{counted(len(each.points), 'earlier evaluation')} cannot be shown.", class_="note"
        )


def _content(each: SuiteSurvey, suite: Suite, survey: Survey, links: Links) -> Iterator[Html]:
    signed = "not signed off" if each.unsigned else "signed off"
    week = links.week(each.name)
    yield element(
        "p",
        suite.description,
        " ",
        element("span", f"{counted(each.cases, 'golden case')}, {signed}.", class_="muted"),
        *([" ", element("a", "The latest weekly page", href=week), "."] if week else []),
    )
    for version in each.active:
        yield verdict(each.name, version, links)
    prompts = prompts_of(each)
    for prompt in prompts:
        if len(prompts) > 1:
            yield element("h3", prompt)
        yield trend_figures(each, suite, prompt)
    if each.points:
        yield element("h3", "Versions and engines side by side")
        yield table(side_table(each, suite, survey.at), "sides")
        drawn = [point for point in each.points if not point.replay]
        more = len(drawn) - MOST_EVALUATIONS
        title = f"The last {counted(min(len(drawn), MOST_EVALUATIONS), 'evaluation')}" + (
            f" of {len(drawn):,}" if more > 0 else ""
        )
        yield unfolding(title, table(history_table(suite, each.gates, drawn[-MOST_EVALUATIONS:])))


def _incidents(survey: Survey) -> Html:
    if not survey.incidents:
        return element("p", "There are none.")
    shown = survey.incidents[:MOST_ROWS]
    more = len(survey.incidents) - len(shown)
    at_least = "at least " if len(survey.incidents) == MOST_INCIDENTS else ""
    note = f"{at_least}{more:,} older ones are left out: see the asset alerts." if more > 0 else ""
    return table(incident_table(shown)._replace(note=note))


def _costs(survey: Survey) -> Html:
    if not survey.usage:
        return element("p", "No metered call so far: embedded and recorded engines cost nothing.")
    days = dict(list(by_day(survey.usage).items())[:MOST_DAYS])
    dollars = {day: sum(row.dollars or 0.0 for row in rows) for day, rows in days.items()}
    largest = max(dollars.values()) or 1.0
    drawn = bars(
        f"Dollars by day, the latest {counted(len(days), 'day')}",
        [
            Bar(day, dollars[day] / largest, BLUE if dollars[day] else GREY, spent(rows))
            for day, rows in days.items()
        ],
    )
    return joined(
        [
            chart(drawn, "Dollars by day"),
            unfolding("Calls and tokens by day", table(cost_table(survey.usage))),
        ]
    )
