"""Suggested golden cases and canaries: files of their own, which nobody reads as cases.

They lie in `production/suggested/<suite>/`, one for each, until a person accepts or drops them.
"""

from __future__ import annotations

import datetime
import os
import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, TypeVar

import msgspec

from eval_pipeline.files import is_there, read_json, read_json_lines, remove, replacing, write_json
from eval_pipeline.improvement.checking import including
from eval_pipeline.loading import find_suite
from eval_pipeline.problems import Problems
from eval_pipeline.project import Project
from eval_pipeline.suite import Suite

T = TypeVar("T")

FOLDER = "production/suggested"
DROPPED_FILE = "dropped.jsonl"
ACCEPTED_FILE = "accepted.jsonl"
ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,199}")


class Suggestion(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True, kw_only=True):
    """A case or a canary that production suggests."""

    suite: str
    about: str
    """What it is about, in a few words."""
    to_do: str
    """What a person has to do about it."""
    why: list[str]
    """Why it was chosen, the strongest reason first."""
    times: int
    """How many requests failed in this way."""
    requests: list[str]
    versions: list[str] = []
    suggested: str
    """The day."""
    group: str = ""
    """What it is about together with others: the words of the first of them."""
    near: str = ""
    """The golden case that is most alike, and how much."""
    simulated: bool = False
    input: str
    """What the request shares with others that ask the same."""
    answer: Any = None
    """What was answered, as it was kept."""
    case: dict[str, Any] | None = None
    """A golden entry in the suite's own fields; null is what a person fills in."""
    canary: str | None = None
    """A name that answers made up."""
    forbid_in: list[str] | None = None
    """The golden cases that are to forbid it; a person fills it in."""


class Dropped(msgspec.Struct, frozen=True):
    """A suggestion that nobody wants: it does not come back. No text of the request is kept."""

    input: str
    by: str
    at: str
    reason: str


class Kept(msgspec.Struct, frozen=True):
    """A suggestion that became a case or a canary: it does not come back either."""

    input: str
    case: str
    """The case, or the first of those that forbid the canary."""
    at: str


def folder_of(project: Project, suite: str) -> Path:
    """Where a suite's suggestions lie."""
    return project.root / FOLDER / suite


def files_of(project: Project, suite: str) -> list[Path]:
    """A suite's suggestions, undecided."""
    return sorted(path for path in folder_of(project, suite).glob("*.json") if not path.name.startswith("."))


def read_suggestion(path: Path, problems: Problems) -> Suggestion | None:
    """The suggestion in a file; what is wrong with it goes to `problems`."""
    if not is_there(path):
        problems.add(path, "there is no such file", "See: eval-pipeline cases list.")
        return None
    return next((each.record for each in read_json(path, Suggestion, problems)), None)


def read_suggestions(
    project: Project, paths: Sequence[Path], problems: Problems
) -> list[tuple[Path, Suggestion, Suite]]:
    """The suggestions in some files, each once, with their suites; what is wrong goes to `problems`."""
    found = []
    for path in {os.path.realpath(path): path for path in paths}.values():
        suggestion = read_suggestion(path, problems)
        if suggestion is None:
            continue
        with including(problems, path):
            found.append((path, suggestion, find_suite(project, suggestion.suite)))
    return found


def undecided(project: Project, suite: str) -> Iterator[tuple[Path, Suggestion]]:
    """A suite's suggestions; a file that somebody broke is left to whoever accepts it."""
    for path in files_of(project, suite):
        suggestion = read_suggestion(path, Problems())
        if suggestion is not None:
            yield path, suggestion


def write_suggestion(project: Project, name: str, suggestion: Suggestion) -> Path:
    """Write a suggestion under a name that no other has."""
    path = folder_of(project, suggestion.suite) / f"{name}.json"
    write_json(path, suggestion)
    return path


def dropped_inputs(project: Project, suite: str) -> set[str]:
    """The inputs and canaries that a person does not want suggested again."""
    return {each.input for each in _records(project, suite, DROPPED_FILE, Dropped)}


def accepted_inputs(project: Project, suite: str) -> dict[str, str]:
    """The inputs and canaries that a person accepted, each with its case."""
    return {each.input: each.case for each in _records(project, suite, ACCEPTED_FILE, Kept)}


def note_accepted(project: Project, suggestion: Suggestion, case: str) -> None:
    """Remember what became a case, by a hash of its input, so that it is not suggested again."""
    _note(project, suggestion.suite, ACCEPTED_FILE, Kept(suggestion.input, case, _now()))


def drop(project: Project, paths: Sequence[Path], by: str, reason: str) -> list[tuple[Path, Suggestion]]:
    """Forget suggestions for good, all of them or none; who, why and a hash of each input are kept."""
    problems = Problems()
    found = read_suggestions(project, paths, problems)
    problems.stop_if_any()
    for path, suggestion, suite in found:
        _note(project, suite.name, DROPPED_FILE, Dropped(suggestion.input, by, _now(), reason))
        remove(path)
    return [(path, suggestion) for path, suggestion, _ in found]


def _records(project: Project, suite: str, name: str, kind: type[T]) -> list[T]:
    """What a file beside a suite's suggestions remembers."""
    path = folder_of(project, suite) / name
    problems = Problems()
    found = [each.record for each in read_json_lines(path, kind, problems)] if is_there(path) else []
    problems.stop_if_any()
    return found


def _note(project: Project, suite: str, name: str, record: msgspec.Struct) -> None:
    path = folder_of(project, suite) / name
    before = path.read_bytes() if is_there(path) else b""
    with replacing(path) as temporary:
        temporary.write_bytes(before + msgspec.json.encode(record) + b"\n")


def _now() -> str:
    return datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds")
