"""Kills before each file operation of a command: each file is old or new, and the next try works."""

from __future__ import annotations

import os
import re
import sys
from collections import Counter
from collections.abc import Mapping
from functools import partial
from typing import NamedTuple

from benchmarks.hostile.commands import KILLED, Outcome, attempt
from benchmarks.hostile.projects import LOWER, NEXT, Pristine
from benchmarks.hostile.tally import Tried, ended
from eval_pipeline.project import Project

CHANGING = {
    "os.rename",
    "os.remove",
    "os.mkdir",
    "os.rmdir",
    "os.link",
    "os.symlink",
    "os.chmod",
    "os.truncate",
}
WRITING = os.O_WRONLY | os.O_RDWR
HASH = re.compile(rb"[0-9a-f]{12,}")
VARYING = re.compile(rb"\d{4}-\d\d-\d\dT[\d:.+Z-]+|[0-9a-f]{12,}|\d+\.\d+")
"""What differs from try to try: times, how long something took, and hashes over them."""
MOST = 200

BY = ("--reason", "it is right", "--by", "Ada")
OUT = ("--markdown", "summary.md", "--junit", "junit.xml", "--json", "gate.json")


class Doing(NamedTuple):
    """A command that writes, the codes that it may end with, and whether its state counts."""

    arguments: tuple[str, ...]
    codes: tuple[int, ...] = (0,)
    with_state: bool = True


DOINGS = {
    "baseline promote": Doing(("baseline", "promote", "toy", NEXT, *BY)),
    "golden freeze": Doing(("golden", "freeze", "toy", *BY)),
    "prompt new": Doing(("prompt", "new", "toy", "guess", "--minor")),
    "prompt activate": Doing(("prompt", "activate", "toy", NEXT)),
    "approve": Doing(("approve", "toy", LOWER, "--metric", "accuracy", *BY)),
    "gate": Doing(("gate", "toy", *OUT), (0, 1), with_state=False),  # `make kills` is about runs
}


def kill_all(pristine: Pristine, names: tuple[str, ...] = tuple(DOINGS), every: int = 1) -> list[Tried]:
    """Kill each command before each of its file operations, or before every so many of them."""
    return [tried for name in names for tried in _kill(pristine, name, DOINGS[name], every)]


def _kill(pristine: Pristine, name: str, doing: Doing, every: int) -> list[Tried]:
    project = pristine.project
    whole = attempt(project, *doing.arguments)
    if whole.trouble or whole.code not in doing.codes:
        return [ended("kill", name, f"does not work: {whole.trouble or whole.err}")]
    new = {path: _content(project, path) for path in pristine.changed()}
    pristine.restore()
    tried = []
    for number in range(1, MOST, every):
        killed = attempt(project, *doing.arguments, prepared=partial(_die_before, number, project, doing))
        if killed.code != KILLED:
            pristine.restore()
            break
        half, is_done = torn(pristine, new), _is_done(pristine, new)
        again = attempt(project, *doing.arguments)
        trouble = half or again.trouble or ("" if is_done else _unfinished(doing, again))
        tried.append(ended("kill", name, trouble and f"{trouble} [operation {number}]"))
        pristine.restore()
    return tried or [ended("kill", name, "there was no file operation to be killed at")]


def _is_done(pristine: Pristine, new: Mapping[str, bytes | None]) -> bool:
    """Whether a command had changed all that it changes when it was killed: there is nothing left to do."""
    wanted = Counter((_bare(path), content) for path, content in new.items() if not _is_state(path))
    changed = pristine.changed()
    found = Counter(
        (_bare(path), _content(pristine.project, path)) for path in changed if not _is_state(path)
    )
    return found == wanted


def _is_state(path: str) -> bool:
    return path.startswith(".eval")


def _bare(path: str) -> bytes:
    """The name of a file without hashes of what varies."""
    return HASH.sub(b"", path.encode())


def _unfinished(doing: Doing, again: Outcome) -> str:
    if again.code in doing.codes:
        return ""
    return f"the next try ends with {again.code}: {(again.err or again.out).strip()[:200]}"


def _die_before(number: int, project: Project, doing: Doing) -> None:
    """End this process before its n-th operation on a file of the project."""
    root, state = f"{project.root}/", f"{project.state}/"
    left = number

    def hook(event: str, given: tuple[object, ...]) -> None:
        nonlocal left
        is_writing = event == "open" and isinstance(given[2], int) and bool(given[2] & WRITING)
        if not (is_writing or event in CHANGING) or not isinstance(given[0], str | bytes | os.PathLike):
            return
        path = os.path.abspath(os.fsdecode(given[0]))  # noqa: PTH100 (pathlib would be audited, too)
        if path.startswith(root) and "__pycache__" not in path:
            if path.startswith(state) and not doing.with_state:
                return
            left -= 1
            if left == 0:
                os._exit(KILLED)

    sys.addaudithook(hook)


def _content(project: Project, path: str) -> bytes | None:
    file = project.root / path
    return VARYING.sub(b"", file.read_bytes()) if file.is_file() else None


def torn(pristine: Pristine, new: Mapping[str, bytes | None]) -> str:
    """The first file that is neither the old nor the new one; its name may hold a hash of what varies."""
    contents: dict[bytes, set[bytes | None]] = {}
    for path, content in new.items():
        contents.setdefault(_bare(path), set()).add(content)
    for path in sorted(pristine.changed()):
        if _is_state(path) or (pristine.project.root / path).is_dir():
            continue  # the state is checked by what reads it
        if _content(pristine.project, path) not in contents.get(_bare(path), ()):
            return f"{path} is neither the old nor the new one"
    return ""
