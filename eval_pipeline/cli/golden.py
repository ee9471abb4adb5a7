"""`eval-pipeline golden`: whether a golden set is well formed, good, and signed off."""

from pathlib import Path
from typing import Any

import click

from eval_pipeline.cli import BLOCKED
from eval_pipeline.golden import GoldenSet, shortfalls
from eval_pipeline.numbers import counted
from eval_pipeline.problems import BadInput, Problems, bad_value
from eval_pipeline.project import Project
from eval_pipeline.scoring import context_for
from eval_pipeline.suite import Suite
from eval_pipeline.suites import find_suite, load_suites, suite_names


@click.group("golden")
def command() -> None:
    """Check golden sets, and sign them off."""


@command.command("check")
@click.argument("suite", required=False)
@click.argument("path", required=False, type=click.Path(path_type=Path))
@click.pass_context
def check(context: click.Context, suite: str | None, path: Path | None) -> None:
    """Name every problem of a golden set: file, line, field, what to do.

    Without SUITE every suite is checked. Exits with 2 where a file cannot be used, with 1 where a
    critical requirement is not met or a change was not signed off.
    """
    project = Project.find()
    problems = Problems()
    blocked = False
    suites, broken = load_suites(project, [suite] if suite else suite_names(project))
    for unloaded in broken.values():
        problems.include(BadInput(unloaded))
    for each in suites:
        folder = path or project.golden(each.name)
        before = len(problems)
        golden = _read(each, folder, problems)
        overview = golden.overview(_references(each, folder, problems))
        if len(problems) > before:
            continue
        click.echo(f"{each.name}: {counted(len(golden), 'case')} can be read")
        for requirement, missing in shortfalls(each, overview):
            for line in requirement.facts(overview) if requirement.facts else ():
                click.echo(f"  {requirement.name}: {line}")
            blocked = blocked or (bool(missing) and requirement.severity == "critical")
            for line in missing:
                click.echo(f"  {requirement.severity}: {requirement.name}: {line}")
        if path is None:
            unsigned = golden.unsigned_changes()
            blocked = blocked or bool(unsigned)
            for line in unsigned:
                click.echo(f"  critical: not signed off: {line}")
    problems.stop_if_any()
    context.exit(BLOCKED if blocked else 0)


@command.command("freeze")
@click.argument("suite")
@click.option("--reason", required=True, help="Why the golden set is right as it stands.")
@click.option("--by", "by", default=None, help="Who says so; by default the user that Git knows.")
def freeze(suite: str, reason: str, by: str | None) -> None:
    """Sign a golden set off as it stands. From then on any change is a failing check."""
    from eval_pipeline.reports.console import person

    if not reason.strip():
        raise bad_value("--reason", "is blank", "Say why the golden set is right as it stands.")
    project = Project.find()
    chosen = find_suite(project, suite)
    folder = project.golden(chosen.name)
    problems = Problems()
    golden = _read(chosen, folder, problems)
    _references(chosen, folder, problems)
    problems.stop_if_any()
    signed = golden.sign_off(by or person(), reason)
    size = counted(len(golden), "case")
    click.echo(f"{chosen.name}: {size} signed off by {signed.signed_by} ({signed.golden_hash}).")


def _read(suite: Suite, folder: Path, problems: Problems) -> GoldenSet:
    golden = GoldenSet(suite, folder, problems)
    for _ in golden.read():
        pass
    return golden


def _references(suite: Suite, folder: Path, problems: Problems) -> Any:
    try:
        return context_for(suite, folder).references
    except BadInput as bad:
        problems.include(bad)
        return None
