"""`eval-pipeline score`: recorded outputs against a golden set. No Dagster, no model."""

from __future__ import annotations

import gc
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import click
import msgspec

from eval_pipeline.answers import AnswerFile, AnswersInStep, OutOfStep
from eval_pipeline.cli import BLOCKED
from eval_pipeline.evaluation import context_for, measured_models, score_report, summarize
from eval_pipeline.gates import GATES_FILE, override, read_gates
from eval_pipeline.golden import OverviewBuilder, read_case_blocks, shortfalls
from eval_pipeline.problems import BadInput, Problems
from eval_pipeline.project import Project
from eval_pipeline.reports.markdown import flat
from eval_pipeline.scoring import Scores, score_blocks
from eval_pipeline.suite import Case, Context, Overview, Suite
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
    used = context_for(found, golden, project.golden(found.name), settings=given)
    scored = _score_in_step(found, golden, outputs, used, as_json) if not problems else None
    scored = scored or _score(found, golden, _open(found, outputs, problems), used, problems, as_json)
    summary = summarize(found, scored.scores, gates, measured_models(found, used))
    _mention_what_is_odd(found, scored)
    if as_json:
        report = {**score_report(found, summary, used.settings), "outputs": _odd(scored)}
        click.echo(msgspec.json.format(msgspec.json.encode(report), indent=2).decode())
    else:
        from eval_pipeline.cli.console import print_summary

        print_summary(found, summary)
    context.exit(0 if summary.passed else BLOCKED)


class _Scored(NamedTuple):
    """Scores, and what they rest on."""

    scores: Scores
    overview: Overview
    answers: AnswerFile | AnswersInStep
    strangers: list[str]
    """Cases with outputs that the golden set lacks."""


def _score_in_step(
    suite: Suite, golden: Path, outputs: Path, context: Context, as_json: bool
) -> _Scored | None:
    """The scores of outputs that follow the cases line by line; None where anything is odd."""
    answers = suite.answers_in_step(outputs) if suite.answers_in_step and outputs.is_file() else None
    try:
        return _score(suite, golden, answers, context, Problems(), as_json) if answers else None
    except (OutOfStep, BadInput):
        return None


def _score(
    suite: Suite,
    golden: Path,
    answers: AnswerFile | AnswersInStep | None,
    context: Context,
    problems: Problems,
    as_json: bool,
) -> _Scored:
    overview = OverviewBuilder(suite)

    def blocks() -> Iterator[Sequence[Case[Any, Any]]]:
        for cases, file, _ in read_case_blocks(suite, golden, problems):
            overview.add_block(cases, file)
            yield cases
        problems.stop_if_any()

    if answers is None:
        list(blocks())
    assert answers is not None
    scores = score_blocks(suite, blocks(), answers, context, keep_diagnoses=not as_json)
    built = overview.build(context.references)
    return _Scored(scores, built, answers, answers.without_case(built.case_ids))


def _odd(scored: _Scored) -> dict[str, object]:
    return {
        "without_case": len(scored.strangers),
        "repeated": scored.answers.repeated,
        "warnings": [str(problem) for problem in scored.answers.warnings],
    }


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


def _mention_what_is_odd(suite: Suite, scored: _Scored) -> None:
    answers, strangers = scored.answers, scored.strangers
    for requirement, missing in shortfalls(suite, scored.overview):
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
