"""`eval-pipeline golden`: whether a golden set is well formed, good, and signed off."""

from __future__ import annotations

from pathlib import Path

import click

from eval_pipeline.cli import BLOCKED
from eval_pipeline.golden import (
    OverviewBuilder,
    golden_hash,
    read_cases,
    shortfalls,
    sign_off,
    unsigned_changes,
)
from eval_pipeline.problems import BadInput, Problems, bad_value
from eval_pipeline.project import Project
from eval_pipeline.scoring import context_for
from eval_pipeline.suite import Overview, Suite
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
        hashes, overview = _read(each, folder, problems)
        if len(problems) > before:
            continue
        click.echo(f"{each.name}: {len(hashes)} cases can be read")
        for requirement, missing in shortfalls(each, overview):
            for line in requirement.facts(overview) if requirement.facts else ():
                click.echo(f"  {requirement.name}: {line}")
            blocked = blocked or (bool(missing) and requirement.severity == "critical")
            for line in missing:
                click.echo(f"  {requirement.severity}: {requirement.name}: {line}")
        if path is None:
            unsigned = unsigned_changes(folder, _hash(folder, hashes), hashes, problems)
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
    found = find_suite(project, suite)
    folder = project.golden(found.name)
    problems = Problems()
    hashes, _ = _read(found, folder, problems)
    problems.stop_if_any()
    signed = sign_off(folder, _hash(folder, hashes), hashes, by or person(), reason)
    click.echo(f"{found.name}: {len(hashes)} cases signed off by {signed.signed_by} ({signed.golden_hash}).")


def _read(suite: Suite, folder: Path, problems: Problems) -> tuple[dict[str, str], Overview]:
    overview = OverviewBuilder(suite)
    hashes: dict[str, str] = {}
    for golden in read_cases(suite, folder, problems):
        overview.add(golden)
        hashes[golden.case.id] = golden.case_hash
    try:
        references = context_for(suite, folder).references
    except BadInput as bad:
        problems.include(bad)
        references = None
    return hashes, overview.build(references)


def _hash(folder: Path, hashes: dict[str, str]) -> str:
    resources = folder / "resources"
    return golden_hash(hashes.values(), resources if resources.is_dir() else None)
