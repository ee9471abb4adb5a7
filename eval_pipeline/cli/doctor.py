"""`eval-pipeline doctor`: what is missing or wrong, before a run would say so."""

import click

from eval_pipeline.cli import BAD_INPUT
from eval_pipeline.numbers import counted
from eval_pipeline.project import Project
from eval_pipeline.terminal import say

SIGNS = {"fine": "✓", "note": "·", "warning": "⚠", "broken": "✗"}


@click.command("doctor")
@click.option("--call", is_flag=True, help="Ask every metered engine in use one small question.")
@click.pass_context
def command(context: click.Context, call: bool) -> None:
    """Look at keys, engines, state folder, suites, golden sets, gates, baselines and Dagster's settings.

    Everything is said at once, and no key is printed. Exits with 2 where something is broken, else with 0.
    """
    from eval_pipeline.checkup import examine

    findings = list(examine(Project.find(), call))
    for level, text in findings:
        say(f"{SIGNS[level]} {text}")
    broken = sum(each.level == "broken" for each in findings)
    warnings = sum(each.level == "warning" for each in findings)
    say(f"{counted(broken, 'thing')} to mend, {counted(warnings, 'warning')}.")
    context.exit(BAD_INPUT if broken else 0)
