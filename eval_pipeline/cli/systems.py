"""`eval-pipeline systems`: the classical systems of a task, side by side."""

import click

from eval_pipeline.cli import completing
from eval_pipeline.files import readable_json
from eval_pipeline.loading import HERITAGE, family, load_suites
from eval_pipeline.problems import BadInput, bad_value
from eval_pipeline.project import Project
from eval_pipeline.reports import systems_data, systems_table
from eval_pipeline.stages import System, Workbench, compare_systems, systems_of
from eval_pipeline.terminal import say


@click.command("systems")
@click.argument("suite", shell_complete=completing.suites(HERITAGE))
@click.option("--json", "as_json", is_flag=True, help="Print every metric of every system as JSON.")
def command(suite: str, as_json: bool) -> None:
    """Put the systems that a version of SUITE (or of 'heritage') may choose side by side.

    Each answers with what else the active version says, in this process. Where they were made with cases in
    view, the cases that were held out count. Nothing is kept.
    """
    project = Project.find()
    suites, broken = load_suites(project, family(project, suite) or [suite])
    chosen = [each for each in suites if systems_of(each)]
    if not chosen and not broken:
        message = f"{suite} has no systems to choose among"
        raise bad_value("suite", message, "Name a suite whose parameters have `system`.")
    results: dict[Workbench, list[System]] = {}
    problems = [problem for each in broken.values() for problem in each]
    for each in chosen:
        bench = Workbench(project, each)
        try:
            results[bench] = compare_systems(bench)
        except BadInput as bad:  # the other suites may have problems, too
            problems += bad.problems
    if problems:
        raise BadInput(list(dict.fromkeys(problems)))
    if as_json:
        data = {bench.suite.name: systems_data(systems) for bench, systems in results.items()}
        say(readable_json(data))
        return
    _show(results)


def _show(results: dict[Workbench, list[System]]) -> None:
    from eval_pipeline.reports.console import print_table

    for place, (bench, systems) in enumerate(results.items()):
        if place:
            say()
        if systems:
            print_table(systems_table(bench.suite, systems, bench.gates))
        else:
            say(f"{bench.suite.name}: no case was held out.")
