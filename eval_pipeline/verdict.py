"""What the gate says of a change: version by version, and as a whole."""

from __future__ import annotations

import datetime
import re
from collections.abc import Sequence
from typing import Any, Literal, NamedTuple
from xml.etree import ElementTree

import msgspec

from eval_pipeline.answers.trials import Stopping
from eval_pipeline.approvals import Approval, approved_metrics
from eval_pipeline.comparison.compare import Comparison
from eval_pipeline.evaluation import Evaluation, score_report
from eval_pipeline.problems import Problem
from eval_pipeline.reports.evaluation import comparison_table, metric_table
from eval_pipeline.reports.markdown import bullets, plain, table
from eval_pipeline.reports.numbers import number
from eval_pipeline.suite import Suite

State = Literal["pass", "warn", "approved", "block", "not_evaluated", "unusable", "crashed"]
STATES: tuple[State, ...] = ("pass", "warn", "approved", "not_evaluated", "block", "unusable", "crashed")
"""From the best to the worst."""
SIGNS: dict[State, str] = {
    "pass": "✓",
    "warn": "⚠",
    "approved": "✓ approved",
    "block": "✗",
    "not_evaluated": "✗ not evaluated",
    "unusable": "✗ unusable",
    "crashed": "✗ crashed",
}
EXIT_CODES: dict[State, int] = {
    "pass": 0,
    "warn": 0,
    "approved": 0,
    "not_evaluated": 1,
    "block": 1,
    "unusable": 2,
    "crashed": 70,
}

BROKEN: tuple[State, ...] = ("unusable", "crashed")
"""States in which nothing was decided."""

_NOT_XML = re.compile(r"[^\t\n\r -\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


class FailedCheck(NamedTuple):
    """A check that failed: on answers, latency, cost, or on what a golden set should hold."""

    name: str
    message: str
    blocking: bool


class Judged(msgspec.Struct, frozen=True):
    """What the gate says of one version, and why."""

    suite: str
    version: str
    cause: str
    state: State
    reasons: tuple[str, ...]
    warnings: tuple[str, ...] = ()
    approved: tuple[str, ...] = ()
    """What passes only because a person approved it, and who did."""
    stopping: Stopping | None = None
    """Why no further trial was asked, where their number was not fixed."""
    evaluation: Evaluation | None = None
    comparison: Comparison | None = None
    settings: Any = None
    """The suite's settings, which decide on some keys of its score report."""

    @property
    def notes(self) -> tuple[str, ...]:
        """What else differs from the baseline: another engine, another golden set."""
        return self.comparison.notes if self.comparison else ()


def judge_version(
    suite: str,
    version: str,
    cause: str,
    evaluation: Evaluation,
    comparison: Comparison | None,
    unsigned: Sequence[str],
    failed: Sequence[FailedCheck],
    unread_text: bool,
    approvals: Sequence[Approval] = (),
    stopping: Stopping | None = None,
    settings: Any = None,
) -> Judged:
    """Apply the blocking rules to an evaluation and its comparison with the baseline."""
    covered = approved_metrics(approvals)
    failing = [gate for gate in evaluation.summary.gates if gate.status == "fail"]
    blocking = [f"{gate.metric}: {gate.message}" for gate in failing if gate.metric not in covered]
    approved = [f"{gate.metric}: {gate.message}" for gate in failing if gate.metric in covered]
    warnings = [
        f"{gate.metric}: {gate.message}" for gate in evaluation.summary.gates if gate.status == "warn"
    ]
    for check in failed:
        (blocking if check.blocking else warnings).append(f"{check.name}: {check.message}")
    if unsigned:
        told = ", ".join(unsigned[:5])
        blocking.append(f"the golden set has changes that nobody signed off: {told}")
    if comparison is None:
        blocking.append("there is no baseline to compare with; promote an evaluation that you trust")
    elif comparison.stops:
        blocking.append(f"against {comparison.before}: {comparison.conclusion}")
    elif comparison.approved:
        approved.append(f"against {comparison.before}: {comparison.conclusion}")
    elif comparison.open:
        warnings.append(f"against {comparison.before}: {comparison.conclusion}")
    approved += [each.told for each in approvals] if approved else []
    state: State = "block" if blocking else "approved" if approved else "warn" if warnings else "pass"
    if unread_text:
        state = "block" if blocking else "not_evaluated"
        engine = evaluation.identity.outputs.engine
        blocking.append(
            f"only text changed that the engine {engine!r} does not read; evaluate it on one that does"
        )
    return Judged(
        suite,
        version,
        cause,
        state,
        tuple(blocking),
        tuple(warnings),
        tuple(dict.fromkeys(approved)),
        stopping,
        evaluation,
        comparison,
        settings,
    )


def unusable(suite: str, version: str, cause: str, problems: Sequence[Problem]) -> Judged:
    """A version that cannot be evaluated."""
    reasons = tuple(map(str, problems)) or ("it could not be evaluated; see the run in the UI",)
    return Judged(suite, version, cause, "unusable", reasons)


def crashed(suite: str, version: str, cause: str, error: Exception) -> Judged:
    """A version whose evaluation ended in a defect, of this program or of its suite."""
    reason = f"{type(error).__name__}: {error}".strip().partition("\n")[0]
    return Judged(suite, version, cause, "crashed", (f"{reason}; this is a defect, nothing was decided",))


def worst(judged: Sequence[Judged]) -> State:
    """The state of the whole."""
    return max((each.state for each in judged), key=STATES.index, default="pass")


def to_markdown(judged: Sequence[Judged], suites: dict[str, Suite], untouched: Sequence[str]) -> str:
    """The summary for a pull request: verdict first, then every version."""
    state = worst(judged)
    titles = {
        "pass": "✓ Prompt evaluation passes",
        "warn": "⚠ Prompt evaluation passes with warnings",
        "approved": "✓ Prompt evaluation passes, by approval",
        "block": "✗ Prompt evaluation blocks this change",
        "not_evaluated": "✗ This change was not evaluated",
        "unusable": "✗ Prompt evaluation could not be done",
        "crashed": "✗ Prompt evaluation crashed",
    }
    parts = [f"# {titles[state] if judged else '✓ Nothing to evaluate'}"]
    if judged:
        rows = (
            (SIGNS[each.state], each.suite, plain(each.version), _headline(each, suites), _change(each))
            for each in judged
        )
        parts.append(table(("", "suite", "version", "headline", "against the baseline"), rows))
    if untouched:
        parts.append(f"Not touched by this change: {', '.join(untouched)}.")
    for each in judged:
        parts.append(f"## {each.suite}: {plain(each.version)}\n\nBecause of: {each.cause}.")
        lines = [f"✗ {plain(line, 1000)}" for line in each.reasons]
        lines += [f"✓ approved: {plain(line, 1000)}" for line in each.approved]
        lines += [f"⚠ {plain(line, 1000)}" for line in each.warnings]
        lines = lines or ["✓ Every gate passes, and nothing got worse."]
        parts.append(bullets([*lines, *(plain(note, 1000) for note in each.notes)]))
        if each.stopping:
            parts.append(plain(each.stopping.told))
        if each.comparison and each.comparison.action == "proceed":
            parts.append(f"Against {plain(each.comparison.before)}: {plain(each.comparison.sentence, 1000)}")
        if each.evaluation and each.suite in suites:
            suite = suites[each.suite]
            inner = metric_table(suite, each.evaluation.summary)
            if each.comparison:
                inner += "\n\n" + comparison_table(suite, each.comparison)
            parts.append(f"<details><summary>All numbers</summary>\n\n{inner}\n\n</details>")
    return "\n\n".join(parts) + "\n"


def _headline(judged: Judged, suites: dict[str, Suite]) -> str:
    if judged.evaluation is None:
        return ""
    suite = suites[judged.suite]
    value = judged.evaluation.summary.metrics[suite.headline].value
    return f"{suite.headline} {number(value, suite.metric(suite.headline).unit)}"


def _change(judged: Judged) -> str:
    if judged.comparison and judged.comparison.approved:
        return f"{judged.comparison.verdict}, approved"
    return judged.comparison.verdict if judged.comparison else "no baseline" if judged.evaluation else ""


def to_junit(judged: Sequence[Judged]) -> bytes:
    """One test case for each version: what CI systems read."""
    root = ElementTree.Element("testsuites", name="eval-pipeline gate")
    for suite in dict.fromkeys(each.suite for each in judged):
        own = [each for each in judged if each.suite == suite]
        element = ElementTree.SubElement(
            root,
            "testsuite",
            name=suite,
            tests=str(len(own)),
            failures=str(sum(each.state in ("block", "not_evaluated") for each in own)),
            errors=str(sum(each.state in BROKEN for each in own)),
        )
        for each in own:
            case = ElementTree.SubElement(element, "testcase", classname=suite, name=_xml(each.version))
            if EXIT_CODES[each.state]:
                kind = "error" if each.state in BROKEN else "failure"
                failure = ElementTree.SubElement(case, kind, message=_xml(each.reasons[0]))
                failure.text = _xml("\n".join(each.reasons))
            told = [*(f"approved: {line}" for line in each.approved), *each.warnings]
            if told:
                ElementTree.SubElement(case, "system-out").text = _xml("\n".join(told))
    body: bytes = ElementTree.tostring(root, encoding="utf-8")
    return b'<?xml version="1.0" encoding="utf-8"?>\n' + body


def _xml(text: str) -> str:
    """Text without what no XML document may hold."""
    return _NOT_XML.sub("\ufffd", text)


def to_report(judged: Sequence[Judged], suites: dict[str, Suite], untouched: Sequence[str]) -> dict[str, Any]:
    """Everything as plain data."""
    state = worst(judged)
    return {
        "state": state,
        "pass": EXIT_CODES[state] == 0,
        "decided_at": datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds"),
        "untouched": list(untouched),
        "versions": [
            {
                "suite": each.suite,
                "version": each.version,
                "cause": each.cause,
                "state": each.state,
                "reasons": each.reasons,
                "warnings": each.warnings,
                "approved": each.approved,
                "stopping": msgspec.to_builtins(each.stopping),
                "report": score_report(suites[each.suite], each.evaluation.summary, each.settings)
                if each.evaluation
                else None,
                "comparison": msgspec.to_builtins(each.comparison) if each.comparison else None,
            }
            for each in judged
        ],
    }
