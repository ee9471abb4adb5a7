"""`eval-pipeline run`: the assets of the UI, from the command line."""

from __future__ import annotations

import click
import msgspec

from eval_pipeline import stages
from eval_pipeline.cli import BLOCKED
from eval_pipeline.cli.console import Bar, print_summary
from eval_pipeline.problems import BadInput, Problems, bad_value, shown_path
from eval_pipeline.project import Project
from eval_pipeline.prompt import load_prompts, prompt_file, versions_in
from eval_pipeline.reports.numbers import counted
from eval_pipeline.stages import DEFAULT_SAMPLE
from eval_pipeline.store import Store
from eval_pipeline.suite import Suite
from eval_pipeline.suites import all_suites, find_suite

ALL = "all"


class Options(msgspec.Struct, frozen=True):
    """How versions are evaluated."""

    engine: str | None
    trials: int | None
    sample: str


@click.command("run")
@click.argument("suite")
@click.option(
    "--prompt", "version", help="The prompt version; by default every active one. 'all': every version."
)
@click.option("--engine", help="An engine of engines.yaml, instead of the prompt's or the default one.")
@click.option("--trials", type=click.IntRange(min=1), help="How often every case is asked.")
@click.option(
    "--sample", default=DEFAULT_SAMPLE, show_default=True, help="Answers are reused within a sample."
)
@click.option("--dry-run", is_flag=True, help="Say what the run would cost, and ask nothing.")
@click.pass_context
def command(
    context: click.Context,
    suite: str,
    version: str | None,
    engine: str | None,
    trials: int | None,
    sample: str,
    dry_run: bool,
) -> None:
    """Evaluate prompt versions of SUITE (or of 'all' suites).

    It materializes the same assets as the UI, in the same history. Exits with 1 when a gate fails
    or the comparison with the baseline blocks, with 2 when something cannot be used.
    """
    project = Project.find()
    suites = all_suites(project) if suite == ALL else [find_suite(project, suite)]
    chosen = [(each, one) for each in suites for one in _versions(project, each, version)]
    options = Options(engine, trials, sample)
    if dry_run:
        for each, one in chosen:
            _estimate(project, each, one, options)
        return
    blocked = False
    for each, one in chosen:
        blocked = _evaluate(project, each, one, options) or blocked
    context.exit(BLOCKED if blocked else 0)


def _versions(project: Project, suite: Suite, version: str | None) -> list[str]:
    folder = project.prompts(suite.name)
    if version == ALL:
        return versions_in(folder)
    if version is not None:
        return [prompt_file(folder, version).stem]
    problems = Problems()
    active = [
        prompt.version for prompt in load_prompts(suite, folder, problems) if prompt.front.status == "active"
    ]
    problems.stop_if_any()
    if not active:
        raise bad_value("--prompt", f"no version of {suite.name} is active", "Name one with --prompt.")
    return active


def _estimate(project: Project, suite: Suite, version: str, options: Options) -> None:
    """Say what evaluating a version would cost."""
    asking = stages.prepare_asking(project, suite, version, **msgspec.structs.asdict(options))
    golden = stages.load_golden(project, Store(project.state), suite).table
    cost = stages.estimate_cost(suite, golden, asking)
    dollars = (
        "unknown cost (engines.yaml has no prices)" if cost.dollars is None else f"about ${cost.dollars:.4f}"
    )
    click.echo(
        f"{version} on {asking.engine.name}: {counted(cost.requests, 'answer')}, "
        f"{counted(cost.calls, 'call')} to make, about {counted(cost.tokens, 'token')}, {dollars}"
    )


def _evaluate(project: Project, suite: Suite, version: str, options: Options) -> bool:
    """Run the chain for one version, print what came out, and say whether it blocks."""
    from eval_pipeline.checks import problems_of
    from eval_pipeline.cli.launch import execute

    click.echo(f"{suite.name}: {version}")
    config = msgspec.structs.asdict(options)
    with Bar() as bar:
        checks = execute(project, suite, version, config, bar)
    unusable = [check for check in checks if check.blocking and not check.passed]
    if unusable:
        raise BadInput([problem for check in unusable for problem in problems_of(check)])
    store = Store(project.state)
    evaluation, comparison = store.evaluation(suite.name, version), store.comparison(suite.name, version)
    assert evaluation is not None
    print_summary(suite, evaluation.summary)
    for check in checks:
        if not check.passed and not check.check_name.startswith("gate_"):
            click.echo(
                f"{'✗' if check.severity.value == 'ERROR' else '⚠'} {check.check_name}: {check.description}"
            )
    if comparison and comparison.action == "proceed":
        click.echo(f"Against {comparison.before}: {comparison.verdict}. {comparison.sentence}")
    click.echo(f"Report: {shown_path(store.report_path(evaluation.identity))}")
    stopped = comparison is not None and comparison.stops
    return stopped or not evaluation.summary.passed
