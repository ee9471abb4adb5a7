"""The dashboard's part on production: what users get, suite by suite, over time."""

from collections.abc import Iterator, Sequence
from urllib.parse import quote

from eval_pipeline.decisions import Incident, Sampled, Served, Survey
from eval_pipeline.monitoring import FIGURES, aims_of
from eval_pipeline.numbers import NOTHING, counted, number
from eval_pipeline.reports.charts import inline
from eval_pipeline.reports.markdown import flat
from eval_pipeline.reports.page.html import Html, bullets, card, command, element, section, table, unfolding
from eval_pipeline.reports.page.verdicts import LONGEST_LINE, MOST_LINES
from eval_pipeline.reports.panels import SEVERITIES, Panel, described, incidents_of, panels, quality_panels
from eval_pipeline.reports.production import figure_table, simulated_note, stretch_of
from eval_pipeline.reports.quality import quality_table
from eval_pipeline.reports.rows import Table
from eval_pipeline.reports.standing import incident_table
from eval_pipeline.reports.trend_lines import Key, legend_of

ANCHOR = "production"
MOST_ROWS = 20
LATEST = ("requests_per_minute", "latency_p50_ms", "latency_p95_ms", "latency_p99_ms", "error_rate")
LATELY = ("requests", "cost_usd", "feedback_points")


def production(survey: Survey) -> Html:
    """Everything about production; it says so where there are no events."""
    names = {each.suite.name for each in survey.served}
    without = [each.name for each in survey.suites if each.name not in names]
    return section("Production", *_content(survey, without), anchor=ANCHOR)


def _content(survey: Survey, without: Sequence[str]) -> Iterator[Html]:
    if survey.problems:
        yield element("p", "✗ What users get cannot be said.", class_="red")
        yield bullets(flat(problem, LONGEST_LINE) for problem in survey.problems[:MOST_LINES])
        return
    if survey.served:
        links = [element("a", flat(each.suite.name), href=f"#{_anchor(each)}") for each in survey.served]
        yield element(
            "p", "What users get, from events that were counted once; all times are UTC. ", *_listed(links)
        )
    for each in survey.served:
        yield _suite(each, survey)
    if without:
        yield element("p", f"Without events: {', '.join(map(flat, without))}.", class_="note")
    if not survey.served:
        yield command("eval-pipeline events ingest")


def _listed(links: Sequence[Html]) -> Iterator[str]:
    for number_, link in enumerate(links):
        yield ", " if number_ else "Suites with events: "
        yield link
    yield "."


def _anchor(served: Served) -> str:
    return f"{ANCHOR}-{quote(served.suite.name)}"


def _suite(served: Served, survey: Survey) -> Html:
    found = incidents_of(served.suite.name, survey.incidents, served.days)
    by_hour, by_day = panels(served, found)
    simulated = element("span", "simulated", class_="badge yellow") if served.days.whole.simulated else ""
    note = simulated_note([served.days.whole])
    parts = [
        element("h3", served.suite.name, " ", simulated, id=_anchor(served)),
        element("p", f"{note} They never happened.", class_="yellow") if note else "",
        _cards(served, found),
        _legend(by_hour, found),
        *_trends(f"By hour, {stretch_of(served.hours.whole)}", by_hour, served),
        *_trends(f"By day, {stretch_of(served.days.whole)}", by_day, served),
        *_quality(served, served.sampled, found),
        *_incidents(found),
        *_tables(served),
    ]
    return element("section", *parts, class_="served")


def _cards(served: Served, found: Sequence[Incident]) -> Html:
    latest, week = served.latest, served.hours.whole
    hour = f"{stretch_of(latest)}, the latest hour"
    cards = [(_words(name), number(latest.value(name), FIGURES[name].unit), hour) for name in LATEST]
    cards += [
        (_words(name), number(week.value(name), FIGURES[name].unit), stretch_of(week)) for name in LATELY
    ]
    open_ = sum(each.closed_at is None for each in found)
    cards.append(("open incidents", f"{open_:,}", f"{len(found):,} in {stretch_of(served.days.whole)}"))
    return element("div", *(card(*each) for each in cards), class_="cards even")


def _words(name: str) -> str:
    return name.replace("_", " ")


def _legend(drawn: Sequence[Panel], found: Sequence[Incident]) -> Html:
    """What the lines are that panels have in common, and what a coloured stretch means."""
    longest = max((each.lines for each in drawn if each.figure), key=len, default=())
    keys = list(legend_of(longest, baseline=False))
    for severity, colour in SEVERITIES.items():
        if any(each.severity == severity for each in found):
            stroke = f'<rect y="2" width="22" height="13" fill="{colour}" fill-opacity="0.3"/>'
            keys.append(
                Key(f'{stroke}<rect y="2" width="22" height="3" fill="{colour}"/>', f"{severity} incident")
            )
    return _keys(keys)


def _keys(keys: Sequence[Key]) -> Html:
    items = (
        element("li", Html(inline(key.svg, f"drawn like this: {key.name}")), flat(key.name)) for key in keys
    )
    return element("ul", *items, class_="keys")


def _trends(title: str, drawn: Sequence[Panel], served: Served) -> Iterator[Html]:
    if drawn:
        aims = {aim.figure: aim.wanted for aim in aims_of(served.hours.whole, served.settings.targets)}
        yield element("h4", title)
        yield element(
            "div", *(_figure(panel, aims.get(panel.figure, "")) for panel in drawn), class_="trends"
        )


def _figure(panel: Panel, wanted: str) -> Html:
    own = [] if panel.figure else [_keys(list(legend_of(panel.lines, baseline=False)))]
    shown = number(panel.value, panel.unit) if panel.value is not None else ""
    caption = element(
        "figcaption",
        element("b", panel.title),
        element("span", shown, class_="value"),
        element("span", f"target {wanted}" if wanted else "", class_="more"),
    )
    return element("figure", caption, Html(inline(panel.svg(), described(panel))), *own, class_="trend")


def _quality(served: Served, sampled: Sampled | None, found: Sequence[Incident]) -> Iterator[Html]:
    yield element("h4", "Quality by sample")
    if sampled is None:
        yield element("p", "No sample of these days was measured yet.")
        yield command(f"eval-pipeline quality {served.suite.name}")
        return
    yield table(quality_table(served.suite, sampled.together, served.settings.quality))
    drawn = list(quality_panels(served, sampled, found))
    targets = served.settings.quality
    wanted = {
        name: estimate.wanted(targets[name])
        for name, estimate in sampled.together.estimates.items()
        if name in targets
    }
    if drawn:
        yield element(
            "div", *(_figure(panel, wanted.get(panel.title, "")) for panel in drawn), class_="trends"
        )


def _incidents(found: Sequence[Incident]) -> Iterator[Html]:
    yield element("h4", "Incidents")
    if not found:
        yield element("p", "There are none.")
        return
    more = len(found) - MOST_ROWS
    yield table(
        incident_table(found[:MOST_ROWS])._replace(note=f"and {more:,} older ones" if more > 0 else "")
    )


def _tables(served: Served) -> Iterator[Html]:
    groups = served.groups[:MOST_ROWS]
    more = len(served.groups) - len(groups)
    note = f"{counted(more, 'other')} with fewer requests are left out." if more > 0 else ""
    content = figure_table(groups)
    yield unfolding(
        f"By version and model, {stretch_of(served.hours.whole)}",
        table(content._replace(note=" ".join(filter(None, (content.note, note))))),
    )
    yield unfolding("By day", table(figure_table(served.days.every)))
    errors = sorted(served.days.whole.errors.items(), key=lambda each: (-each[1], each[0]))
    rows = [(kind or NOTHING, f"{count:,}") for kind, count in errors[:MOST_ROWS]]
    others = (
        f"{counted(len(errors) - MOST_ROWS, 'rarer kind')} are left out." if len(errors) > MOST_ROWS else ""
    )
    yield unfolding("Errors by kind", table(Table(("kind", "requests"), rows, note=others)) if rows else "")
