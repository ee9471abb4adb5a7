"""The result of the gate as Markdown, JUnit and JSON."""

from __future__ import annotations

import datetime
import re
from collections.abc import Iterator, Sequence
from typing import Any, Literal
from xml.etree import ElementTree

import msgspec

from eval_pipeline.comparison import Comparison
from eval_pipeline.decisions import BROKEN, EXIT_CODES, SIGNS, Decision, Objections, Standing, State, worst
from eval_pipeline.numbers import counted
from eval_pipeline.reports.cases import hidden_problems
from eval_pipeline.reports.comparison import comparison_table, example_text, reading_lines
from eval_pipeline.reports.markdown import bullets, plain, table, tables
from eval_pipeline.reports.report import LONGEST_LINE, signed_lines
from eval_pipeline.reports.rows import Table
from eval_pipeline.reports.scores import score_report
from eval_pipeline.reports.tables import headline, metric_table, model_list
from eval_pipeline.suite import Suite

TITLES = {
    "pass": "✓ Prompt evaluation passes",
    "warn": "⚠ Prompt evaluation passes with warnings",
    "approved": "✓ Prompt evaluation passes, by approval",
    "block": "✗ Prompt evaluation blocks this change",
    "incomplete": "✗ Prompt evaluation is incomplete: answers never arrived",
    "not_evaluated": "✗ This change was not evaluated",
    "unusable": "✗ Prompt evaluation could not be done",
    "crashed": "✗ Prompt evaluation crashed",
}
_NOT_XML = re.compile(r"[^\t\n\r -\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


class Line(msgspec.Struct, frozen=True):
    """What the gate says of a version, for people and machines; no suite is needed any more to show it."""

    suite: str
    version: str
    cause: str
    state: State
    reasons: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()
    approved: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    stopping: str = ""
    headline: str = ""
    compared: str = ""
    details: str = ""
    """What is read of it in Markdown besides reasons, warnings and notes."""
    numbers: dict[str, Any] = {}
    """What machines read of it besides these."""
    measure: Literal["base", "own"] = "own"
    """Whose suite.yaml, gates, settings and scoring code it was measured with."""
    is_second: bool = False
    """Whether it stands beside the line by the base's measure."""

    @property
    def name(self) -> str:
        """The version, and by which measure where there are two."""
        return f"{self.version}, by the change's own measure" if self.is_second else self.version

    def weighed(self, objections: Objections) -> Line:
        """The same, with what else speaks against the change."""
        blocking = tuple(each.text for each in objections.blocking)
        approved = tuple(each.text for each in objections.approved)
        state = worst((self.state, objections.state))
        changed = {"reasons": (*self.reasons, *blocking), "approved": (*self.approved, *approved)}
        return msgspec.structs.replace(self, state=state, **changed)


def line_of(decision: Decision, suite: Suite | None = None) -> Line:
    """What is said of a decision; without its suite, the decision alone."""
    evaluation = decision.evaluation
    return Line(
        decision.suite,
        decision.version,
        decision.cause,
        decision.state,
        decision.reasons,
        decision.warnings,
        decision.approved,
        decision.notes,
        decision.stopping.text if decision.stopping else "",
        headline(suite, evaluation) if suite and evaluation else "",
        _compared(decision),
        "\n\n".join(filter(None, _details(decision, suite))),
        {
            "named": dict(decision.named),
            "stopping": msgspec.to_builtins(decision.stopping),
            "report": score_report(suite, evaluation.summary, decision.settings)
            if suite and evaluation
            else None,
            "outage": msgspec.to_builtins(evaluation.outage) if evaluation else None,
            "comparison": comparison_data(decision.standings.baseline)
            if decision.standings.baseline
            else None,
            "comparisons": [comparison_data(standing) for standing in decision.standings.all],
            "not_compared": decision.standings.missing,
        },
    )


def to_markdown(lines: Sequence[Line], untouched: Sequence[str]) -> str:
    """The summary for a pull request: verdict first, then every version."""
    parts = [f"# {TITLES[worst(each.state for each in lines)] if lines else '✓ Nothing to evaluate'}"]
    if lines:
        parts.append(table(gate_table(lines)))
    if untouched:
        parts.append(f"Not touched by this change: {plain(', '.join(untouched), LONGEST_LINE)}.")
    for each in lines:
        parts.append(f"## {plain(each.suite)}: {plain(each.name)}\n\nBecause of: {plain(each.cause)}.")
        parts.append(bullets(plain(line, LONGEST_LINE) for line in decision_lines(each)))
        parts.append(each.details)
    return "\n\n".join(filter(None, parts)) + "\n"


def gate_table(lines: Sequence[Line]) -> Table:
    """Every version with its state, its headline and how it stands against what it is compared with."""
    return Table(
        ("", "suite", "version", "headline", "compared"),
        [(SIGNS[each.state], each.suite, each.name, each.headline, each.compared) for each in lines],
    )


def decision_lines(line: Line) -> list[str]:
    """What was decided about a version and why, then what else differs from what it is compared with."""
    lines = signed_lines(line.reasons, line.approved, line.warnings)
    return [*(lines or ["✓ Every gate passes, and no comparison speaks against it."]), *line.notes]


def _details(decision: Decision, suite: Suite | None) -> Iterator[str]:
    if decision.evaluation:
        yield plain(hidden_problems(decision.evaluation.summary), LONGEST_LINE)
        yield model_list(decision.evaluation.summary)
    for metric, lines in decision.named.items():
        yield f"{plain(metric)}, by case:\n\n{bullets(plain(line, LONGEST_LINE) for line in lines)}"
    if decision.stopping:
        yield plain(decision.stopping.text)
    compared = decision.standings.all
    for each in compared:
        if each.comparison.action == "proceed":
            yield plain(f"Against {each.comparison.before}: {each.conclusion}", LONGEST_LINE)
    if decision.evaluation and suite:
        for each in compared:
            yield from _worse(suite, each.comparison)
        numbers = [metric_table(suite, decision.evaluation.summary)]
        numbers += [
            comparison_table(suite, each.comparison)._replace(title=f"Against {each.comparison.before}")
            for each in compared
        ]
        yield f"<details><summary>All numbers</summary>\n\n{tables(numbers)}\n\n</details>"


def _worse(suite: Suite, comparison: Comparison) -> Iterator[str]:
    """What the suite's document says of a comparison, and its cases that got worse, to be unfolded."""
    yield bullets(plain(line, LONGEST_LINE) for line in reading_lines(comparison))
    if comparison.examples:
        size = counted(len(comparison.regressed), "case")
        title = f"Against {plain(comparison.before)}: {size} got worse by {suite.headline}"
        yield f"<details><summary>{title}</summary>\n\n{example_text(suite, comparison)}\n\n</details>"


def _compared(decision: Decision) -> str:
    if decision.evaluation is None:
        return ""
    if decision.evaluation.outage:
        return "not compared"
    verdicts = [
        f"{each.comparison.verdict}{', approved' if each.approved else ''} against {each.comparison.before}"
        for each in decision.standings.all
    ]
    return "; ".join(verdicts if decision.standings.baseline else ["no baseline", *verdicts])


def to_junit(lines: Sequence[Line]) -> bytes:
    """One test case for each version: what CI systems read."""
    root = ElementTree.Element("testsuites", name="eval-pipeline gate")
    for suite in dict.fromkeys(each.suite for each in lines):
        own = [each for each in lines if each.suite == suite]
        element = ElementTree.SubElement(
            root,
            "testsuite",
            name=_xml(suite),
            tests=str(len(own)),
            failures=str(sum(EXIT_CODES[each.state] > 0 and each.state not in BROKEN for each in own)),
            errors=str(sum(each.state in BROKEN for each in own)),
        )
        for each in own:
            case = ElementTree.SubElement(element, "testcase", classname=_xml(suite), name=_xml(each.name))
            if EXIT_CODES[each.state]:
                kind = "error" if each.state in BROKEN else "failure"
                failure = ElementTree.SubElement(case, kind, message=_xml(next(iter(each.reasons), "")))
                failure.text = _xml("\n".join(each.reasons))
            notes = [*(f"approved: {line}" for line in each.approved), *each.warnings]
            if notes:
                ElementTree.SubElement(case, "system-out").text = _xml("\n".join(notes))
    body: bytes = ElementTree.tostring(root, encoding="utf-8")
    return b'<?xml version="1.0" encoding="utf-8"?>\n' + body


def _xml(text: str) -> str:
    """Text without what no XML document may hold."""
    return _NOT_XML.sub("\ufffd", text)


def to_report(lines: Sequence[Line], untouched: Sequence[str]) -> dict[str, Any]:
    """Everything as plain data."""
    state = worst(each.state for each in lines)
    return {
        "state": state,
        "pass": EXIT_CODES[state] == 0,
        "decided_at": datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds"),
        "untouched": list(untouched),
        "versions": [
            {
                "suite": each.suite,
                "version": each.version,
                "measure": each.measure,
                "cause": each.cause,
                "state": each.state,
                "reasons": each.reasons,
                "warnings": each.warnings,
                "approved": each.approved,
                **each.numbers,
                "notes": each.notes,
            }
            for each in lines
        ],
    }


def comparison_data(standing: Standing) -> dict[str, Any]:
    """A comparison as plain data, with what approvals make of it."""
    return {
        **msgspec.to_builtins(standing.comparison),
        "approvals": msgspec.to_builtins(standing.approvals),
        "approved": standing.approved,
        "stops": standing.stops,
        "sentence": standing.comparison.sentence,
        "conclusion": standing.conclusion,
    }
