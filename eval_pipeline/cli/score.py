"""`eval-pipeline score`: recorded outputs against a golden set. No Dagster, and no engine but a judge's."""

from __future__ import annotations

import gc
from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import click
import msgspec

from eval_pipeline.answers import AnswerFile, AnswersInStep, OutOfStep
from eval_pipeline.asking import judged_context
from eval_pipeline.cli import BLOCKED
from eval_pipeline.files import WHOLE, Part, parts_in_step
from eval_pipeline.gates import GATES_FILE, override, read_gates
from eval_pipeline.golden import JSON_LINES, OverviewBuilder, joined, read_case_blocks, shortfalls
from eval_pipeline.numbers import counted
from eval_pipeline.problems import BadInput, Problems
from eval_pipeline.processes import in_processes, usable_processors
from eval_pipeline.project import Project
from eval_pipeline.reports import flat, score_report
from eval_pipeline.scoring import Scores, measured_models, merged, score_blocks, summarize
from eval_pipeline.suite import Case, Context, Overview, Suite
from eval_pipeline.suites import find_suite

LEAST_PART = 2**25
"""Golden files are cut into parts of at least that many bytes."""


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
    used = judged_context(project, found, golden, project.golden(found.name), settings=given)
    in_step = not problems and used.judge is None
    scored = _score_in_step(found, golden, outputs, used, as_json) if in_step else None
    scored = scored or _score(found, golden, _open(found, outputs, problems), used, problems, as_json)
    summary = summarize(found, scored.scores, gates, measured_models(found, used))
    _mention_what_is_odd(found, scored)
    if as_json:
        odd = {**scored.odd._asdict(), "without_case": len(scored.odd.without_case)}
        report = {**score_report(found, summary, used.settings), "outputs": odd}
        click.echo(msgspec.json.format(msgspec.json.encode(report), indent=2).decode())
    else:
        from eval_pipeline.reports.console import print_gates, print_summary

        print_summary(found, summary)
        print_gates(summary)
    context.exit(0 if summary.passed else BLOCKED)


class _Odd(NamedTuple):
    """What is odd about outputs and yet no reason to refuse them."""

    without_case: list[str]
    """Cases that the golden set lacks."""
    repeated: int
    warnings: list[str]


class _Scored(NamedTuple):
    """Scores, and what they rest on."""

    scores: Scores
    overview: Overview
    odd: _Odd


def _score_in_step(
    suite: Suite, golden: Path, outputs: Path, context: Context, as_json: bool
) -> _Scored | None:
    """The scores of outputs that follow the cases line by line; None where anything is odd.

    Large files are cut, and scored in several processes.
    """
    if suite.answers_in_step is None or not outputs.is_file():
        return None
    parts = [(WHOLE, WHOLE)]
    if golden.is_file() and golden.suffix.lower() in JSON_LINES:
        count = min(usable_processors(), golden.stat().st_size // LEAST_PART)
        parts = parts_in_step(golden, outputs, count) if count > 1 else parts

    def score_part(part: Part, beside: Part) -> _Scored | None:
        answers = suite.answers_in_step(outputs, beside) if suite.answers_in_step else None
        try:
            return _score(suite, golden, answers, context, Problems(), as_json, part) if answers else None
        except (OutOfStep, BadInput):
            return None

    scored = in_processes([partial(score_part, *each) for each in parts])
    found = [each for each in scored if each]
    if len(found) < len(parts):
        return None
    overview = joined([each.overview for each in found])
    unique = len(found) == 1 or len(set(overview.case_ids)) == len(overview.case_ids)
    return _Scored(merged([each.scores for each in found]), overview, found[0].odd) if unique else None


def _score(
    suite: Suite,
    golden: Path,
    answers: AnswerFile | AnswersInStep | None,
    context: Context,
    problems: Problems,
    as_json: bool,
    part: Part = WHOLE,
) -> _Scored:
    overview = OverviewBuilder(suite)

    def blocks() -> Iterator[Sequence[Case[Any, Any]]]:
        for cases, file, _ in read_case_blocks(suite, golden, problems, part):
            overview.add_block(cases, file)
            yield cases
        problems.stop_if_any()

    if answers is None:
        list(blocks())
    assert answers is not None
    scores = score_blocks(suite, blocks(), answers, context, keep_diagnoses=not as_json)
    built = overview.build(context.references)
    strangers = answers.without_case(built.case_ids)
    return _Scored(scores, built, _Odd(strangers, answers.repeated, list(map(str, answers.warnings))))


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
    strangers, repeated, warnings = scored.odd
    for requirement, missing in shortfalls(suite, scored.overview):
        if missing:
            more = f" (and {len(missing) - 1} more)" if len(missing) > 1 else ""
            click.echo(f"golden set, {requirement.name}: {missing[0]}{more}", err=True)
    for warning in warnings:
        click.echo(f"outputs: {warning}", err=True)
    if strangers:
        some = ", ".join(flat(each, 60) for each in strangers[:5])
        unknown = counted(len(strangers), "case")
        click.echo(f"outputs: ignored {unknown} that the golden set lacks: {some}", err=True)
    if repeated:
        lines = counted(repeated, "line")
        click.echo(f"outputs: a case and trial repeated in {lines}; the last one counts", err=True)
