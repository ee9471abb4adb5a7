"""`eval-pipeline investigate`: why a version fails, as far as the data tell."""

from pathlib import Path

import click

from eval_pipeline.cli import completing
from eval_pipeline.decisions import latest_result, objections_to
from eval_pipeline.files import readable_json, write_text
from eval_pipeline.loading import find_suite
from eval_pipeline.problems import bad_value, shown_path
from eval_pipeline.project import Project
from eval_pipeline.prompts import prompt_file
from eval_pipeline.reports import blocks_markdown, investigation_blocks, investigation_data
from eval_pipeline.stages import Workbench, investigate_evaluation
from eval_pipeline.terminal import say


@click.command("investigate")
@click.argument("suite", shell_complete=completing.suites())
@click.argument("version", shell_complete=completing.versions())
@click.option(
    "--out", type=click.Path(dir_okay=False, path_type=Path), help="Write it as Markdown to a new file."
)
@click.option("--json", "as_json", is_flag=True, help="Print it as JSON.")
def command(suite: str, version: str, out: Path | None, as_json: bool) -> None:
    """Fill in the investigation of VERSION: symptoms, hypotheses, the checklist, a plan.

    It looks at the latest evaluation and asks nothing: what failing answers show, where they lie, and whether
    other versions and engines fail the same cases. Hypotheses are ranked by how many failures they explain;
    where nothing stands out, it says so. It informs, and exits with 0.
    """
    if out is not None and out.exists():
        raise bad_value("--out", f"{shown_path(out)} exists", "Name a new file: people write into it.")
    project = Project.find()
    bench = Workbench(project, find_suite(project, suite))
    name = prompt_file(project.prompts(bench.suite.name), version).stem
    result = latest_result(bench, name)
    against = objections_to(bench, result.evaluation, result.standings())
    found = investigate_evaluation(
        bench, result.golden.table, result.answers, result.scored, result.evaluation
    )
    blocks = list(investigation_blocks(bench.suite, result.evaluation, against, found))
    if out is not None:
        write_text(out, blocks_markdown(blocks))
    if as_json:
        say(readable_json(investigation_data(bench.suite, result.evaluation, against, found)))
    elif out is not None:
        say(f"{shown_path(out)} holds the investigation; fill in its cause and fix.")
    else:
        from eval_pipeline.reports.console import print_blocks

        print_blocks(blocks)
