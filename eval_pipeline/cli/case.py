"""`eval-pipeline case`: one case on the screen, with everything that was wrong with its answers."""

from collections.abc import Iterator

import click

from eval_pipeline.cli import completing
from eval_pipeline.loading import find_suite
from eval_pipeline.problems import bad_value
from eval_pipeline.project import Project
from eval_pipeline.prompts import prompt_file
from eval_pipeline.stages import Exhibits, Shown, Workbench

MOST_NAMES = 5


@click.command("case")
@click.argument("suite", shell_complete=completing.suites())
@click.argument("version", shell_complete=completing.versions())
@click.argument("case_id", metavar="ID")
@click.option("--rendered", is_flag=True, help="Show the rendered prompt as well.")
def command(suite: str, version: str, case_id: str, rendered: bool) -> None:
    """Show one case of the latest evaluation of VERSION.

    That is its input, what was expected, the answer of each trial with its mistakes, and its scores beside
    those of the baseline and of what the version would replace.
    """
    from eval_pipeline.reports.page.findings import latest_findings
    from eval_pipeline.reports.single_case import print_case

    bench = Workbench(Project.find(), find_suite(Project.find(), suite))
    name = prompt_file(bench.project.prompts(bench.suite.name), version).stem
    findings = latest_findings(bench, name)
    case = next(_cases(findings.exhibits, case_id), None)
    if case is None:
        raise bad_value("ID", f"{case_id!r} is not a case of {suite}", _remedy(findings.exhibits, case_id))
    print_case(bench.suite, findings.exhibits, case, rendered=rendered)


def _cases(exhibits: Exhibits, case_id: str) -> Iterator[Shown]:
    return (each for batch in exhibits.batches({case_id}) for each in batch)


def _remedy(exhibits: Exhibits, case_id: str) -> str:
    """Names that are much like it, else the first ones."""
    from rapidfuzz import process

    names = [each.case.id for each in exhibits.cases()]
    near = [name for name, *_ in process.extract(case_id, names, limit=MOST_NAMES, score_cutoff=60)]
    return f"Cases: {', '.join(near or names[:MOST_NAMES])}{'' if near else ', …'}."
