"""The tables and charts of a report's page: gated metrics, comparisons, groups, confusion matrices."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from difflib import unified_diff
from urllib.parse import urlencode

from eval_pipeline.comparison import Comparison
from eval_pipeline.decisions import Standing
from eval_pipeline.numbers import NOTHING, change, counted, number
from eval_pipeline.reports.charts import GREY, Bar, bars, spark
from eval_pipeline.reports.comparison import (
    INTERVAL,
    VERDICT_COLOURS,
    comparison_table,
    group_table,
    left_out,
    moved_tables,
    reading_lines,
    weight_table,
)
from eval_pipeline.reports.markdown import flat
from eval_pipeline.reports.page.cases import cell_name
from eval_pipeline.reports.page.findings import Findings
from eval_pipeline.reports.page.html import (
    Html,
    bullets,
    cell,
    chart,
    element,
    joined,
    section,
    table,
    unfolding,
)
from eval_pipeline.reports.pictures import comparison_chart
from eval_pipeline.reports.report import LONGEST_LINE
from eval_pipeline.reports.rows import Cell, Table
from eval_pipeline.reports.tables import cross_tables, group_tables, metric_table, suite_tables, units
from eval_pipeline.scoring import CaseResult, Point, Summary
from eval_pipeline.suite import Rows, Suite

STEPS = 10
SHADES = 4


def link(text: str, **chosen: str) -> Html:
    """A link to the cases that something is about."""
    return element("a", text, href=f"#{urlencode(chosen)}")


def case_link(case_id: str) -> Html:
    """A link to one case."""
    return link(flat(case_id), case=case_id)


def gated_table(
    suite: Suite, summary: Summary, comparisons: Sequence[Comparison], history: Sequence[Point]
) -> Table:
    """The gated metrics at a glance: value, zone, interval, how they moved since each side, trend."""
    whole = metric_table(suite, summary)
    columns = [name for name in ("value", "zone", "sd", INTERVAL) if name in whole.header]
    moved = [_changes(suite, each) for each in comparisons]
    rows = []
    for row in whole.rows[: len(summary.gates)]:
        cells = dict(zip(whole.header, row, strict=True))
        name = str(cells["metric"])
        rows.append(
            [
                element("a", name, href=f"#{urlencode({'metric': name})}", id=f"metric-{name}"),
                *(cells[column] for column in columns),
                *(_moved(each[name]) if name in each else "" for each in moved),
                *([_trend([point.metrics.get(name) for point in history], name)] if history else []),
            ]
        )
    against = [f"against {each.before}" for each in comparisons]
    return Table(("metric", *columns, *against, *(["trend"] if history else [])), rows)


def _changes(suite: Suite, comparison: Comparison) -> dict[str, dict[str, str | Cell]]:
    """The cells of a comparison's table by metric and column."""
    content = comparison_table(suite, comparison)
    return {str(row[0]): dict(zip(content.header, row, strict=True)) for row in content.rows}


def _moved(cells: Mapping[str, str | Cell]) -> Html:
    """A difference with its verdict, and its interval below."""
    verdict = cells["verdict"]
    colour = verdict.colour if isinstance(verdict, Cell) else ""
    interval = element("span", str(cells[INTERVAL]), class_="interval") if cells[INTERVAL] != NOTHING else ""
    difference = element("span", str(cells["difference"]), class_=f"difference {colour}")
    return joined([difference, " ", cell(verdict), interval])


def compared_table(suite: Suite, standings: Sequence[Standing]) -> Table:
    """What an evaluation was compared with, and what came of it, by the headline."""
    rows = []
    for each in standings:
        cells = _changes(suite, each.comparison).get(suite.headline, {})
        action = "approved" if each.approved else each.action.replace("_", " ")
        rows.append(
            [
                {"baseline": "the baseline", "replaced": "what it would replace"}.get(
                    each.comparison.role, ""
                ),
                each.comparison.before,
                f"{cells.get('before', NOTHING)} → {cells.get('after', NOTHING)}",
                _moved(cells) if cells else "",
                f"{each.comparison.shared:,}",
                Cell(
                    f"{each.comparison.verdict}; {action}", VERDICT_COLOURS.get(each.comparison.verdict, "")
                ),
            ]
        )
    return Table(("compared with", "version", suite.headline, "difference", "cases", "conclusion"), rows)


def _trend(values: Sequence[float | None], metric: str) -> Html:
    known = [value for value in values if value is not None]
    if len(known) < 2:
        return element("span", NOTHING, class_="muted")
    description = f"{metric} over {counted(len(known), 'evaluation')}"
    return element("span", chart(spark(known), description), class_="spark")


def comparison_section(
    suite: Suite, standing: Standing, place: int, prompts: tuple[str | None, str | None] | None
) -> Html:
    """A comparison in full; `place` is where its side before stands among what can be looked at."""
    comparison = standing.comparison
    notes = (*reading_lines(comparison), *comparison.notes, *left_out(comparison))
    weighed, groups = weight_table(suite, comparison), group_table(suite, comparison)
    others = [
        each for each in moved_tables(suite, comparison) if each.title not in (weighed.title, groups.title)
    ]
    numbers = [
        element("p", flat(standing.conclusion, 2 * LONGEST_LINE)),
        bullets(flat(line, LONGEST_LINE) for line in notes),
        table(comparison_table(suite, comparison)),
        chart(comparison_chart(suite, comparison), f"differences from {comparison.before}"),
        _carried(suite, comparison),
        *(table(each) for each in (weighed, groups) if each.rows),
        *(unfolding(f"{each.title}: {len(each.rows):,}", table(_linked(each))) for each in others),
    ]
    content = joined(numbers)
    if prompts is not None:
        content = element("div", element("div", content), _prompt_difference(prompts, place), class_="beside")
    return section(f"Against {flat(comparison.before)}", content, level=3)


def _linked(content: Table) -> Table:
    """The same table without its title; cases are links."""
    rows = [[case_link(str(row[0])), *row[1:]] for row in content.rows]
    return Table(content.header, rows, note=content.note)


def _carried(suite: Suite, comparison: Comparison) -> Html:
    """The cases without which a pooled metric would differ the least."""
    unit = units(suite)
    lines = []
    for each in comparison.metrics:
        if each.gated and each.evidence and each.evidence.carried_by and each.verdict != "identical":
            cases = [
                joined([case_link(case.case_id), f" {change(case.difference, unit[each.metric])}"])
                for case in each.evidence.carried_by
            ]
            between = [part for case in cases for part in (", ", case)][1:]
            lines.append(joined([f"{each.metric} {change(each.difference, unit[each.metric])}: ", *between]))
    if not lines:
        return Html("")
    return joined([element("h4", "Cases that carry the result"), bullets(lines)])


def _prompt_difference(prompts: tuple[str | None, str | None], place: int) -> Html:
    """The prompts line by line; the script shows them word by word in its place."""
    before, after = prompts
    title = element("h4", "Difference of the prompts")
    if before is None or after is None:
        lost = "One of the prompts is not there any more as it was asked."
        return element("div", title, element("p", lost, class_="muted"))
    if before == after:
        return element("div", title, element("p", "The prompts are the same."))
    lines = unified_diff(before.splitlines(), after.splitlines(), lineterm="", n=3)
    text = "\n".join(list(lines)[2:])
    shown = element("pre", text, class_="text", tabindex="0")
    legend = element(
        "p", element("ins", "only in this version"), " ", element("del", "only before"), class_="legend"
    )
    return element("div", title, legend, element("div", shown, data_prompts=place), class_="prompts")


def number_sections(found: Findings, *, texts: bool) -> Iterator[Html]:
    """Distribution, groups, confusion matrices, the suite's own tables, versions side by side."""
    suite, summary = found.suite, found.summary
    yield distribution(suite, found.results)
    groups = zip(group_tables(suite, summary, found.scores), summary.groups, strict=True)
    part = {"part": "numbers"} if summary.held_out else {}
    yield element("div", *(table(_choosing(content, axis, part)) for content, axis in groups), class_="flow")
    for name in suite.reporting.confusions:
        if rows := summary.tables.get(name):
            yield confusion(name, rows)
    if texts:
        drawn = {name.replace("_", " ") for name in suite.reporting.confusions}
        own = (table(each) for each in suite_tables(suite, summary) if each.title not in drawn)
        yield element("div", *own, class_="flow")
    versions = cross_tables(suite, found.beside)
    if versions and texts:
        yield joined([element("h3", "Versions side by side"), *map(table, versions)])


def _choosing(content: Table, axis: str, part: Mapping[str, str]) -> Table:
    """A table of groups whose names choose the cases of the group."""
    rows = [[link(str(row[0]), **{f"by {axis}": str(row[0]), **part}), *row[1:]] for row in content.rows]
    return content._replace(rows=rows)


def confusion(name: str, rows: Rows) -> Html:
    """A confusion matrix: gold down, predicted across; each cell leads to its cases."""
    columns = [column for column in rows[0] if column]
    head = element("tr", element("td", "gold ↓ predicted →", class_="muted"), *map(_across, columns))
    body = []
    for row in rows:
        total = sum(row[column] for column in columns)
        cells = (_matrix_cell(name, str(row[""]), column, row[column], total) for column in columns)
        body.append(element("tr", element("th", flat(row[""]), scope="row"), *cells))
    title = f"{name.replace('_', ' ')}: a number leads to its cases"
    grid = element(
        "table",
        element("caption", title),
        element("thead", head),
        element("tbody", *body),
        class_="confusion",
    )
    return element("div", grid, class_="scroll", tabindex="0", role="region", aria_label=title)


def _across(column: str) -> Html:
    return element("th", element("span", flat(column)), scope="col")


def _matrix_cell(table_: str, gold: str, predicted: str, value: float, total: float) -> Html:
    if not value:
        return element("td")
    shade = min(SHADES, 1 + int(SHADES * value / total)) if total else 1
    right = "right" if gold == predicted else "wrong"
    leading = link(number(value, "number"), cell=f"{table_}: {cell_name(gold, predicted)}")
    return element("td", leading, class_=f"{right} shade-{shade}", title=f"{gold} taken for {predicted}")


def distribution(suite: Suite, results: Sequence[CaseResult]) -> Html:
    """How many cases have which value of the headline: each by itself, or in steps where there are many."""
    unit = units(suite)[suite.headline]
    values = sorted(each.headline for each in results if each.headline is not None)
    if len(values) < 2:
        return Html("")
    counts = Counter(number(value, unit) for value in values)
    if len(counts) > STEPS:
        low, width = values[0], (values[-1] - values[0]) / STEPS
        names = [
            f"{number(low + width * n, unit)} to {number(low + width * (n + 1), unit)}" for n in range(STEPS)
        ]
        places = Counter(min(STEPS - 1, int((value - low) / width)) for value in values)
        counts = Counter({name: places[place] for place, name in enumerate(names)})
    most = max(counts.values())
    rows = [Bar(name, count / most, GREY, counted(count, "case")) for name, count in counts.items()]
    title = f"{suite.headline} over {counted(len(values), 'case')}"
    return chart(bars(title, rows), title)
