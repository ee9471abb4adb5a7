"""`eval-pipeline compare`: what moved, by how much, on which cases."""

from pathlib import Path
from typing import Any, get_args

import click
from click.core import ParameterSource

from eval_pipeline.answers import OutputsIdentity
from eval_pipeline.cli import BLOCKED, completing
from eval_pipeline.cli.compared_files import Choice, compare_files
from eval_pipeline.comparison import ChosenTest, Comparison
from eval_pipeline.decisions import Standing, objections, standing_of
from eval_pipeline.files import readable_json
from eval_pipeline.loading import find_suite
from eval_pipeline.numbers import moment
from eval_pipeline.problems import Problems, bad_value
from eval_pipeline.project import Project
from eval_pipeline.prompts import active_versions, prompt_file
from eval_pipeline.reports import comparison_data
from eval_pipeline.stages import Workbench, compare_versions, compare_with_baseline, load_golden
from eval_pipeline.statistics.significance import TestName
from eval_pipeline.store import AnswerTable, read_baseline
from eval_pipeline.suite import Suite
from eval_pipeline.terminal import say

BASELINE = "baseline"
LEVEL = 0.05
OF_VERSIONS = ("version", "against")
OF_FILES = ("metric", "lower_is_better", "id_field", "part_before", "part_after")
"""The options that go with a suite, and those that go with two files."""


@click.command("compare")
@click.argument("suite", metavar="SUITE|BEFORE", shell_complete=completing.suites_or_files())
@click.argument("after", metavar="[AFTER]", required=False, type=click.Path(path_type=Path))
@click.option(
    "--prompt",
    "version",
    help="The version to judge; by default the active one.",
    shell_complete=completing.versions(),
)
@click.option(
    "--against",
    default=BASELINE,
    show_default=True,
    help="A version, or 'baseline'.",
    shell_complete=completing.versions(BASELINE),
)
@click.option(
    "--test", type=click.Choice(get_args(TestName)), help="A significance test to show beside the verdict."
)
@click.option(
    "--alpha", type=click.FloatRange(0, 1, min_open=True, max_open=True), help="Its level; by default 0.05."
)
@click.option("--metric", metavar="NAME", help="Of files: the score to compare, where they hold several.")
@click.option("--lower-is-better", is_flag=True, help="Of files: a smaller score is a better one.")
@click.option("--id", "id_field", metavar="NAME", help="Of files: the field or column that names a case.")
@click.option("--before", "part_before", metavar="NAME", help="Which evaluation, where BEFORE holds several.")
@click.option("--after", "part_after", metavar="NAME", help="Which evaluation, where AFTER holds several.")
@click.option("--json", "as_json", is_flag=True, help="Print the comparison as JSON.")
@click.pass_context
def command(
    context: click.Context,
    /,
    suite: str,
    after: Path | None,
    version: str | None,
    against: str,
    test: TestName | None,
    alpha: float | None,
    as_json: bool,
    **of_files: Any,
) -> None:
    """Compare the latest evaluation of a version with its baseline or with another version.

    Both sides are scored by today's code on the cases they share. Exits with 1 when the change
    blocks or needs an approval that nobody gave. A test that is asked for informs; the verdict decides.

    With two arguments both are files of results, paired by case: promptfoo's JSON, Inspect's .eval and
    JSON, lm-eval's samples, or JSON Lines, JSON and CSV with a case id and a score. No project and no
    model are needed.
    """
    if alpha is not None and test is None:
        raise bad_value(
            "--alpha", "there is no test that it would be the level of", "Choose one with --test."
        )
    chosen = ChosenTest(test, alpha or LEVEL) if test else None
    _stop_if_misplaced(context, OF_FILES if after is None else OF_VERSIONS)
    if after is not None:
        compared, standing = compare_files(Path(suite), after, Choice(**of_files), chosen)
        _say(compared.suite, standing, compared.moments, as_json)
    else:
        bench = Workbench(Project.find(), find_suite(Project.find(), suite))
        name = prompt_file(bench.project.prompts(bench.suite.name), version or _active(bench)).stem
        standing = standing_of(bench.golden_folder, _compare(bench, name, against, chosen))
        _say(bench.suite, standing, [] if as_json else _moments(bench, standing.comparison), as_json)
    context.exit(BLOCKED if objections(None, [standing]).blocking else 0)


def _stop_if_misplaced(context: click.Context, others: tuple[str, ...]) -> None:
    """Refuse the options of the other kind of comparison: they would be ignored."""
    problems = Problems()
    for parameter in context.command.params:
        given = context.get_parameter_source(str(parameter.name)) is not ParameterSource.DEFAULT
        if parameter.name in others and given:
            kind = "two files of results" if others is OF_FILES else "versions of a suite"
            problems.add("input", f"goes with {kind}", "Leave it out.", field=parameter.opts[0])
    problems.stop_if_any()


def _say(suite: Suite, standing: Standing, moments: list[str], as_json: bool) -> None:
    if as_json:
        say(readable_json(comparison_data(standing)))
        return
    from eval_pipeline.reports.console import print_comparison

    print_comparison(suite, standing, moments)


def _compare(bench: Workbench, version: str, against: str, test: ChosenTest | None) -> Comparison:
    golden = load_golden(bench).table
    after = _answers(bench, version)
    if against != BASELINE:
        other = prompt_file(bench.project.prompts(bench.suite.name), against).stem
        return compare_versions(bench, golden, _answers(bench, other), after, test=test)
    comparison = compare_with_baseline(bench, golden, after, test=test)
    if comparison is None:
        remedy = f"Run: eval-pipeline baseline promote {bench.suite.name} {version} --reason …"
        raise bad_value("--against", "there is no baseline", remedy)
    return comparison


def _moments(bench: Workbench, comparison: Comparison) -> list[str]:
    """When the baseline was promoted, and when a version was evaluated; blank where nobody knows."""
    return [
        _promoted(bench, side) if comparison.role == BASELINE and not place else _evaluated(bench, side)
        for place, side in enumerate(comparison.identities or ())
    ]


def _promoted(bench: Workbench, side: OutputsIdentity) -> str:
    baseline = read_baseline(bench.rules_folder, side.version)
    return f"promoted {moment(baseline.promoted_at)}" if baseline else ""


def _evaluated(bench: Workbench, side: OutputsIdentity) -> str:
    evaluation = bench.store.evaluation(side.suite, side.version)
    known = evaluation is not None and evaluation.identity.outputs == side
    return f"evaluated {moment(evaluation.created_at)}" if evaluation and known else ""


def _active(bench: Workbench) -> str:
    suite = bench.suite
    active = active_versions(suite, bench.project.prompts(suite.name))
    if len(active) != 1:
        raise bad_value("--prompt", f"{len(active)} versions of {suite.name} are active", "Name one.")
    return active[0]


def _answers(bench: Workbench, version: str) -> AnswerTable:
    answers = bench.store.outputs(bench.suite.name, version)
    if answers is None:
        remedy = f"Run: eval-pipeline run {bench.suite.name} --prompt {version}"
        raise bad_value("version", f"{version!r} was never evaluated", remedy)
    return answers
