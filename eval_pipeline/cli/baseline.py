"""`eval-pipeline baseline`: freeze an evaluation that you trust, and see what is frozen."""

import click

from eval_pipeline.cli import BLOCKED, Group, completing
from eval_pipeline.decisions import Refused, Result, Standings, latest_result, live_proposals, promote
from eval_pipeline.files import readable_json
from eval_pipeline.loading import find_suite
from eval_pipeline.numbers import number
from eval_pipeline.problems import BadInput, bad_value, shown_path
from eval_pipeline.project import Project
from eval_pipeline.prompts import prompt_name, versions_in
from eval_pipeline.reports import Table, units
from eval_pipeline.revisions import person
from eval_pipeline.stages import Workbench
from eval_pipeline.store import baseline_file, read_baseline
from eval_pipeline.suite import Suite
from eval_pipeline.terminal import say


@click.group("baseline", cls=Group)
def command() -> None:
    """Promote an evaluation to baseline, or show the baseline."""


@command.command("promote")
@click.argument("suite", shell_complete=completing.suites())
@click.argument("version", shell_complete=completing.versions())
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
    if not reason.strip():
        raise bad_value("--reason", "is blank", "Say why this evaluation is to be the measure.")
    project = Project.find()
    bench = Workbench(project, find_suite(project, suite))
    result = latest_result(bench, version)
    unsigned = result.golden.unsigned
    remedy = f"Review it, then run: eval-pipeline golden freeze {bench.suite.name} --reason …"
    if unsigned.blocks:
        changes = ", ".join(unsigned.changes[:5])
        raise bad_value("golden set", f"nobody signed it off ({changes})", remedy)
    try:
        baseline = promote(result, _standings(result, replace), person(by), reason)
    except Refused as refused:
        say(f"{version} cannot become the baseline:\n{refused}", err=True)
        context.exit(BLOCKED)
    bench.store.drop_proposals(bench.suite.name, prompt_name(version))
    file = shown_path(baseline_file(bench.golden_folder, version))
    say(f"{version} is the baseline of {prompt_name(version)}, by {baseline.promoted_by}: {file}")
    if unsigned:
        say(f"⚠ golden set: {unsigned.changes[0]}. {remedy}")


@command.command("show")
@click.argument("suite", shell_complete=completing.suites())
@click.option("--json", "as_json", is_flag=True, help="Print the baselines as JSON.")
def show(suite: str, as_json: bool) -> None:
    """Show the baselines of SUITE: who froze what, when and why, and its numbers."""
    from eval_pipeline.reports.console import print_table

    project = Project.find()
    chosen = find_suite(project, suite)
    folder = project.golden(chosen.name)
    baselines = [
        baseline for version in _one_per_name(project, chosen) if (baseline := read_baseline(folder, version))
    ]
    if as_json:
        say(readable_json(baselines))
        return
    if not baselines:
        say(f"No baseline. Promote one: eval-pipeline baseline promote {chosen.name} VERSION --reason …")
    unit = units(chosen)
    for proposal in live_proposals(Workbench(project, chosen)):
        say(proposal.text)
    for baseline in baselines:
        say(f"{baseline.version}: {baseline.reason}")
        say(f"promoted by {baseline.promoted_by} at {baseline.promoted_at}")
        if held_out := baseline.identity.outputs.held_out:
            say(f"on the cases that the engine did not learn from ({' '.join(held_out)})")
        values = [(name, number(value, unit.get(name, "number"))) for name, value in baseline.metrics.items()]
        print_table(Table(("metric", "value"), values))


def _standings(result: Result, replace: bool) -> Standings:
    """How a result stands; a baseline that cannot be read may be replaced."""
    try:
        return result.standings()
    except BadInput:
        if replace:
            return result.standings(with_baseline=False)
        raise


def _one_per_name(project: Project, suite: Suite) -> list[str]:
    return list(
        {prompt_name(version): version for version in versions_in(project.prompts(suite.name))}.values()
    )
