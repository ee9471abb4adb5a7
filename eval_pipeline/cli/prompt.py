"""`eval-pipeline prompt`: begin a new version, and make one the active one."""

import datetime
from pathlib import Path

import click

from eval_pipeline import prompts
from eval_pipeline.cli import BLOCKED, Group, completing
from eval_pipeline.decisions import Refused, Standings, allow_activation, latest_result, objections_to
from eval_pipeline.loading import find_suite
from eval_pipeline.problems import BadInput, Problems, bad_value, shown_path, without_problems
from eval_pipeline.project import Project
from eval_pipeline.reports import changelog_section, keep_in_changelog
from eval_pipeline.stages import NotCurrent, Workbench
from eval_pipeline.suite import Suite
from eval_pipeline.terminal import say


@click.group("prompt", cls=Group)
def command() -> None:
    """Begin a new prompt version, or make one the active one."""


@command.command("new")
@click.argument("suite", shell_complete=completing.suites())
@click.argument("name", shell_complete=completing.prompt_names())
@click.option("--minor", "step", flag_value="minor", help="v1.0 → v1.1")
@click.option("--major", "step", flag_value="major", help="v1.1 → v2.0")
def new(suite: str, name: str, step: str | None) -> None:
    """Copy the active version of the prompt NAME to a new version, and open an entry in the changelog."""
    if step is None:
        raise bad_value("--minor or --major", "is missing", "Say how large the change is.")
    project = Project.find()
    chosen = find_suite(project, suite)
    folder = project.prompts(chosen.name)
    active = _active(chosen, folder, name)
    version = prompts.next_version(folder, active, major=step == "major")
    prompts.write_edited(folder / f"{version}.md", prompts.following(active), active.path)
    entry = prompts.opening(active.version)
    today = datetime.date.today()
    prompts.edit_changelog(
        project, chosen.name, lambda text: prompts.with_entry(text, version, "candidate", entry, today)
    )
    say(f"{shown_path(folder / f'{version}.md')} is a copy of {active.version}.")
    say(f"Say what changes in {shown_path(folder / prompts.CHANGELOG)}, then run:")
    say(f"eval-pipeline run {chosen.name} --prompt {version}")


@command.command("activate")
@click.argument("suite", shell_complete=completing.suites())
@click.argument("version", shell_complete=completing.versions())
@click.pass_context
def activate(context: click.Context, suite: str, version: str) -> None:
    """Make VERSION the active one of its prompt, and archive the one before it.

    Refused where it was not evaluated as it is now, and, unless that was approved, where it fails a gate or
    is worse than the baseline or than the version it replaces by more than the gates allow, surely or
    possibly; and where its entry in the changelog does not say what changes. Nothing is deleted.
    """
    from eval_pipeline.orchestration.launching import show_active_version

    project = Project.find()
    chosen = find_suite(project, suite)
    folder = project.prompts(chosen.name)
    prompt = without_problems(lambda problems: prompts.load_prompt(chosen, folder, version, problems))
    others = [
        each
        for each in prompts.load_prompts(chosen, folder, Problems())
        if each.name == prompt.name and each.front.status == "active" and each.version != version
    ]
    replaced = [each.version for each in others]
    prompts.stop_at_placeholder(folder, chosen.name, version)
    try:
        result = latest_result(Workbench(project, chosen), version)
        standing = allow_activation(result)
    except (Refused, NotCurrent) as refused:
        say(f"{version} cannot become active:\n{refused}", err=True)
        context.exit(BLOCKED)
    comparison = standing.comparison if standing else None
    against = objections_to(result.bench, result.evaluation, Standings())
    section = changelog_section(chosen, result.evaluation, comparison, against)
    edits = [(prompt.path, prompts.with_status(prompt, "active"))]
    edits += [(other.path, prompts.with_status(other, "archived")) for other in others]
    with prompts.changelog_lock(project):
        text = prompts.read_changelog(folder, chosen.name)
        text = prompts.with_activation(text, version, replaced, datetime.date.today())
        edits += [(folder / prompts.CHANGELOG, prompts.with_evaluation(text, version, section))]
        # The new one first: two active versions of a prompt are refused by all that reads them, and the same
        # command then finishes the work; none at all would go unnoticed beside other prompts of the suite.
        for path, content in edits:
            prompts.write_edited(path, content)
    archived = f"; {', '.join(replaced)} is archived" if replaced else ""
    say(f"{version} is active{archived}.")
    for note in comparison.notes if comparison else ():
        say(f"Note: {note}")
    try:
        show_active_version(Workbench(project, chosen))
    except BadInput as bad:  # it is active all the same
        say(f"Note: the UI will show it after the next evaluation: {bad}")


@command.command("changelog")
@click.argument("suite", shell_complete=completing.suites())
@click.argument("version", required=False, shell_complete=completing.versions())
def changelog(suite: str, version: str | None) -> None:
    """Write the latest evaluations into the changelog: of VERSION, or of every version with an entry.

    `eval-pipeline run` and the UI do so by themselves; this is for evaluations that were made elsewhere.
    """
    project = Project.find()
    chosen = find_suite(project, suite)
    folder = project.prompts(chosen.name)
    text = prompts.read_changelog(folder, chosen.name)
    named = [prompts.prompt_file(folder, version).stem] if version else prompts.versions_in(folder)
    for each in named:
        if not prompts.has_entry(text, each):
            say(f"{each}: has no entry in {shown_path(folder / prompts.CHANGELOG)}.")
            continue
        bench = Workbench(project, chosen)
        result = latest_result(bench, each)
        changed = keep_in_changelog(bench, result.evaluation, result.standings())
        say(f"{each}: {'its entry is written anew' if changed else 'its entry stays as it is'}.")


def _active(suite: Suite, folder: Path, name: str) -> prompts.Prompt:
    problems = Problems()
    active = [
        prompt
        for prompt in prompts.load_prompts(suite, folder, problems)
        if prompt.name == name and prompt.front.status == "active"
    ]
    if len(active) != 1:
        problems.stop_if_any()
        names = (
            ", ".join(sorted({prompts.prompt_name(version) for version in prompts.versions_in(folder)}))
            or "none"
        )
        raise bad_value("name", f"no version of {name!r} is active", f"Prompts of {suite.name}: {names}.")
    return active[0]
