"""`eval-pipeline score`: recorded outputs against a golden set. No Dagster, and no engine but a judge's."""

from __future__ import annotations

import gc
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import click
import msgspec

from eval_pipeline.answers import AnswerFile
from eval_pipeline.cli import BLOCKED
from eval_pipeline.evaluation import Summary, measured_models, score_report, summarize
from eval_pipeline.gates import GATES_FILE, override, read_gates
from eval_pipeline.golden import OverviewBuilder, read_case_blocks, shortfalls
from eval_pipeline.judging import judged_context
from eval_pipeline.problems import Problems
from eval_pipeline.project import Project
from eval_pipeline.reports.markdown import flat
from eval_pipeline.scoring import score_blocks
from eval_pipeline.suite import Case, Overview, Suite
from eval_pipeline.suites import find_suite


@click.command("score")
@click.argument("suite")
@click.option(
    "--golden", required=True, type=click.Path(path_type=Path), help="A golden file, or a folder of them."
)
@click.option("--outputs", required=True, type=click.Path(path_type=Path), help="The outputs, as JSON Lines.")
@click.option("--json", "as_json", is_flag=True, help="Print the score report as JSON.")
@click.option("--set", "settings", multiple=True, metavar="KEY=VALUE", help="A setting of the suite.")
@click.option(
    "--gates", "limits", default="", metavar="METRIC=LIMIT,…", help="Limits to use instead of the suite's."
)
@click.pass_context
def command(
    context: click.Context,
    suite: str,
    golden: Path,
    outputs: Path,
    as_json: bool,
    settings: tuple[str, ...],
    limits: str,
) -> None:
    """Score a file of recorded outputs against a golden set.

    Exits with 1 when a gate fails, with 2 when an input cannot be used.
    """
    # Millions of small values that form no cycles: looking for cycles would take as long as scoring.
    gc.disable()
    project = Project.find()
    found = find_suite(project, suite)
    home = _home(project, found, golden)
    problems = Problems()
    given = _settings(settings, problems)
    gates = override(read_gates(found, home / GATES_FILE, problems), limits, found)
    answers = _open(found, outputs, problems)
    overview = OverviewBuilder(found)
    used = judged_context(project, found, golden, project.golden(found.name), settings=given)

    def blocks() -> Iterator[Sequence[Case[Any, Any]]]:
        for cases, file, _ in read_case_blocks(found, golden, problems):
            overview.add_block(cases, file)
            yield cases
        problems.stop_if_any()

    if answers is None:
        list(blocks())
    assert answers is not None
    scores = score_blocks(found, blocks(), answers, used, keep_diagnoses=not as_json)
    summary = summarize(found, scores, gates, measured_models(found, used))
    built = overview.build(used.references)
    strangers = answers.without_case(built.case_ids)
    _mention_what_is_odd(found, built, answers, strangers)
    if as_json:
        click.echo(
            msgspec.json.format(
                msgspec.json.encode(_report(found, summary, answers, strangers, used.settings)), indent=2
            ).decode()
        )
    else:
        from eval_pipeline.cli.console import print_summary

        print_summary(found, summary)
    context.exit(0 if summary.passed else BLOCKED)


def _report(
    suite: Suite, summary: Summary, answers: AnswerFile, strangers: Sequence[str], settings: object
) -> dict[str, object]:
    odd: dict[str, object] = {
        "without_case": len(strangers),
        "repeated": answers.repeated,
        "warnings": [str(problem) for problem in answers.warnings],
    }
    return {**score_report(suite, summary, settings), "outputs": odd}


def _home(project: Project, suite: Suite, golden: Path) -> Path:
    """The folder whose gates apply: the golden folder's own, else the suite's."""
    return golden if (golden / GATES_FILE).is_file() else project.golden(suite.name)


def _settings(pairs: tuple[str, ...], problems: Problems) -> dict[str, object]:
    given: dict[str, object] = {}
    for pair in pairs:
        name, sign, value = pair.partition("=")
        if not sign:
            problems.add("input", f"{pair!r} is not a setting", "Write KEY=VALUE.", field="--set")
            continue
        try:
            given[name] = msgspec.json.decode(value)
        except msgspec.DecodeError:
            given[name] = value
    problems.stop_if_any()
    return given


def _open(suite: Suite, path: Path, problems: Problems) -> AnswerFile | None:
    if path.is_file():
        return suite.answers(path, problems)
    problems.add(path, "is not a file", "Name a JSON Lines file of outputs.", field="--outputs")
    return None


def _mention_what_is_odd(
    suite: Suite, overview: Overview, answers: AnswerFile, strangers: Sequence[str]
) -> None:
    for requirement, missing in shortfalls(suite, overview):
        if missing:
            more = f" (and {len(missing) - 1} more)" if len(missing) > 1 else ""
            click.echo(f"golden set, {requirement.name}: {missing[0]}{more}", err=True)
    for warning in answers.warnings:
        click.echo(f"outputs: {warning}", err=True)
    if strangers:
        some = ", ".join(flat(each, 60) for each in strangers[:5])
        click.echo(
            f"outputs: {len(strangers)} cases are not in the golden set and are ignored: {some}", err=True
        )
    if answers.repeated:
        click.echo(
            f"outputs: {answers.repeated} lines repeat a case and trial; the last one counts", err=True
        )
