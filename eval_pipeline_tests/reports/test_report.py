"""What people read of every shipped suite: percentages, counts that agree with nouns, nothing escaped."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from eval_pipeline import stages
from eval_pipeline.decisions import Decision, decide, objections_to, standings_of
from eval_pipeline.orchestration import checks
from eval_pipeline.project import Project
from eval_pipeline.prompts import versions_in
from eval_pipeline.reports import line_of, overview_table, report, table, to_junit, to_markdown
from eval_pipeline.reports.console import print_comparison, print_objections, print_summary
from eval_pipeline.suite import Suite
from eval_pipeline.suites import find_suite, suite_names
from eval_pipeline_tests.conftest import REPOSITORY, House

PICTURE = re.compile(r"!\[[^\]]*\]\(data:[^)]*\)")
SAID_BY_CASES = re.compile(r"^## Worst cases\n.*?(?=^## )", re.MULTILINE | re.DOTALL)
STABILITY_LINE = re.compile(r"\b[A-Z]\w* = [\d.]+%(?: ± [\d.]+%)?")
"""The line that the review document prescribes, `DR = 65% ± 8% (RS = 0.88)`."""
MODEL_ACCURACY = re.compile(r"\d\.?\d*%(?= right| at |\)| \(and)")
"""Texts of measured models, which the score report holds as they are."""
EXAMPLES = re.compile(r"^<details><summary>Against .*?</details>", re.MULTILINE | re.DOTALL)
"""Cases that got worse, with what models wrote."""
NOT_OURS = (PICTURE, SAID_BY_CASES, EXAMPLES, STABILITY_LINE, MODEL_ACCURACY)
GROUPS_AND_TABLES = re.compile(r"^## Groups and tables\n.*?(?=^## )", re.MULTILINE | re.DOTALL)
WITHOUT_UNIT = ("review",)
"""Suites with numbers that have no unit, such as points a method."""
WRONG = {
    "a fraction that is no percentage": re.compile(r"(?<![\d.,$])[01]\.\d{4,}(?![\d.])"),
    "a percentage in another form": re.compile(r"\d%|(?<![\d.])\d+ %(?= (?:\||in ))"),
    "a singular with a plural": re.compile(
        r"(?<![\d.,@-])1 (?:cases|trials|errors|problems|lines|runs|findings|tasks|answers|gates|"
        r"combinations|evaluations|prompts|questions|labels|more cases)\b"
    ),
    "a failure that is a warning": re.compile("⚠ fail"),
    "a backslash": re.compile(r"\\"),
}


def _shown(
    project: Project, suite: Suite, capsys: pytest.CaptureFixture[str]
) -> Iterator[tuple[Decision | None, str]]:
    """Everything that people read about the versions of a suite, the one in use and the one to come."""
    for version in versions_in(project.prompts(suite.name))[1:]:
        bench = stages.Workbench(project, suite)
        golden, answers = stages.load_golden(bench), bench.store.outputs(suite.name, version)
        scored, evaluation = (
            bench.store.scored(suite.name, version),
            bench.store.evaluation(suite.name, version),
        )
        compared = bench.store.compared(suite.name, version)
        assert answers
        assert scored
        assert evaluation
        assert compared
        standings = standings_of(bench.golden_folder, compared)
        against = objections_to(bench, evaluation, standings)
        beside = stages.evaluations_beside(bench, evaluation)
        yield None, report(suite, evaluation, scored.scores, standings, against, beside=beside)
        yield None, table(overview_table(golden.overview))
        print_summary(suite, evaluation.summary)
        print_objections(against)
        for standing in standings.all:
            print_comparison(suite, standing, ("", ""))
        yield None, capsys.readouterr().out
        for check in (
            *checks.golden_checks(suite, golden),
            *checks.output_checks(version, answers.costs, bench.operation_gates),
            *checks.gate_checks(suite, list(bench.gates), evaluation, scored.scores, {}),
            checks.regression_check(suite, answers.identity, standings, {}),
        ):
            yield None, check.description or ""
        yield decide("asked for", evaluation, standings, against, settings=bench.context.settings), ""


@pytest.mark.parametrize("name", suite_names(Project(REPOSITORY, Path())))
def test_what_people_read_reads_well(house: House, name: str, capsys: pytest.CaptureFixture[str]) -> None:
    suite = find_suite(house.project, name)
    parts = list(_shown(house.project, suite, capsys))
    decisions = [decision for decision, _ in parts if decision]
    texts = [text for _, text in parts if text]
    lines = [line_of(each, suite) for each in decisions]
    texts += [to_markdown(lines, []), to_junit(lines).decode()]
    assert decisions
    for text in texts:
        ours = re.sub("|".join(each.pattern for each in NOT_OURS), "", text, flags=re.MULTILINE | re.DOTALL)
        wrong = {what: match[0] for what, form in WRONG.items() if (match := form.search(ours))}
        assert not wrong, ours
        section = GROUPS_AND_TABLES.search(text)
        assert section is None or name in WITHOUT_UNIT or not re.search(r"\| \d*\.\d+ \|", section[0])
