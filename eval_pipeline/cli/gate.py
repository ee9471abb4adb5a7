"""`eval-pipeline gate`: whether a change may go in."""

from __future__ import annotations

from pathlib import Path

import click

from eval_pipeline import stages
from eval_pipeline.changes import Touched, changed_files, only_unread_text_changed, touched_suites
from eval_pipeline.cli.options import TRIALS, TRIALS_HELP
from eval_pipeline.content import replacing, write_json, write_text
from eval_pipeline.problems import BadInput, Problems, shown_path
from eval_pipeline.project import Project
from eval_pipeline.prompt import active_versions, load_prompt, version_order, versions_in
from eval_pipeline.suite import Suite
from eval_pipeline.suites import find_suite, suite_names
from eval_pipeline.trials import Trials
from eval_pipeline.verdict import (
    EXIT_CODES,
    SIGNS,
    Judged,
    judge_version,
    to_junit,
    to_markdown,
    to_report,
    unusable,
    worst,
)

LAST_REPORT = "gate.json"
FILE = click.Path(path_type=Path, dir_okay=False)


@click.command("gate")
@click.argument("suites", nargs=-1)
@click.option("--changed-since", "revision", help="Only what differs from this revision of Git.")
@click.option("--engine", help="An engine of engines.yaml; by default each version's own.")
@click.option("--trials", type=TRIALS, help=TRIALS_HELP)
@click.option("--markdown", type=FILE, help="Write a summary for a pull request.")
@click.option("--junit", type=FILE, help="Write the result as JUnit XML.")
@click.option("--json", "json_file", type=FILE, help="Write the whole result as JSON.")
@click.pass_context
def command(
    context: click.Context,
    suites: tuple[str, ...],
    revision: str | None,
    engine: str | None,
    trials: Trials | None,
    markdown: Path | None,
    junit: Path | None,
    json_file: Path | None,
) -> None:
    """Evaluate what a change touches, compare it with the baselines, and decide.

    Without SUITES, every suite. Exits with 0 where the change may go in (warnings included), with 1 where a
    gate or a regression blocks it or where what changed was not evaluated, with 2 where something is broken.
    """
    project = Project.find()
    names = list(suites) or suite_names(project)
    found = {name: find_suite(project, name) for name in names}
    touched = (
        touched_suites(changed_files(project, revision), found)
        if revision
        else {name: Touched(reasons={"asked for"}) for name in found}
    )
    judged: list[Judged] = []
    for name, what in touched.items():
        for version, cause in _versions(project, found[name], what, judged):
            judged.append(_judge(project, found[name], version, cause, revision, engine, trials))
    untouched = [name for name in found if name not in touched]
    report = to_report(judged, found, untouched)
    write_json(project.state / LAST_REPORT, report)
    if json_file:
        write_json(json_file, report)
    if markdown:
        write_text(markdown, to_markdown(judged, found, untouched))
    if junit:
        with replacing(junit) as temporary:
            temporary.write_bytes(to_junit(judged))
    _print(judged, untouched)
    click.echo(f"Report: {shown_path(json_file or project.state / LAST_REPORT)}")
    context.exit(EXIT_CODES[worst(judged)])


def _versions(
    project: Project, suite: Suite, touched: Touched, judged: list[Judged]
) -> list[tuple[str, str]]:
    """The versions to evaluate, with the cause: changed ones; active ones where anything else changed."""
    folder = project.prompts(suite.name)
    causes: dict[str, list[str]] = {}
    for version in sorted(touched.prompts & set(versions_in(folder)), key=version_order):
        problems = Problems()
        prompt = load_prompt(suite, folder, version, problems)
        if prompt is None:
            judged.append(unusable(suite.name, version, "prompt", list(problems)))
        elif prompt.front.status != "archived":
            causes.setdefault(version, []).append("prompt")
    if touched.reasons or not causes:
        try:
            for version in active_versions(suite, folder):
                causes.setdefault(version, []).extend(sorted(touched.reasons))
        except BadInput as bad:
            known = {each.version for each in judged}
            if not any(version in known for version in touched.prompts):
                judged.append(unusable(suite.name, "active version", "prompt", bad.problems))
    return [(version, ", ".join(why) or "prompt") for version, why in causes.items()]


def _judge(
    project: Project,
    suite: Suite,
    version: str,
    cause: str,
    revision: str | None,
    engine: str | None,
    trials: Trials | None,
) -> Judged:
    from eval_pipeline.checks import problems_of
    from eval_pipeline.cli.console import Bar
    from eval_pipeline.cli.launch import execute
    from eval_pipeline.store import Store

    try:
        asking = stages.prepare_asking(project, suite, version, engine=engine, trials=trials)
        unread = "prompt" in cause and only_unread_text_changed(
            project, suite, asking.prompt, revision, asking.engine.reads_prompt
        )
        config = {"engine": engine, "trials": trials}
        with Bar() as bar:
            outcome = execute(project, suite, version, config, bar)
        unsigned = stages.load_golden(project, Store(project.state), suite).unsigned
    except BadInput as bad:
        return unusable(suite.name, version, cause, bad.problems)
    problems = [problem for check in outcome.checks if not check.passed for problem in problems_of(check)]
    if problems or outcome.evaluation is None:
        return unusable(suite.name, version, cause, problems)
    try:
        approvals = stages.approvals_for(project, suite, outcome.evaluation, outcome.comparison)
    except BadInput as bad:
        return unusable(suite.name, version, cause, bad.problems)
    return judge_version(
        suite.name,
        version,
        cause,
        outcome.evaluation,
        outcome.comparison,
        unsigned,
        unread,
        approvals,
        outcome.stopping,
    )


def _print(judged: list[Judged], untouched: list[str]) -> None:
    for each in judged:
        click.echo(f"{SIGNS[each.state]} {each.suite}: {each.version} ({each.cause})")
        for line in each.reasons:
            click.echo(f"  ✗ {line}", err=each.state == "unusable")
        if each.stopping:
            click.echo(f"  {each.stopping.told}")
        for line in each.approved:
            click.echo(f"  ✓ approved: {line}")
        for line in each.warnings:
            click.echo(f"  ⚠ {line}")
    if untouched:
        click.echo(f"Not touched: {', '.join(untouched)}")
    if not judged:
        click.echo("Nothing to evaluate.")
