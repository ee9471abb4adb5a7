"""`eval-pipeline alerts`: the six alerts of production, and which incidents are open."""

import click

from eval_pipeline.cli import completing
from eval_pipeline.decisions import look_at_production, open_incidents, watched_now
from eval_pipeline.files import readable_json
from eval_pipeline.loading import find_suite
from eval_pipeline.monitoring import read_production
from eval_pipeline.project import Project
from eval_pipeline.terminal import say


@click.command("alerts")
@click.argument("suite", shell_complete=completing.suites())
@click.option("--look", is_flag=True, help="Look at what arrived since the last look first, as the UI does.")
@click.option("--json", "as_json", is_flag=True, help="Print them as JSON.")
def command(suite: str, look: bool, as_json: bool) -> None:
    """Show what is watched of SUITE in production, and whether it is within its limits.

    Open critical incidents pause deployments: `gate` and `prompt activate` refuse until they recover, or
    until somebody approves the version that mends them.
    """
    from eval_pipeline.reports import alert_table
    from eval_pipeline.reports.console import print_table

    project = Project.find()
    chosen = find_suite(project, suite)
    production = read_production(project)
    if look:
        look_at_production(project, [chosen], production)
    watched = watched_now(project, chosen, production)
    incidents = open_incidents(project, chosen.name) or []
    if as_json:
        rows = [
            {
                "alert": each.alert.name,
                "severity": each.alert.severity,
                "limit": each.alert.limit,
                "state": each.state,
                "at": each.at,
                "value": each.reading.value if each.reading else None,
            }
            for each in watched
        ]
        say(readable_json({"alerts": rows, "incidents": incidents}))
        return
    if not watched:
        say(f"{chosen.name} has no events yet. Run: eval-pipeline events ingest")
        return
    print_table(alert_table(watched, [finding.check for each in incidents for finding in each.findings]))
    for each in incidents:
        paused = "deployments are paused" if each.severity == "critical" else "for information"
        say(f"{each.name} ({each.severity}, {paused}): {each.findings[0].text}")
