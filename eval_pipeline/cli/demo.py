"""`eval-pipeline demo`: every version of every suite, a line each, with the UI beside it."""

import datetime
from contextlib import ExitStack, suppress
from pathlib import Path

import click

from eval_pipeline.cli import run
from eval_pipeline.cli.ui import end_by_signals, port_options, serving
from eval_pipeline.decisions import look_at_production
from eval_pipeline.loading import find_suite, suite_names
from eval_pipeline.monitoring import open_ingest, plan_for, write_simulated
from eval_pipeline.numbers import counted
from eval_pipeline.project import Project
from eval_pipeline.store import DASHBOARD
from eval_pipeline.terminal import say

SIMULATED_DAYS, A_DAY, SEED = 7, 1000, 1


@click.command("demo")
@click.argument("suite", default=run.ALL)
@port_options
@click.option("--ui/--no-ui", default=True, show_default=True, help="Whether the UI is served on loopback.")
@click.pass_context
def command(context: click.Context, suite: str, port: int, reports_port: int, ui: bool) -> None:
    """Evaluate every version of SUITE (or of all), a line each, and serve the UI meanwhile and afterwards.

    A week of production that never happened is taken in, too: of SUITE, or of the first of all.
    Exits as `run SUITE --prompt all` does; with the UI, when Ctrl-C is pressed.
    """
    project = Project.find()
    end_by_signals()
    with ExitStack() as stack:
        servers = stack.enter_context(serving(project, port, reports_port)) if ui else None
        if servers:
            say(f"Starting the UI: {servers.ui} (log: {servers.log})")
        say("Evaluating every version: a line each, and a table at the end")
        code = _evaluate_all(context, suite)
        simulate_week(project, suite if suite != run.ALL else suite_names(project)[0])
        if servers:
            # Its sensors would have evaluated the same versions at the same time.
            servers.start_daemon()
            say(f"All of it is there to look at:\n{servers.links}\nCtrl-C ends it.")
            with suppress(KeyboardInterrupt):
                end_by_signals()  # Dagster puts back what it found, for one signal as for the other
                servers.wait()
        else:
            say(f"\nAll of it is there to look at:\n{_ways_to_look(project)}")
    context.exit(code)


def _ways_to_look(project: Project) -> str:
    """What there is to open where nothing is served: a file, and commands."""
    dashboard = (project.state / DASHBOARD).resolve().as_uri()
    return (
        "UI:        eval-pipeline ui\n"
        "Reports:   eval-pipeline report SUITE VERSION --open\n"
        f"Dashboard: {dashboard}"
    )


def _evaluate_all(context: click.Context, suite: str) -> int:
    try:
        context.invoke(run.command, suite=suite, version=run.ALL, brief=True)
    except click.exceptions.Exit as end:
        return end.exit_code
    return 0


def simulate_week(project: Project, name: str) -> None:
    """Take in the simulated week before today, and look at it as the UI's sensor does.

    Where a suite has events already, they may be real ones: nothing is added to them.
    """
    from eval_pipeline.orchestration.launching import refresh_dashboard

    suite = find_suite(project, name)
    with open_ingest(project) as taking:
        folder = taking.production.folder(project)
        if name in taking.store.suites() or "://" in folder:
            return
        first = datetime.datetime.now(datetime.UTC).date() - datetime.timedelta(days=SIMULATED_DAYS)
        plan = plan_for(project, suite, first, SIMULATED_DAYS, A_DAY, SEED)
        write_simulated(plan, Path(folder))
        events = sum(outcome.events for outcome in taking.files(now=True))
        look_at_production(project, [suite], taking.production)
    refresh_dashboard(project)
    say(
        f"\nProduction of {name}: {counted(events, 'simulated event')} of {counted(SIMULATED_DAYS, 'day')}, "
        f"with one planted incident on {plan.incident_day}\n"
        f"  eval-pipeline production {name} --days {SIMULATED_DAYS} --by day\n  eval-pipeline alerts {name}"
    )
