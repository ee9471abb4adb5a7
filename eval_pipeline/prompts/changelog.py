"""The changelog of a suite's prompts: an entry for each version, the newest first."""

import datetime
import fcntl
import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from eval_pipeline.problems import BadInput, Problem, shown_path
from eval_pipeline.project import Project
from eval_pipeline.prompts.editing import read_edited, write_edited
from eval_pipeline.prompts.versions import Status, prompt_name

CHANGELOG = "CHANGELOG.md"
IMPACT = "### Metrics impact"
BEGIN = "<!-- written by eval-pipeline, anew by every run -->"
END = "<!-- end of what eval-pipeline writes -->"
_PLACEHOLDER = "- (what changes from {}, and why)"
_PLACEHOLDER_LINE = re.compile(r"^- \(what changes from .*, and why\)[ \t]*$", re.MULTILINE)
_WRITTEN = re.compile(rf"{re.escape(BEGIN)}\n.*?{re.escape(END)}\n", re.DOTALL)
_BARE_TABLE = re.compile(rf"^{re.escape(IMPACT)}\n+(?:\|.*\n)+", re.MULTILINE)
"""As it was written without marks, and as people write it."""
_NOTES = re.compile(r"^### Notes$", re.MULTILINE)
_STATUS = re.compile(r"^(## .*, )(?:active|candidate|archived)\)", re.MULTILINE)


def read_changelog(folder: Path, suite: str) -> str:
    """The changelog of a folder of prompts, or the beginning of one."""
    path = folder / CHANGELOG
    return read_edited(path) if path.is_file() else f"# Changelog of the {suite} prompts\n"


def with_entry(text: str, version: str, status: Status, content: str, day: datetime.date) -> str:
    """A changelog with an entry of a day for a version before all others."""
    first = re.search(r"^## ", text, re.MULTILINE)
    before, after = (text[: first.start()], text[first.start() :]) if first else (text, "")
    return f"{before.rstrip()}\n\n{_title(version)}{day}, {status})\n\n{content}\n" + (
        f"\n{after}" if after else ""
    )


def opening(version: str) -> str:
    """What the entry of a version that follows another one says at first: a place for what changes."""
    return f"### Changes\n{_PLACEHOLDER.format(version)}"


def with_activation(text: str, version: str, archived: Sequence[str], day: datetime.date) -> str:
    """A changelog in which a version is active and others archived; it gets an entry where it has none."""
    if _entry(text, version) is None:
        text = with_entry(text, version, "active", "### Notes\n- No entry was begun for this version.", day)
    for each, status in ((version, "active"), *((other, "archived") for other in archived)):
        if match := _entry(text, each):
            entry = _STATUS.sub(rf"\g<1>{status})", match[0], count=1)
            text = text[: match.start()] + entry + text[match.end() :]
    return text


def with_evaluation(text: str, version: str, section: str) -> str:
    """A changelog in which the entry of a version holds what its evaluation says, between two marks.

    It takes the place of what was written there before, or of a mere table; else it stands before the notes.
    All other text stays as it is, and so does a changelog without an entry for the version.
    """
    match = _entry(text, version)
    if match is None:
        return text
    written = f"{BEGIN}\n{IMPACT}\n\n{section.strip()}\n{END}\n"
    entry = match[0]
    place = _WRITTEN.search(entry) or _BARE_TABLE.search(entry)
    if place:
        entry = entry[: place.start()] + written + entry[place.end() :]
    elif notes := _NOTES.search(entry):
        entry = f"{entry[: notes.start()]}{written}\n{entry[notes.start() :]}"
    else:
        entry = f"{entry.rstrip()}\n\n{written}" + ("\n" if match.end() < len(text) else "")
    return text[: match.start()] + entry + text[match.end() :]


def has_entry(text: str, version: str) -> bool:
    """Whether a changelog has an entry for a version."""
    return _entry(text, version) is not None


def has_evaluation(text: str, version: str) -> bool:
    """Whether the entry of a version holds what an evaluation says."""
    entry = _entry(text, version)
    return entry is not None and _WRITTEN.search(entry[0]) is not None


def stop_at_placeholder(folder: Path, suite: str, version: str) -> None:
    """Refuse a version whose entry does not say yet what changes."""
    text = read_changelog(folder, suite)
    entry = _entry(text, version)
    if entry and (left := _PLACEHOLDER_LINE.search(entry[0])):
        line = text.count("\n", 0, entry.start() + left.start()) + 1
        message = f"the entry of {version} does not say what changes"
        remedy = "Put in place of the placeholder what changes, and why."
        raise BadInput([Problem(shown_path(folder / CHANGELOG), line, "Changes", message, remedy)])


@contextmanager
def changelog_lock(project: Project) -> Iterator[None]:
    """Let nobody else change a changelog meanwhile."""
    project.state.mkdir(parents=True, exist_ok=True)
    with (project.state / ".changelog.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def edit_changelog(project: Project, suite: str, change: Callable[[str], str]) -> bool:
    """Change the changelog of a suite, one process at a time; whether anything changed."""
    folder = project.prompts(suite)
    with changelog_lock(project):
        before = read_changelog(folder, suite)
        after = change(before)
        if after != before:
            write_edited(folder / CHANGELOG, after)
        return after != before


def _title(version: str) -> str:
    """How the entry of a version begins, up to its date and status."""
    return f"## {prompt_name(version)} {version.rpartition('-')[2]} ("


def _entry(text: str, version: str) -> re.Match[str] | None:
    return re.search(rf"^{re.escape(_title(version))}.*?(?=^## |\Z)", text, re.MULTILINE | re.DOTALL)
