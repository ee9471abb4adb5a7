"""`eval-pipeline prompt`: begin a new version, and make one the active one."""

from __future__ import annotations

import datetime
import re
from collections.abc import Sequence
from pathlib import Path

import click
from msgspec.structs import replace

from eval_pipeline.cli import BLOCKED
from eval_pipeline.comparison import Comparison
from eval_pipeline.decisions import Refused, allow_activation, latest_result
from eval_pipeline.files import write_text
from eval_pipeline.problems import Problems, bad_value, shown_path
from eval_pipeline.project import Project
from eval_pipeline.prompts import (
    FrontMatter,
    Prompt,
    Status,
    as_written,
    load_prompt,
    load_prompts,
    prompt_name,
    version_order,
    versions_in,
)
from eval_pipeline.reports import impact_table, table
from eval_pipeline.stages import NotCurrent, Workbench
from eval_pipeline.suite import Suite
from eval_pipeline.suites import find_suite

CHANGELOG = "CHANGELOG.md"
IMPACT = "### Metrics impact"
BYTE_ORDER_MARK = "\ufeff"
_FRONT_END = re.compile(r"^---[ \t]*$", re.MULTILINE)
_STATUS = re.compile(
    r"""^((["']?)status\2[ \t]*:[ \t]*)(["']?)(?:active|candidate|archived)\3""", re.MULTILINE
)
_PREDECESSOR = re.compile(r"^(predecessor[ \t]*:)[ \t]*[^#\n]*?(?=[ \t]*(?:#.*)?$)", re.MULTILINE)
_STATED = re.compile(r"^(## .*, )(?:active|candidate|archived)\)", re.MULTILINE)
_DESCRIPTION = re.compile(r"^description[ \t]*:.*\n(?:[ \t]+.*\n|[ \t]*\n)*", re.MULTILINE)


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
    _copy(active, folder / f"{version}.md")
    entry = f"### Changes\n- (what changes from {active.version}, and why)"
    _write(folder / CHANGELOG, _with_entry(_changelog(folder, found), version, "candidate", entry))
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
        result = latest_result(Workbench(project, found), version)
        standing = allow_activation(result, [each.version for each in others])
    except (Refused, NotCurrent) as refused:
        click.echo(f"{version} cannot become active:\n{refused}", err=True)
        context.exit(BLOCKED)
    comparison = standing.comparison if standing else None
    edits = [(prompt.path, _with_status(prompt, "active"))]
    edits += [(other.path, _with_status(other, "archived")) for other in others]
    edits += [(folder / CHANGELOG, _noted(folder, found, prompt, others, comparison))]
    # The new one first: two active versions of a prompt are refused by all that reads them, and the same
    # command then finishes the work; none at all would go unnoticed beside other prompts of the suite.
    for path, text in edits:
        _write(path, text)
    archived = f"; {', '.join(each.version for each in others)} is archived" if others else ""
    click.echo(f"{version} is active{archived}.")
    for note in comparison.notes if comparison else ():
        click.echo(f"Note: {note}")


def _active(suite: Suite, folder: Path, name: str) -> Prompt:
    problems = Problems()
    active = [
        prompt
        for prompt in load_prompts(suite, folder, problems)
        if prompt.name == name and prompt.front.status == "active"
    ]
    if len(active) != 1:
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


def _read(path: Path) -> str:
    """A file's text with line ends of one kind; a byte order mark stays."""
    try:
        return path.read_bytes().decode().replace("\r\n", "\n")
    except UnicodeDecodeError as error:
        remedy = "Save the file as UTF-8."
        raise bad_value(shown_path(path), f"byte {error.start} is not UTF-8", remedy) from None


def _write(path: Path, text: str, like: Path | None = None) -> None:
    """Write a text with the line ends of the file it replaces, or of another one."""
    model = like or path
    ends = "\r\n" if model.is_file() and b"\r\n" in model.read_bytes() else "\n"
    write_text(path, text.replace("\n", ends))


def _copy(active: Prompt, path: Path) -> None:
    """Write a version's text as a candidate that follows it: everything stays but what speaks of itself."""
    head, body = _parts(active)
    head = _DESCRIPTION.sub("", head, count=1)
    head = _STATUS.sub(r"\g<1>candidate", head, count=1)
    if _PREDECESSOR.search(head):
        head = _PREDECESSOR.sub(rf"\g<1> {active.version}", head, count=1)
    else:
        head = re.sub(
            _STATUS.pattern + r".*\n", rf"\g<0>predecessor: {active.version}\n", head, count=1, flags=re.M
        )
    expected = replace(active.front, status="candidate", predecessor=active.version, description="")
    _stop_unless(active, head + body, expected)
    _write(path, head + body, active.path)


def _with_status(prompt: Prompt, status: Status) -> str:
    """A prompt file's text with another status, and nothing else changed."""
    head, body = _parts(prompt)
    head = _STATUS.sub(rf"\g<1>{status}", head, count=1)
    _stop_unless(prompt, head + body, replace(prompt.front, status=status))
    return head + body


def _parts(prompt: Prompt) -> tuple[str, str]:
    """A prompt file's front matter, with the lines around it, and its body."""
    text = _read(prompt.path)
    found = _FRONT_END.search(text, text.find("\n"))
    end = found.end() if found else 0
    return text[:end], text[end:]


def _stop_unless(prompt: Prompt, text: str, expected: FrontMatter) -> None:
    """Refuse to write front matter that says something else than intended."""
    written = as_written(text.removeprefix(BYTE_ORDER_MARK))
    if written is None or written.front != expected:
        raise bad_value(
            shown_path(prompt.path),
            "its front matter is written in a way that cannot be edited",
            "Write suite, status, predecessor and description each on a line of its own.",
        )


def _changelog(folder: Path, suite: Suite) -> str:
    path = folder / CHANGELOG
    return _read(path) if path.is_file() else f"# Changelog of the {suite.name} prompts\n"


def _title(version: str) -> str:
    """How the entry of a version begins, up to its date and status."""
    return f"## {prompt_name(version)} {version.rpartition('-')[2]} ("


def _entry(text: str, version: str) -> re.Match[str] | None:
    return re.search(rf"^{re.escape(_title(version))}.*?(?=^## |\Z)", text, re.MULTILINE | re.DOTALL)


def _with_entry(text: str, version: str, status: Status, content: str) -> str:
    """A changelog with an entry for a version before all others."""
    first = re.search(r"^## ", text, re.MULTILINE)
    before, after = (text[: first.start()], text[first.start() :]) if first else (text, "")
    today = datetime.date.today()  # noqa: DTZ011
    return f"{before.rstrip()}\n\n{_title(version)}{today}, {status})\n\n{content}\n" + (
        f"\n{after}" if after else ""
    )


def _noted(
    folder: Path, suite: Suite, prompt: Prompt, replaced: Sequence[Prompt], comparison: Comparison | None
) -> str:
    """The changelog as it says which version is active now, which are not, and what the numbers did."""
    text = _changelog(folder, suite)
    impact = f"{IMPACT}\n{table(impact_table(suite, comparison))}" if comparison else ""
    if _entry(text, prompt.version) is None:
        text = _with_entry(text, prompt.version, "active", impact or "### Notes\n- The first version.")
    for version, status in ((prompt.version, "active"), *((each.version, "archived") for each in replaced)):
        if found := _entry(text, version):
            entry = _STATED.sub(rf"\g<1>{status})", found[0], count=1)
            if version == prompt.version and impact and IMPACT not in entry:
                entry = f"{entry.rstrip()}\n\n{impact}\n" + ("\n" if found.end() < len(text) else "")
            text = text[: found.start()] + entry + text[found.end() :]
    return text
