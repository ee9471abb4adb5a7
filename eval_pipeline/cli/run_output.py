"""What `eval-pipeline run` says: everything as it comes, a line for each version, or one JSON document."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING

from eval_pipeline.answers import OutputsIdentity
from eval_pipeline.asking import Progress, Silence
from eval_pipeline.decisions import Standings, live_proposals
from eval_pipeline.engines import Estimate
from eval_pipeline.files import readable_json
from eval_pipeline.problems import Problem, shown_path
from eval_pipeline.reports import RunDocument, brief_of, estimate_data, evaluation_data
from eval_pipeline.reports.brief import Brief, brief_of_problems, brief_table
from eval_pipeline.reports.console import Bar, print_causes, print_objections, print_summary, print_table
from eval_pipeline.scoring import Evaluation
from eval_pipeline.stages import Workbench
from eval_pipeline.store import TWIN
from eval_pipeline.suite import Suite
from eval_pipeline.terminal import say

if TYPE_CHECKING:
    from eval_pipeline.orchestration.launching import Outcome


class Screen:
    """Everything, as it comes. Problems are said where they arise, on standard error."""

    def say(self, line: str) -> None:
        """A sentence that is no result of one version."""
        say(line)

    @contextmanager
    def progress(self, suite: Suite, version: str) -> Iterator[Progress]:
        """How far a version is, while it is evaluated."""
        self.say(f"{suite.name}: {version}")
        with Bar() as bar:
            yield bar

    def estimated(self, suite: Suite, version: str, subject: str, cost: Estimate) -> None:
        """What evaluating a version would cost."""
        self.say(f"{subject}: {cost.text}")

    def evaluated(self, bench: Workbench, version: str, outcome: Outcome, evaluation: Evaluation) -> None:
        """Numbers, what speaks against them, and how they stand."""
        print_summary(bench.suite, evaluation.summary)
        if outcome.costs and outcome.costs.spent:
            say(f"Cost: {outcome.costs.spent}.")
        if outcome.stopping:
            say(outcome.stopping.text)
        print_objections(outcome.objections)
        print_causes(outcome.named)
        if outcome.unsigned:
            say(f"⚠ golden set: {outcome.unsigned.message}")
        if not evaluation.outage:
            _print_standings(bench.suite, evaluation.identity.outputs, outcome.standings)
        for line in _proposals(bench, version):
            say(line)
        page = shown_path(bench.store.page_path(evaluation.identity))
        say(f"Report: {page} (as text: {TWIN})")

    def unusable(
        self, problems: Sequence[Problem], suite: str | None = None, version: str | None = None
    ) -> None:
        """What keeps a version, a suite or all of them from being evaluated."""

    def end(self, code: int) -> None:
        """The run is over, with an exit code."""


class Lines(Screen):
    """A line for each version, and one table of all at the end."""

    def __init__(self) -> None:
        self._briefs: list[Brief] = []

    def include(self, others: Lines) -> None:
        """Let what others said of further versions stand in the table, too."""
        self._briefs += others._briefs

    @contextmanager
    def progress(self, suite: Suite, version: str) -> Iterator[Progress]:
        """Nothing, until it is done."""
        yield Silence()

    def evaluated(self, bench: Workbench, version: str, outcome: Outcome, evaluation: Evaluation) -> None:
        """The version at a glance."""
        subject = evaluation.identity.outputs.subject
        self._briefs.append(brief_of(bench.suite, subject, evaluation, outcome.objections))
        say(self._briefs[-1].line)

    def unusable(
        self, problems: Sequence[Problem], suite: str | None = None, version: str | None = None
    ) -> None:
        """A version without numbers stands in the table all the same."""
        if suite and version:
            self._briefs.append(brief_of_problems(suite, version, problems))

    def end(self, code: int) -> None:
        """The table."""
        if self._briefs:
            print_table(brief_table(self._briefs))


class Document(Screen):
    """One JSON document on standard output; what others say as it comes goes to standard error."""

    def __init__(self) -> None:
        self._document = RunDocument()

    def say(self, line: str) -> None:
        """Beside the document."""
        say(line, err=True)

    def estimated(self, suite: Suite, version: str, subject: str, cost: Estimate) -> None:
        """What evaluating a version would cost."""
        self._document.estimates.append(estimate_data(suite.name, version, subject, cost))
        super().estimated(suite, version, subject, cost)

    def evaluated(self, bench: Workbench, version: str, outcome: Outcome, evaluation: Evaluation) -> None:
        """An evaluation as data."""
        data = evaluation_data(
            evaluation,
            outcome.standings,
            outcome.objections,
            outcome.costs,
            unsigned=outcome.unsigned.message if outcome.unsigned else "",
            stopping=outcome.stopping,
            named=outcome.named,
            proposals=_proposals(bench, version),
            report=bench.store.report_path(evaluation.identity),
            page=bench.store.page_path(evaluation.identity),
        )
        self._document.evaluations.append(data)

    def unusable(
        self, problems: Sequence[Problem], suite: str | None = None, version: str | None = None
    ) -> None:
        """What could not be evaluated, and why."""
        self._document.add_problems(problems, suite, version)

    def end(self, code: int) -> None:
        """The document."""
        say(readable_json(self._document.data(code)))


def _proposals(bench: Workbench, version: str) -> list[str]:
    return [proposal.text for proposal in live_proposals(bench) if proposal.version == version]


def _print_standings(suite: Suite, outputs: OutputsIdentity, standings: Standings) -> None:
    """What the comparisons say where they object to nothing, and why one may be lacking."""
    if standings.baseline is None and not outputs.case_sample:
        command = f"eval-pipeline baseline promote {suite.name} {outputs.version} --reason …"
        say(f"⚠ there is no baseline to compare with. To make this one: {command}")
    for each in standings.all:
        if not each.demands:
            say(f"Against {each.comparison.before}: {each.conclusion}")
    for note in standings.notes:
        say(f"Note: {note}")
