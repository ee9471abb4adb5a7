"""`eval-pipeline report`: the report on an evaluation as one page for a browser."""

from pathlib import Path

import click

from eval_pipeline.cli import completing
from eval_pipeline.files import write_text
from eval_pipeline.loading import find_suite
from eval_pipeline.numbers import megabytes
from eval_pipeline.problems import bad_value, shown_path
from eval_pipeline.project import Project
from eval_pipeline.prompts import prompt_file
from eval_pipeline.stages import Workbench
from eval_pipeline.terminal import say


@click.command("report")
@click.argument("suite", shell_complete=completing.suites())
@click.argument("version", shell_complete=completing.versions())
@click.option("--open", "open_", is_flag=True, help="Show it in the browser.")
@click.option(
    "--out", type=click.Path(path_type=Path), help="Write it there instead of beside the evaluation."
)
@click.option(
    "--text",
    type=click.Choice(["all", "none"]),
    default="all",
    show_default=True,
    help="'none' leaves out inputs, prompts, answers and expectations.",
)
def command(suite: str, version: str, open_: bool, out: Path | None, text: str) -> None:
    """Write the report on the latest evaluation of VERSION as one HTML file, with every case.

    The file asks nobody for anything: it can be mailed, kept as an artifact, or put on a file share.
    """
    from eval_pipeline.reports.page.findings import latest_findings
    from eval_pipeline.reports.page.report import report_page

    if text == "none" and out is None:
        remedy = "Name one with --out."
        raise bad_value("--text", "a report without texts needs a file of its own", remedy)
    bench = Workbench(Project.find(), find_suite(Project.find(), suite))
    name = prompt_file(bench.project.prompts(bench.suite.name), version).stem
    findings = latest_findings(bench, name)
    assert findings.evaluation is not None
    page = report_page(findings, texts=text == "all")
    path = out or bench.store.page_path(findings.evaluation.identity)
    write_text(path, page)
    say(f"Report: {shown_path(path)} ({megabytes(len(page.encode()))})")
    if open_ and not _shown_in_browser(path):
        say("No browser could be started; open the file yourself.", err=True)


def _shown_in_browser(path: Path) -> bool:
    import webbrowser

    return webbrowser.open(path.resolve().as_uri())
