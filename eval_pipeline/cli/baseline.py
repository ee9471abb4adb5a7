"""`eval-pipeline baseline`: freeze an evaluation that you trust, and see what is frozen."""

from __future__ import annotations

import click

from eval_pipeline import stages
from eval_pipeline.cli import BLOCKED
from eval_pipeline.comparison.compare import Comparison
from eval_pipeline.problems import BadInput, bad_value, shown_path
from eval_pipeline.project import Project
from eval_pipeline.prompts.versions import prompt_name, versions_in
from eval_pipeline.reports.evaluation import units
from eval_pipeline.reports.numbers import number
from eval_pipeline.store import Store
from eval_pipeline.store.baselines import Refused, baseline_file, promote, read_baseline
from eval_pipeline.store.tables import AnswerTable, GoldenTable
from eval_pipeline.suite import Suite
from eval_pipeline.suites import find_suite


@click.group("baseline")
def command() -> None:
    """Promote an evaluation to baseline, or show the baseline."""


@command.command("promote")
@click.argument("suite")
@click.argument("version")
@click.option("--reason", required=True, help="Why this evaluation is what others are to be measured by.")
@click.option("--by", "by", default=None, help="Who says so; by default the user that Git knows.")
@click.option("--replace", is_flag=True, help="Replace a baseline that cannot be read any more.")
@click.pass_context
def promote_(
    context: click.Context, suite: str, version: str, reason: str, by: str | None, replace: bool
) -> None:
    """Freeze the latest answers of VERSION as the baseline of its prompt.

    They are scored once more, by today's code and gates. A failing, incomplete, uncertain or regressed
    evaluation is refused unless it was approved, and so is one of a prompt file or a golden set that has
    changed since.
    """
    from eval_pipeline.reports.console import person

    if not reason.strip():
        raise bad_value("--reason", "is blank", "Say why this evaluation is to be the measure.")
    project = Project.find()
    store, found = Store(project.state), find_suite(project, suite)
    loaded = stages.load_golden(project, store, found)
    answers = stages.current_answers(project, store, found, loaded.table, version)
    if loaded.unsigned:
        remedy = f"Review it, then run: eval-pipeline golden freeze {found.name} --reason …"
        raise bad_value("golden set", f"nobody signed it off ({', '.join(loaded.unsigned[:5])})", remedy)
    scored = stages.score_answers(project, found, loaded.table, answers)
    evaluation = stages.evaluate(project, found, scored, stages.load_gates(project, found))
    try:
        comparison = _compared(project, found, loaded.table, answers, replace)
        approvals = stages.approvals_for(project, found, evaluation, comparison)
        golden = project.golden(found.name)
        baseline = promote(golden, evaluation, comparison, answers, by or person(), reason, approvals)
    except Refused as refused:
        click.echo(f"{version} cannot become the baseline:\n{refused}", err=True)
        context.exit(BLOCKED)
    store.drop_proposals(found.name, prompt_name(version))
    file = shown_path(baseline_file(golden, version))
    click.echo(f"{version} is the baseline of {prompt_name(version)}, by {baseline.promoted_by}: {file}")


@command.command("show")
@click.argument("suite")
@click.option("--json", "as_json", is_flag=True, help="Print the baselines as JSON.")
def show(suite: str, as_json: bool) -> None:
    """Show the baselines of SUITE: who froze what, when and why, and its numbers."""
    import msgspec

    from eval_pipeline.reports.console import print_table

    project = Project.find()
    found = find_suite(project, suite)
    folder = project.golden(found.name)
    baselines = [
        baseline for version in _one_per_name(project, found) if (baseline := read_baseline(folder, version))
    ]
    if as_json:
        click.echo(msgspec.json.format(msgspec.json.encode(baselines), indent=2).decode())
        return
    if not baselines:
        click.echo(
            f"No baseline. Promote one: eval-pipeline baseline promote {found.name} VERSION --reason …"
        )
    unit = units(found)
    for proposal in Store(project.state).proposals(found.name):
        click.echo(proposal.told)
    for baseline in baselines:
        click.echo(f"{baseline.version}: {baseline.reason}")
        click.echo(f"promoted by {baseline.promoted_by} at {baseline.promoted_at}")
        print_table(
            ("metric", "value"),
            ((name, number(value, unit.get(name, "number"))) for name, value in baseline.metrics.items()),
        )


def _compared(
    project: Project, suite: Suite, golden: GoldenTable, answers: AnswerTable, replace: bool
) -> Comparison | None:
    try:
        return stages.compare_with_baseline(project, suite, golden, answers)
    except BadInput:
        if replace:
            return None
        raise


def _one_per_name(project: Project, suite: Suite) -> list[str]:
    return list(
        {prompt_name(version): version for version in versions_in(project.prompts(suite.name))}.values()
    )
