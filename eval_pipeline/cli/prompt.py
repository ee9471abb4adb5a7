"""`eval-pipeline prompt`: begin a new version, and make one the active one."""

from __future__ import annotations

import datetime
import re
from pathlib import Path

import click

from eval_pipeline import stages
from eval_pipeline.cli import BLOCKED
from eval_pipeline.comparison import Comparison, MetricChange
from eval_pipeline.content import write_text
from eval_pipeline.problems import Problems, bad_value, shown_path
from eval_pipeline.project import Project
from eval_pipeline.prompt import Prompt, load_prompt, load_prompts, prompt_name, version_order, versions_in
from eval_pipeline.reports.evaluation import units
from eval_pipeline.reports.numbers import change, number
from eval_pipeline.store import Store
from eval_pipeline.store.baselines import Objection, Refused, objections, refusal
from eval_pipeline.store.tables import AnswerTable
from eval_pipeline.suite import Suite
from eval_pipeline.suites import find_suite

CHANGELOG = "CHANGELOG.md"
_STATUS = re.compile(r"^status:.*$", re.MULTILINE)
_PREDECESSOR = re.compile(r"^predecessor:.*\n", re.MULTILINE)
_DESCRIPTION = re.compile(r"^description:.*\n(?:[ \t]+.*\n)*", re.MULTILINE)


@click.group("prompt")
def command() -> None:
    """Begin a new prompt version, or make one the active one."""


@command.command("new")
@click.argument("suite")
@click.argument("name")
@click.option("--minor", "step", flag_value="minor", help="v1.0 → v1.1")
@click.option("--major", "step", flag_value="major", help="v1.1 → v2.0")
def new(suite: str, name: str, step: str | None) -> None:
    """Copy the active version of the prompt NAME to a new version, and open an entry in the changelog."""
    if step is None:
        raise bad_value("--minor or --major", "is missing", "Say how large the change is.")
    project = Project.find()
    found = find_suite(project, suite)
    folder = project.prompts(found.name)
    active = _active(found, folder, name)
    version = _following(folder, active, step)
    text = active.path.read_text(encoding="utf-8-sig")
    head, body = text[: -len(active.body)] if active.body else text, active.body
    head = _STATUS.sub("status: candidate", head, count=1)
    head = _DESCRIPTION.sub("", _PREDECESSOR.sub("", head, count=1), count=1)
    head = head.replace("status: candidate\n", f"status: candidate\npredecessor: {active.version}\n", 1)
    write_text(folder / f"{version}.md", head + body)
    entry = [
        f"## {name} {version.rpartition('-')[2]} ({datetime.date.today()}, candidate)",  # noqa: DTZ011
        "### Changes\n- (what changes from " + active.version + ", and why)",
    ]
    _add_entry(folder / CHANGELOG, found.name, "\n\n".join(entry))
    click.echo(f"{shown_path(folder / f'{version}.md')} is a copy of {active.version}.")
    click.echo(f"Say what changes in {shown_path(folder / CHANGELOG)}, then run:")
    click.echo(f"eval-pipeline run {found.name} --prompt {version}")


@command.command("activate")
@click.argument("suite")
@click.argument("version")
@click.pass_context
def activate(context: click.Context, suite: str, version: str) -> None:
    """Make VERSION the active one of its prompt, and archive the one before it.

    Refused where it was not evaluated as it is now, and, unless that was approved, where it fails a gate or
    is worse than the baseline or than the version it replaces by more than the gates allow, surely or
    possibly. Nothing is deleted.
    """
    project = Project.find()
    found = find_suite(project, suite)
    folder = project.prompts(found.name)
    problems = Problems()
    prompt = load_prompt(found, folder, version, problems)
    problems.stop_if_any()
    assert prompt is not None
    others = [
        each
        for each in load_prompts(found, folder, Problems())
        if each.name == prompt.name and each.front.status == "active" and each.version != version
    ]
    try:
        comparison = _judge(project, found, prompt, others)
    except Refused as refused:
        click.echo(f"{version} cannot become active:\n{refused}", err=True)
        context.exit(BLOCKED)
    for other in others:
        _set_status(other.path, "archived")
    _set_status(prompt.path, "active")
    if comparison is not None:
        _note_impact(folder / CHANGELOG, found, prompt, comparison)
    archived = f"; {', '.join(each.version for each in others)} is archived" if others else ""
    click.echo(f"{version} is active{archived}.")


def _active(suite: Suite, folder: Path, name: str) -> Prompt:
    problems = Problems()
    active = [
        prompt
        for prompt in load_prompts(suite, folder, problems)
        if prompt.name == name and prompt.front.status == "active"
    ]
    if not active:
        problems.stop_if_any()
        names = ", ".join(sorted({prompt_name(version) for version in versions_in(folder)})) or "none"
        raise bad_value("name", f"no version of {name!r} is active", f"Prompts of {suite.name}: {names}.")
    return active[0]


def _following(folder: Path, active: Prompt, step: str) -> str:
    """The next free number: after the active version's minor ones, or after every major one."""
    versions = [version_order(each) for each in versions_in(folder) if prompt_name(each) == active.name]
    if step == "major":
        return f"{active.name}-v{max(major for _, major, _ in versions) + 1}.0"
    current = version_order(active.version)[1]
    minor = max(minor for _, major, minor in versions if major == current)
    return f"{active.name}-v{current}.{minor + 1}"


def _judge(project: Project, suite: Suite, prompt: Prompt, replaced: list[Prompt]) -> Comparison | None:
    """Refuse what the numbers do not allow; the comparison with the version that is replaced."""
    store = Store(project.state)
    golden = stages.load_golden(project, store, suite).table
    answers = store.outputs(suite.name, prompt.version)
    rerun = f"Run: eval-pipeline run {suite.name} --prompt {prompt.version}"
    if answers is None:
        raise Refused(f"It was never evaluated. {rerun}")
    if (answers.identity.prompt_hash, answers.identity.inputs_hash) != (
        prompt.hash,
        golden.facts.inputs_hash,
    ):
        raise Refused(f"The prompt or the golden set changed since it was evaluated. {rerun}")
    scored = stages.score_answers(project, suite, golden, answers)
    evaluation = stages.evaluate(project, suite, scored, stages.load_gates(project, suite))
    against: list[Comparison | None] = [stages.compare_with_baseline(project, suite, golden, answers)]
    against += [
        stages.compare_versions(project, suite, golden, before, answers)
        for each in replaced
        if (before := _current(store, suite, each, golden.facts.inputs_hash)) is not None
    ]
    approvals = stages.approvals_for(project, suite, evaluation, against[0])
    own = objections(evaluation, [against[0]] if against[0] else [], approvals)
    if own:
        raise refusal(suite.name, prompt.version, own)
    for each in against[1:]:
        if each is not None and each.undecided:
            found = Objection(tuple(each.undecided), f"Compared with {each.before}: {each.sentence}")
            raise refusal(suite.name, prompt.version, [found], f" --against {each.before}")
    return against[-1]


def _current(store: Store, suite: Suite, prompt: Prompt, inputs_hash: str) -> AnswerTable | None:
    answers = store.outputs(suite.name, prompt.version)
    return answers if answers is not None and answers.identity.inputs_hash == inputs_hash else None


def _set_status(path: Path, status: str) -> None:
    write_text(path, _STATUS.sub(f"status: {status}", path.read_text(encoding="utf-8-sig"), count=1))


def _add_entry(path: Path, suite: str, entry: str) -> None:
    text = path.read_text(encoding="utf-8") if path.is_file() else f"# Changelog of the {suite} prompts\n"
    place = text.find("\n## ")
    before, after = (text, "") if place < 0 else (text[: place + 1], text[place + 1 :])
    write_text(path, f"{before.rstrip()}\n\n{entry}\n" + (f"\n{after}" if after else ""))


def _note_impact(path: Path, suite: Suite, prompt: Prompt, comparison: Comparison) -> None:
    """Add what the numbers did to the version's entry in the changelog."""
    text = path.read_text(encoding="utf-8") if path.is_file() else ""
    title = f"## {prompt.name} {prompt.version.rpartition('-')[2]} ("
    start = text.find(title)
    if start < 0:
        return
    end = text.find("\n## ", start + 1)
    entry = (text[start:] if end < 0 else text[start:end]).rstrip()
    entry = entry.replace(", candidate)", ", active)", 1)
    if "### Metrics" not in entry:
        entry += "\n\n" + _impact(suite, comparison)
    write_text(path, text[:start] + entry + "\n" + (text[end:] if end >= 0 else ""))


def _impact(suite: Suite, comparison: Comparison) -> str:
    unit = units(suite)

    def row(each: MetricChange) -> str:
        cells = (
            each.metric,
            number(each.before, unit[each.metric]),
            number(each.after, unit[each.metric]),
            change(each.difference, unit[each.metric]),
        )
        return f"| {' | '.join(cells)} |"

    header = f"| Metric | {comparison.before} | {comparison.after} | Delta |\n|---|---|---|---|"
    rows = "\n".join(row(each) for each in comparison.metrics if each.gated)
    return f"### Metrics impact\n{header}\n{rows}"
