"""`eval-pipeline compare`: what moved, by how much, on which cases."""

from __future__ import annotations

import click
import msgspec

from eval_pipeline import stages
from eval_pipeline.cli import BLOCKED
from eval_pipeline.comparison.compare import Comparison
from eval_pipeline.problems import bad_value
from eval_pipeline.project import Project
from eval_pipeline.prompts.versions import active_versions, prompt_file
from eval_pipeline.store import Store
from eval_pipeline.store.tables import AnswerTable, GoldenTable
from eval_pipeline.suite import Suite
from eval_pipeline.suites import find_suite

BASELINE = "baseline"


@click.command("compare")
@click.argument("suite")
@click.option("--prompt", "version", help="The version to judge; by default the active one.")
@click.option("--against", default=BASELINE, show_default=True, help="A version, or 'baseline'.")
@click.option("--json", "as_json", is_flag=True, help="Print the comparison as JSON.")
@click.pass_context
def command(context: click.Context, suite: str, version: str | None, against: str, as_json: bool) -> None:
    """Compare the latest evaluation of a version with its baseline or with another version.

    Both sides are scored by today's code on the cases they share. Exits with 1 when the change
    blocks or needs an approval that nobody gave.
    """
    project = Project.find()
    store = Store(project.state)
    found = find_suite(project, suite)
    golden = stages.load_golden(project, store, found).table
    judged = prompt_file(project.prompts(found.name), version or _active(project, found)).stem
    after = _answers(store, found, judged)
    comparison = _compare(project, store, found, golden, against, after)
    if as_json:
        report = {
            **msgspec.to_builtins(comparison),
            "approved": comparison.approved,
            "stops": comparison.stops,
            "sentence": comparison.sentence,
            "conclusion": comparison.conclusion,
        }
        click.echo(msgspec.json.format(msgspec.json.encode(report), indent=2).decode())
    else:
        from eval_pipeline.reports.console import print_comparison

        print_comparison(found, comparison)
    context.exit(BLOCKED if comparison.stops else 0)


def _compare(
    project: Project, store: Store, suite: Suite, golden: GoldenTable, against: str, after: AnswerTable
) -> Comparison:
    if against != BASELINE:
        other = prompt_file(project.prompts(suite.name), against).stem
        return stages.compare_versions(project, suite, golden, _answers(store, suite, other), after)
    comparison = stages.compare_with_baseline(project, suite, golden, after)
    if comparison is None:
        version = after.identity.version
        raise bad_value(
            "--against",
            "there is no baseline",
            f"Run: eval-pipeline baseline promote {suite.name} {version} --reason …",
        )
    return comparison


def _active(project: Project, suite: Suite) -> str:
    active = active_versions(suite, project.prompts(suite.name))
    if len(active) != 1:
        raise bad_value("--prompt", f"{len(active)} versions of {suite.name} are active", "Name one.")
    return active[0]


def _answers(store: Store, suite: Suite, version: str) -> AnswerTable:
    answers = store.outputs(suite.name, version)
    if answers is None:
        raise bad_value(
            "version",
            f"{version!r} was never evaluated",
            f"Run: eval-pipeline run {suite.name} --prompt {version}",
        )
    return answers
