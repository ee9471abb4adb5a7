"""The cases of a declared suite: which files hold them, and how a row becomes a case."""

from __future__ import annotations

import glob
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from eval_pipeline.declarative.cells import as_text, is_blank
from eval_pipeline.declarative.records import SUFFIXES, Record, columns_of, is_table, read_rows
from eval_pipeline.declarative.task import Task, input_type
from eval_pipeline.files import content_hash, is_there
from eval_pipeline.files.words import did_you_mean
from eval_pipeline.problems import Problems
from eval_pipeline.suite import Case, Place

HIDDEN = "__"
"""Columns that begin so are never input."""
_ID_LENGTH = 12


class CaseFiles:
    """Reads rows of tables and records as cases: input, what scorers need, attributes."""

    suffixes: tuple[str, ...] = SUFFIXES

    def __init__(
        self,
        files: Sequence[str],
        task: Task,
        inputs: Sequence[str] | Mapping[str, str],
        id: str = "",  # noqa: A002  (its name in a suite.yaml)
        attributes: Sequence[str] = (),
    ) -> None:
        self._files = files
        self._task = task
        self._inputs = inputs if isinstance(inputs, Mapping) else {name: name for name in inputs}
        self._input = input_type(self._inputs)
        self._id = id
        self._attributes = attributes

    def of(self, *files: str) -> CaseFiles:
        """The same for other files."""
        return CaseFiles(files, self._task, self._inputs, self._id, self._attributes)

    def files(self, folder: Path, problems: Problems) -> list[Path]:
        """The files that hold the cases of a golden folder."""
        return case_files(folder, self._files, problems)

    def read(self, path: Path, problems: Problems) -> Iterator[tuple[Case[Any, Any], Place]]:
        """The cases of one file."""
        if is_table(path) and not self._has_columns(path, problems):
            return
        for record in read_rows(path, problems):
            case = self._case(path, record, problems)
            if case is not None:
                yield case, Place(path, record.line)

    def _has_columns(self, path: Path, problems: Problems) -> bool:
        columns = columns_of(path, Problems())
        missing = [name for name in self._needed() if name not in columns] if columns else []
        for name in missing:
            remedy = f"{did_you_mean(name, columns)}Columns: {', '.join(columns)}."
            problems.add(path, "is missing in the header", remedy, line=1, field=name)
        return not missing

    def _needed(self) -> list[str]:
        own = [self._id] if self._id else []
        return list(dict.fromkeys((*own, *self._inputs.values(), *self._attributes, *self._task.columns)))

    def _case(self, path: Path, record: Record, problems: Problems) -> Case[Any, Any] | None:
        row, before = record.row, len(problems)
        if not is_table(path):
            self._check_fields(path, record, problems)
        for field, wrong in self._task.check(row):
            problems.add(path, wrong.message, wrong.remedy, line=record.line, field=field)
        if len(problems) > before:
            return None
        values = {name: row.get(column) for name, column in self._inputs.items()}
        given = self._input(**{name: "" if value is None else value for name, value in values.items()})
        own = row.get(self._id) if self._id else None
        return Case(
            f"case-{content_hash(given)[:_ID_LENGTH]}" if is_blank(own) else as_text(own).strip(),
            given,
            {name: row.get(name) for name in self._task.columns},
            {name: as_text(row.get(name)).strip() for name in self._attributes},
        )

    def _check_fields(self, path: Path, record: Record, problems: Problems) -> None:
        """A record may lack a field that is optional; one that nobody asked for may be a misspelt one."""
        missing = [name for name in self._inputs.values() if name not in record.row]
        for name in missing:
            remedy = f"{did_you_mean(name, record.row)}Every case needs it."
            problems.add(path, "is missing", remedy, line=record.line, field=name)


def case_files(folder: Path, patterns: Sequence[str], problems: Problems) -> list[Path]:
    """The files that patterns name, from a golden folder on and inside of its project."""
    root = folder.resolve().parent.parent
    found: dict[Path, None] = {}
    for pattern in patterns:
        paths = _matching(folder, pattern)
        if not paths:
            problems.add(
                folder / pattern, "there is no such file", "Name files of cases, from this folder on."
            )
        for path in paths:
            if not path.resolve().is_relative_to(root):
                problems.add(path, "leads out of the project", "Keep cases inside of it.")
            elif path.suffix.lower() not in SUFFIXES:
                problems.add(path, "is in no known format", f"Known: {', '.join(SUFFIXES)}.")
            else:
                found[path] = None
    return list(found)


def _matching(folder: Path, pattern: str) -> list[Path]:
    """The files that a pattern names; a plain name is itself, whatever characters it has."""
    plain = folder / pattern.lstrip("/")
    if plain.is_file() or not glob.has_magic(pattern):
        return [plain] if is_there(plain) else []
    steps = [part for part in pattern.split("/") if part]
    while steps and steps[0] == "..":
        folder, steps = folder.parent, steps[1:]
    return sorted(path for path in folder.glob("/".join(steps)) if not path.is_dir())
