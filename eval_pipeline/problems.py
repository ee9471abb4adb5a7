"""Bad input, reported all at once: where it is, what is wrong, and what to do about it."""

import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TypeVar

import msgspec

T = TypeVar("T")

MOST_SHOWN = 100


class Problem(msgspec.Struct, frozen=True, order=True):
    """One thing that is wrong with a file, or with a value a person gave."""

    file: str
    line: int
    field: str
    message: str
    remedy: str

    def __str__(self) -> str:
        place = f"{self.file}:{self.line}" if self.line else self.file
        subject = f"{self.field}: " if self.field else ""
        return f"{place}: {subject}{self.message.rstrip('.')}. {self.remedy}".rstrip()


class BadInput(Exception):
    """Input that cannot be used. The command line prints the problems and exits with 2."""

    def __init__(self, problems: list[Problem]) -> None:
        super().__init__("\n".join(first_lines(problems)))
        self.problems = problems


def first_lines(problems: Sequence[Problem]) -> list[str]:
    """Problems as lines: as many as a person reads, and how many more there are."""
    more = len(problems) - MOST_SHOWN
    return [*map(str, problems[:MOST_SHOWN]), *([f"… and {more:,} more."] if more > 0 else [])]


class Problems:
    """Collects problems, so that a person sees every one of them in a single attempt."""

    def __init__(self) -> None:
        self._found: list[Problem] = []
        self.notes: list[Problem] = []
        """What a person should know and that stops nothing."""

    def add(
        self,
        file: str | Path,
        message: str,
        remedy: str = "",
        *,
        line: int = 0,
        field: str = "",
    ) -> None:
        """Record a problem; line 0 means that it concerns the whole file."""
        self._found.append(Problem(shown_path(file), line, field, message, remedy))

    def note(self, file: str | Path, message: str, remedy: str = "", *, line: int = 0) -> None:
        """Record what was read in another way than a person may have meant it."""
        self.notes.append(Problem(shown_path(file), line, "", message, remedy))

    def include(self, bad: BadInput) -> None:
        """Take over what somebody else found."""
        self._found += bad.problems

    def __len__(self) -> int:
        return len(self._found)

    def __iter__(self) -> Iterator[Problem]:
        return iter(sorted(set(self._found), key=_reading_order))

    def stop_if_any(self) -> None:
        """Raise everything that was found, or do nothing."""
        if self._found:
            raise BadInput(list(self))


def _reading_order(problem: Problem) -> tuple[object, ...]:
    """By place, with numbers as numbers: concept 2 before concept 10."""
    field = [part.zfill(9) if part.isdecimal() else part for part in re.split(r"(\d+)", problem.field)]
    return problem.file, problem.line, field, problem.message


def without_problems(read: Callable[[Problems], T | None]) -> T:
    """What was read; everything that is wrong with it is raised at once."""
    problems = Problems()
    result = read(problems)
    problems.stop_if_any()
    assert result is not None
    return result


def bad_value(field: str, message: str, remedy: str = "") -> BadInput:
    """A problem with a value given on the command line or in run configuration."""
    return BadInput([Problem("input", 0, field, message, remedy)])


def shown_path(path: str | Path) -> str:
    """The path as a person would type it: relative to the working directory where it lies below it.

    What was taken out of a revision is named by its place there, and by that revision.
    """
    try:
        resolved = Path(path).resolve()
        for tree, revision in _TREES.items():
            if resolved.is_relative_to(tree):
                return f"{resolved.relative_to(tree)} at {revision}"
        return str(resolved.relative_to(Path.cwd()))
    except (ValueError, OSError, RuntimeError):  # links that lead in a circle
        return str(path)


@contextmanager
def tree_of(folder: Path, revision: str) -> Iterator[None]:
    """Let files of a folder be shown as those of a revision, for as long as it is there."""
    tree = folder.resolve()
    _TREES[tree] = revision
    try:
        yield
    finally:
        del _TREES[tree]


_TREES: dict[Path, str] = {}
"""Folders that hold files as of a revision, and its name."""


def is_text(path: str) -> bool:
    """Whether a path is text in UTF-8; the bytes of a file's name may be anything."""
    try:
        path.encode()
    except UnicodeEncodeError:
        return False
    return True
