"""The report on an evaluation as a page: verdict and numbers first, then every case."""

from __future__ import annotations

import dataclasses
import shlex
from collections.abc import Iterator
from itertools import chain, islice

from msgspec.structs import replace

from eval_pipeline.decisions import Objections, approving
from eval_pipeline.numbers import counted, moment, number
from eval_pipeline.reports.by_case import by_case
from eval_pipeline.reports.cases import (
    MOST_DIAGNOSES,
    cause_lines,
    hidden_problems,
    named_things,
    passes,
    size_of,
)
from eval_pipeline.reports.comparison import MOST_CASES as MOST_LISTED
from eval_pipeline.reports.markdown import flat, readable
from eval_pipeline.reports.page.cases import case_data
from eval_pipeline.reports.page.findings import Findings
from eval_pipeline.reports.page.html import Html, bullets, command, element, joined, section, table, unfolding
from eval_pipeline.reports.page.numbers import (
    compared_table,
    comparison_section,
    gated_table,
    number_sections,
)
from eval_pipeline.reports.page.shell import document, main, masthead
from eval_pipeline.reports.report import LONGEST_LINE, objection_lines
from eval_pipeline.reports.rows import Table
from eval_pipeline.reports.tables import (
    error_table,
    gate_label,
    metric_table,
    model_notes,
    shown_value,
    units,
)
from eval_pipeline.scoring import WORST_CASES, Summary

MOST_CASES = 20_000
"""So many cases stand on a page; more would make a file that no browser opens."""
SCRIPTS = ("diff.min.js", "report.js")
PARTS = (
    ("overview", "Overview"),
    ("cases", "Cases"),
    ("comparisons", "Comparisons"),
    ("groups", "Groups and tables"),
    ("identity", "Identity"),
)


def report_page(findings: Findings, *, texts: bool = True) -> str:
    """The page in one file; without texts it holds neither inputs, prompts, answers nor expectations."""
    found = findings if texts else _without_texts(findings)
    comparisons = [each.comparison for each in found.standings.all]
    only = _to_be_seen(found)
    cases = case_data(found.suite, found.summary, found.exhibits, comparisons, texts=texts, only=only)
    sign, _, verdict = found.verdict[0].partition(" ")
    title = f"{sign} {found.name} {verdict}"
    body = joined(
        [
            masthead(title, _navigation(found)),
            main(
                _overview(found, texts),
                _cases(found, texts),
                _comparisons(found, texts),
                section(
                    "Groups and tables",
                    *number_sections(found, texts=texts),
                    anchor="groups",
                ),
                section("Identity", table(_identity(found)), anchor="identity"),
            ),
            element(
                "footer",
                "One file: it asks nobody for anything. ",
                *([] if texts else ["Texts were left out."]),
            ),
        ]
    )
    prompts = [each.prompt for each in found.exhibits.all] if texts else None
    nodes = {"index": cases.index, "prompts": prompts, **cases.parts}
    return document(f"{found.suite.name}: {title}", body, SCRIPTS, nodes)


def _to_be_seen(found: Findings) -> frozenset[str] | None:
    """The cases that stand on the page where they are too many: those that fell, then the worst, then others.

    None where all of them do. Those that are listed as risen are links, and so are there, too.
    """
    if found.scores.case_count <= MOST_CASES:
        return None
    comparisons = [each.comparison for each in found.standings.all]
    rose = (each.case_id for one in comparisons for each in one.improved[:MOST_LISTED])
    fell = (each.case_id for one in comparisons for each in one.regressed)
    worst = (each.case_id for each in found.results)
    ordered = dict.fromkeys(chain(rose, fell, worst, found.scores.case_ids))
    return frozenset(islice(ordered, MOST_CASES))


def _without_texts(findings: Findings) -> Findings:
    """The same without examples of errors, which quote what a model wrote."""
    evaluation = findings.evaluation
    if evaluation is None or evaluation.outage is None:
        return findings
    silent = replace(
        evaluation.outage, examples=dict.fromkeys(evaluation.outage.examples, "texts were left out")
    )
    others = [each for each in findings.against if each.weight != "voids"]
    voids = [each._replace(text=silent.text) for each in findings.against if each.weight == "voids"]
    return dataclasses.replace(
        findings, evaluation=replace(evaluation, outage=silent), against=Objections([*voids, *others])
    )


def _navigation(found: Findings) -> Html:
    parts = [(anchor, name) for anchor, name in PARTS if anchor != "comparisons" or found.standings.all]
    links = (element("a", name, href=f"#{anchor}") for anchor, name in parts)
    return element("nav", *links, class_="screen", aria_label="parts of this page")


def _overview(found: Findings, texts: bool) -> Html:
    """The first screen: verdict, what it was compared with, numbers, what to do."""
    summary, suite = found.summary, found.suite
    lines = objection_lines(found.against) if found.evaluation else _failing(summary)
    verdict = element(
        "div",
        bullets(flat(line, LONGEST_LINE) for line in lines)
        or element(
            "p",
            "Every gate passes, and no comparison speaks against it."
            if found.evaluation
            else "Every gate passes.",
        ),
        class_=f"verdict {found.verdict[1]}",
    )
    named = cause_lines(named_things(suite, summary, found.scores)) if texts else []
    problems = hidden_problems(summary) if texts else ""
    notes = [*([problems] if problems else []), *(found.standings.notes), *model_notes(summary)]
    if found.stopping:
        notes.append(found.stopping.text)
    comparisons = [each.comparison for each in found.standings.all]
    return element(
        "section",
        element("h2", "Overview", id="overview", class_="hidden"),
        element("p", _subject(found), class_="lead"),
        verdict,
        element("div", *_cards(found), class_="cards"),
        element(
            "div",
            element(
                "div",
                _compared_with(found),
                table(gated_table(suite, summary, comparisons, found.history), "metrics"),
            ),
            _next(found),
            class_="first",
        ),
        unfolding(
            "What stands behind the gates that do not pass",
            bullets(flat(line, LONGEST_LINE) for line in named),
        ),
        unfolding("All metrics", table(metric_table(suite, summary))),
        unfolding("Notes", bullets(flat(note, LONGEST_LINE) for note in notes)),
        _errors(found, texts),
    )


def _subject(found: Findings) -> str:
    outputs = found.evaluation.identity.outputs if found.evaluation else None
    engine = f", on engine {outputs.engine} ({outputs.model})" if outputs else ""
    return flat(f"{found.suite.description} {size_of(found.summary)}{engine}.", LONGEST_LINE)


def _failing(summary: Summary) -> list[str]:
    signs = {"fail": "✗", "warn": "⚠"}
    return [
        f"{signs[each.status]} {each.metric}: {each.text}" for each in summary.gates if each.status in signs
    ]


def _cards(found: Findings) -> Iterator[Html]:
    suite, summary, costs = found.suite, found.summary, found.costs
    gates = {gate.metric: gate for gate in summary.gates}
    label = gate_label(gates[suite.headline]) if suite.headline in gates else None
    zone = element("span", label.text, class_=label.colour) if label else ""
    yield _card(
        suite.headline, shown_value(summary.metrics[suite.headline], units(suite)[suite.headline]), zone
    )
    results = found.results
    always = sum(each.passed == each.trials for each in results)
    yield _card(
        "cases that pass in every trial", f"{always:,} of {len(results):,}", counted(summary.trials, "trial")
    )
    yield _card("errors", f"{summary.error_count:,}", ", ".join(summary.errors))
    if costs is not None and costs.spent:
        spent = "unknown" if costs.cost_usd is None else number(costs.cost_usd, "dollars")
        tokens = counted(costs.tokens, "token") if costs.tokens is not None else ""
        yield _card("cost", spent, tokens)
    if costs is not None and costs.latency_p50_ms is not None:
        late = f"95 % within {number(costs.latency_p95_ms, 'milliseconds')}"
        yield _card("latency, median", number(costs.latency_p50_ms, "milliseconds"), late)
    if found.evaluation:
        yield _card(
            "evaluated",
            moment(found.evaluation.created_at),
            counted(len(found.history), "comparable evaluation"),
        )


def _card(what: str, value: str, more: str = "") -> Html:
    return element(
        "div",
        element("span", what, class_="what"),
        element("span", value, class_="value"),
        element("span", more, class_="more") if more else "",
        class_="card",
    )


def _compared_with(found: Findings) -> Html:
    """What it was compared with, and what it was not compared with, and why."""
    if found.evaluation is None:
        return Html("")
    lines: list[str] = []
    if found.evaluation.outage:
        lines.append("Not compared, since the evaluation is incomplete.")
    elif found.standings.baseline is None:
        lines.append("There is no baseline to compare with.")
    if found.standings.missing:
        lines.append(f"Not compared with what it would replace: {found.standings.missing}")
    content = compared_table(found.suite, found.standings.all)
    return joined(
        [table(content) if content.rows else "", bullets(flat(line, LONGEST_LINE) for line in lines)]
    )


def _errors(found: Findings, texts: bool) -> Html:
    if found.costs is None or not found.costs.errors:
        return Html("")
    content = error_table(found.costs)
    if not texts:
        content = Table(
            [each for each in content.header if each != "for example"],
            [[row[0], row[1], row[3]] for row in content.rows],
        )
    return unfolding(f"Errors by kind ({found.costs.error_count:,})", table(content))


def _next(found: Findings) -> Html:
    """What to do, as commands to copy."""
    steps = list(_steps(found))
    if not steps:
        return Html("")
    shown = (joined([element("p", why, class_="why"), command(text)]) for why, text in steps)
    return element("div", element("h3", "What to do next"), *shown, class_="next")


def _steps(found: Findings) -> Iterator[tuple[str, str]]:
    evaluation = found.evaluation
    if evaluation is None:
        return
    suite, version = found.suite.name, evaluation.identity.outputs.version
    if evaluation.outage or evaluation.identity.outputs.case_sample:
        why = "Ask what was not answered:" if evaluation.outage else "Evaluate all cases:"
        yield why, f"eval-pipeline run {suite} --prompt {version}"
        return
    if found.against.holding:
        yield "See what the failures have in common:", f"eval-pipeline investigate {suite} {version}"
    if worst := next((each for each in evaluation.case_results if each.passed < each.trials), None):
        yield (
            "See the worst case on the screen:",
            f"eval-pipeline case {suite} {version} {shlex.quote(worst.case_id)}",
        )
    if found.proposal:
        yield "Make it the baseline:", f"eval-pipeline baseline promote {suite} {version} --reason …"
    elif found.standings.baseline is None:
        yield (
            "Make it the baseline to compare with:",
            f"eval-pipeline baseline promote {suite} {version} --reason …",
        )
    else:
        yield "See the comparison on the screen:", f"eval-pipeline compare {suite} --prompt {version}"
    for text in approving(suite, version, found.against):
        yield "Let it pass all the same:", text


def _cases(found: Findings, texts: bool) -> Html:
    """Where the script shows every case; without scripts, the worst ones."""
    worst = found.results[:WORST_CASES]
    scores = by_case(found.suite, found.scores.restricted([each.case_id for each in worst]))
    unit = units(found.suite)[found.suite.headline]
    parts = []
    for result in worst:
        headline = (
            f"{flat(result.case_id)}: {found.suite.headline} {number(result.headline, unit)}, "
            f"passed {result.passed:,} of {counted(result.trials, 'trial')}"
        )
        wrong = {
            f"{each.kind.replace('_', ' ')}{f': {flat(each.expected or each.got)}' if texts else ''}": None
            for trial in scores[result.case_id].trials
            for each in trial.diagnoses
        }
        parts.append(joined([element("h3", headline), bullets(list(wrong)[:MOST_DIAGNOSES])]))
    without = element(
        "p", "These are the worst cases. A browser with scripts shows every one that is in this file."
    )
    return element(
        "section",
        element("h2", "Cases", id="cases"),
        element("p", readable(passes(found.results))) if found.results else "",
        element("p", _left_out(found)) if found.scores.case_count > MOST_CASES else "",
        element("div", without, *parts, id="explorer"),
    )


def _left_out(found: Findings) -> str:
    """That not every case stands on the page, and where the others are."""
    some = f"{MOST_CASES:,} of {counted(found.scores.case_count, 'case')} stand on this page"
    command_ = f"eval-pipeline case {found.suite.name} {found.name} ID"
    others = f" Any other is shown by: {command_}" if found.evaluation else ""
    return f"{some}: those that fell, then the worst.{others}"


def _comparisons(found: Findings, texts: bool) -> Html:
    """Each comparison in full, beside the difference of the prompts."""
    labels = [each.label for each in found.exhibits.all]
    parts = []
    for standing in found.standings.all:
        place = labels.index(standing.comparison.before, 1) if standing.comparison.before in labels[1:] else 0
        prompts = (found.exhibits.all[place].prompt, found.exhibits.own.prompt) if place and texts else None
        parts.append(comparison_section(found.suite, standing, place, prompts))
    return section("Comparisons", *parts, anchor="comparisons")


def _identity(found: Findings) -> Table:
    evaluation = found.evaluation
    if evaluation is None:
        return Table(("what", "value"), [("suite", found.suite.name), ("outputs", found.name)])
    identity = evaluation.identity
    return Table(
        ("what", "value"),
        [
            ("suite", found.suite.name),
            ("version", identity.outputs.version),
            ("engine", f"{identity.outputs.engine} ({identity.outputs.model})"),
            ("evaluation", evaluation.id),
            ("prompt", identity.outputs.prompt_hash),
            ("golden set", identity.golden_hash),
            ("scoring code", identity.scorer),
            ("sample", identity.outputs.sample),
            ("evaluated at", evaluation.created_at),
        ],
    )
