"""`eval-pipeline history`: how a suite's numbers went over time."""

from pathlib import Path

import click

from eval_pipeline.cli import completing
from eval_pipeline.comparison import series
from eval_pipeline.files import export_ending, export_table, replacing
from eval_pipeline.gates import GATES_FILE, read_gates
from eval_pipeline.loading import find_suite
from eval_pipeline.numbers import counted
from eval_pipeline.problems import Problems, shown_path
from eval_pipeline.project import Project
from eval_pipeline.reports import history_table, rests_on
from eval_pipeline.scoring import Point, history_rows, with_units
from eval_pipeline.store import History, database_url, export
from eval_pipeline.suite import Suite
from eval_pipeline.terminal import safe, say, write

SPARKS = "▁▂▃▄▅▆▇█"


@click.command("history")
@click.argument("suite", shell_complete=completing.suites())
@click.option("--prompt", "version", help="One version only.", shell_complete=completing.versions())
@click.option("--replays", is_flag=True, help="Show evaluations of answers that were known, too.")
@click.option("--last", type=click.IntRange(1), default=30, show_default=True, help="How many to show.")
@click.option("--json", "as_json", is_flag=True, help="Print the whole history as JSON.")
@click.option(
    "--export",
    "file",
    type=click.Path(path_type=Path),
    help="Write it to a metrics-history.json; to .csv or .parquet with a row for each evaluation and metric.",
)
def command(
    suite: str, version: str | None, replays: bool, last: int, as_json: bool, file: Path | None
) -> None:
    """Show how the numbers of SUITE went over time, version by version."""
    project = Project.find()
    chosen = find_suite(project, suite)
    ending = export_ending(file) if file is not None else ""
    with History(database_url(project)) as history:
        points = history.points(chosen.name, version)
    if file is not None:
        if ending == ".json":
            with replacing(file) as temporary:
                temporary.write_bytes(export(points))
        else:
            export_table(file, with_units(chosen, history_rows(points)))
        say(f"{counted(len(points), 'evaluation')} written to {shown_path(file)}")
    elif as_json:
        write(safe(export(points).decode()))
    else:
        _show(project, chosen, [point for point in points if replays or not point.replay], last)


def _show(project: Project, suite: Suite, points: list[Point], last: int) -> None:
    from eval_pipeline.reports.console import print_table

    if not points:
        say(f"No evaluation yet. Run: eval-pipeline run {suite.name}")
        return
    gated = read_gates(suite, project.golden(suite.name) / GATES_FILE, Problems())
    print_table(history_table(suite, gated, points[-last:]))
    for line in series(points[-last:]):
        values = [point.metrics.get(suite.headline) for point in line]
        first = line[0]
        say(f"{suite.headline} of {first.version} on {first.engine}{rests_on(first)}: {sparkline(values)}")


def sparkline(values: list[float | None]) -> str:
    """Numbers as a row of blocks between the least and the greatest; a gap where there is none."""
    present = [value for value in values if value is not None]
    low, high = min(present, default=0.0), max(present, default=0.0)
    steps = len(SPARKS) - 1
    return "".join(
        " " if value is None else SPARKS[round((value - low) / (high - low) * steps) if high > low else steps]
        for value in values
    )
