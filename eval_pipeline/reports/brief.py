"""Many evaluations at a glance: a line for each as it is done, and one table of them all."""

from collections.abc import Sequence
from typing import NamedTuple

from eval_pipeline.decisions import Objections
from eval_pipeline.problems import Problem
from eval_pipeline.reports.markdown import flat
from eval_pipeline.reports.report import TITLES
from eval_pipeline.reports.rows import Cell, Colour, Table
from eval_pipeline.reports.tables import headline
from eval_pipeline.scoring import Evaluation
from eval_pipeline.suite import Suite

LONGEST_REASON = 100
COLOURS: dict[str, Colour] = {"pass": "green", "warn": "yellow", "approved": "green"}
"""By state; every other one is red."""
UNUSABLE = Cell("✗ was not evaluated", "red")


class Brief(NamedTuple):
    """What a person wants to know first of an evaluation."""

    suite: str
    version: str
    headline: str
    verdict: Cell
    reason: str
    """What weighs most against it; blank where nothing does."""

    @property
    def line(self) -> str:
        """All of it but the reason, in a line."""
        sign, _, verdict = self.verdict.text.partition(" ")
        return f"{sign} {self.suite}: {self.version} {verdict}{self.headline and ', ' + self.headline}"


def brief_of(suite: Suite, version: str, evaluation: Evaluation, against: Objections) -> Brief:
    """An evaluation at a glance."""
    verdict = Cell(TITLES[against.state], COLOURS.get(against.state, "red"))
    reasons = [each.text for some in (against.blocking, against.approved, against.warnings) for each in some]
    reason = reasons[0].partition(". ")[0].rstrip(".") if reasons else ""
    return Brief(suite.name, version, headline(suite, evaluation), verdict, flat(reason, LONGEST_REASON))


def brief_of_problems(suite: str, version: str, problems: Sequence[Problem]) -> Brief:
    """A version at a glance that could not be evaluated."""
    return Brief(suite, version, "", UNUSABLE, flat(next(iter(problems), ""), LONGEST_REASON))


def brief_table(briefs: Sequence[Brief]) -> Table:
    """All of them, in the order in which they were evaluated."""
    return Table(("suite", "version", "headline", "verdict", "what to look at"), briefs)


class VersionState(NamedTuple):
    """Where a version stands by its latest evaluation; without one, nothing is known of it."""

    version: str
    status: str
    brief: Brief | None = None
    state: str = "unknown"
    engine: str = ""
    evaluated_at: str = ""
    edited: bool = False
    """Whether its file is another one since."""

    @property
    def passes(self) -> bool:
        """Whether nothing blocks it."""
        return self.state in ("pass", "warn", "approved")

    @property
    def verdict(self) -> Cell:
        """In a few words."""
        return self.brief.verdict if self.brief else UNUSABLE

    @property
    def text(self) -> str:
        """In a line."""
        headline = f", {self.brief.headline}" if self.brief and self.brief.headline else ""
        edited = "; its file was edited since" if self.edited else ""
        return f"{self.version} {self.verdict.text}{headline}{edited}"


def version_table(states: Sequence[VersionState]) -> Table:
    """All versions of a suite; what is most to be seen stands first, since the place may be narrow."""
    rows = []
    for each in states:
        sign, _, verdict = each.verdict.text.partition(" ")
        evaluated = each.evaluated_at[:16].replace("T", " ")
        headline = each.brief.headline if each.brief else ""
        rows.append((sign, each.version, verdict, each.status, headline, evaluated, each.engine))
    return Table(("", "version", "verdict", "status", "headline", "evaluated", "engine"), rows)


def version_reasons(states: Sequence[VersionState]) -> list[str]:
    """What to look at, of each version that does not simply pass."""
    reasons = {each.version: each.brief.reason if each.brief else "" for each in states}
    reasons |= {each.version: "its file was edited since" for each in states if each.edited}
    return [f"{version}: {reason}" for version, reason in reasons.items() if reason]
