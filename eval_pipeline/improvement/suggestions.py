"""Suggested golden cases and canaries: files of their own, which nobody reads as cases.

They lie in `production/suggested/<suite>/`, one for each, until a person accepts or drops them.
"""

from __future__ import annotations

import datetime
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec

from eval_pipeline.files import is_there, read_json, read_json_lines, remove, replacing, write_json
from eval_pipeline.problems import BadInput, Problem, Problems, shown_path
from eval_pipeline.project import Project

FOLDER = "production/suggested"
DROPPED_FILE = "dropped.jsonl"
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
    path = folder_of(project, suite) / DROPPED_FILE
    problems = Problems()
    known = (
        {each.record.input for each in read_json_lines(path, Dropped, problems)} if is_there(path) else set()
    )
    problems.stop_if_any()
    return known


def drop(project: Project, path: Path, by: str, reason: str) -> Suggestion:
    """Forget a suggestion for good; who, why and a hash of the input are kept."""
    problems = Problems()
    suggestion = read_suggestion(path, problems)
    problems.stop_if_any()
    if suggestion is None:
        raise BadInput([Problem(shown_path(path), 0, "", "holds no suggestion", "")])
    record = folder_of(project, suggestion.suite) / DROPPED_FILE
    now = datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds")
    before = record.read_bytes() if is_there(record) else b""
    with replacing(record) as temporary:
        line = msgspec.json.encode(Dropped(suggestion.input, by, now, reason))
        temporary.write_bytes(before + line + b"\n")
    remove(path)
    return suggestion
