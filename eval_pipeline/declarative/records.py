"""Files of cases as rows: CSV, TSV, JSON Lines, JSON, YAML and Parquet. Every problem has its line."""

from __future__ import annotations

import csv
from collections.abc import Iterable, Iterator
from io import TextIOWrapper
from pathlib import Path
from typing import IO, Any, NamedTuple

import msgspec

from eval_pipeline.files import BYTE_ORDER_MARK, read_json, read_json_lines, read_yaml
from eval_pipeline.problems import Problems

LARGEST_CELL = 16 * 2**20
MOST_RAGGED = 100
_UTF16 = (b"\xff\xfe", b"\xfe\xff")
TABLES = (".csv", ".tsv")
JSON_LINES = (".jsonl", ".ndjson")
YAML = (".yaml", ".yml")
PARQUET = ".parquet"
SUFFIXES = (*TABLES, *JSON_LINES, ".json", *YAML, PARQUET)
CaseRow = dict[str, Any]


class Record(NamedTuple):
    """A row and its line; in a Parquet file, its number."""

    row: CaseRow
    line: int


def read_rows(path: Path, problems: Problems) -> Iterator[Record]:
    """The rows of a file; what is wrong goes to `problems`."""
    match path.suffix.lower():
        case ".csv" | ".tsv":
            yield from _table(path, problems)
        case ".jsonl" | ".ndjson":
            for each in read_json_lines(path, CaseRow, problems):
                yield Record(each.record, each.line)
        case ".json":
            for each in read_json(path, CaseRow, problems):
                yield Record(each.record, each.line)
        case ".yaml" | ".yml":
            yield from _yaml(path, problems)
        case ".parquet":
            yield from _parquet(path, problems)
        case _:
            problems.add(path, "is in no known format", f"Known: {', '.join(SUFFIXES)}.")


def columns_of(path: Path, problems: Problems) -> list[str]:
    """The columns of a file: its header, or the fields of its first record."""
    if path.suffix.lower() in TABLES:
        return _Table(path, problems).header()
    first = next(read_rows(path, problems), None)
    return list(first.row) if first else []


def is_table(path: Path) -> bool:
    """Whether a header names the columns of all rows."""
    return path.suffix.lower() in (*TABLES, PARQUET)


def separator_of(path: Path, lines: Iterable[str]) -> str:
    """What stands between cells: a tab in TSV, else a comma, or a semicolon where the header has no comma."""
    if path.suffix.lower() == ".tsv":
        return "\t"
    header = next((line for line in lines if line.strip()), "")
    return ";" if ";" in header and "," not in header else ","


class _Table:
    """A file of comma- or tab-separated text."""

    def __init__(self, path: Path, problems: Problems) -> None:
        self._path = path
        self._problems = problems

    def header(self) -> list[str]:
        """The names of the columns; none where the file cannot be used."""
        return self._header(next(self._rows(), None))

    def records(self) -> Iterator[Record]:
        """Every row with its line."""
        rows = self._rows()
        names = self._header(next(rows, None))
        if not names:
            return
        ragged = 0
        count = 0
        for cells, line in rows:
            count += 1
            if len(cells) == len(names):
                self._note_formulas(names, cells, line)
                yield Record(dict(zip(names, cells, strict=True)), line)
                continue
            ragged += 1
            if ragged <= MOST_RAGGED:
                remedy = "Quote cells that hold a separator, and leave none out."
                self._add(f"{len(cells)} cells, the header has {len(names)}", remedy, line)
        if ragged > MOST_RAGGED:
            self._add(f"{ragged - MOST_RAGGED:,} more rows have another number of cells", "Correct them.", 1)
        if not count:
            self._add("the table has no rows", "Add at least one.", 1)

    def _header(self, first: tuple[list[str], int] | None) -> list[str]:
        if first is None:
            return []
        names, line = [name.strip() for name in first[0]], first[1]
        wrong = False
        for name in dict.fromkeys(names):
            if not name or names.count(name) > 1:
                message = "stands twice in the header" if name else "the header has a column without a name"
                self._problems.add(
                    self._path, message, "Name every column, each once.", line=line, field=name
                )
                wrong = True
        return [] if wrong else names

    def _rows(self) -> Iterator[tuple[list[str], int]]:
        """The cells of each row that is not blank, and the line that it begins on."""
        try:
            with self._path.open("rb") as file:
                if not self._is_text(file):
                    return
                text = TextIOWrapper(file, encoding="utf-8-sig", newline="")
                yield from self._parsed(text)
        except UnicodeDecodeError:
            self._add("is not UTF-8", "Save the file as UTF-8.", self._broken_line())
        except OSError as error:
            self._add(f"cannot be read: {error.strerror}", "Check the path and its permissions.", 0)

    def _is_text(self, file: IO[bytes]) -> bool:
        start = file.read(2**16)
        file.seek(0)
        if start.startswith(_UTF16):
            self._add("is UTF-16", "Save the file as UTF-8.", 1)
        elif not start.removeprefix(BYTE_ORDER_MARK).strip():
            self._add("the file is empty", "Fill it, or remove it.", 1)
        else:
            return True
        return False

    def _parsed(self, text: TextIOWrapper) -> Iterator[tuple[list[str], int]]:
        csv.field_size_limit(max(csv.field_size_limit(), LARGEST_CELL))
        delimiter = separator_of(self._path, iter(lambda: text.readline(LARGEST_CELL), ""))
        text.seek(0)
        reader = csv.reader(text, delimiter=delimiter, strict=True)
        while True:
            line = reader.line_num + 1
            try:
                cells = next(reader)
            except StopIteration:
                return
            except csv.Error as error:
                self._add(f"not valid CSV: {error}", "Close quotes, and write a quote in quotes twice.", line)
                continue
            if any("\0" in cell for cell in cells):
                self._add("holds the character NUL", "Remove it.", line)
                continue
            if cells:
                yield cells, line

    def _note_formulas(self, names: list[str], cells: list[str], line: int) -> None:
        for name, cell in zip(names, cells, strict=True):
            if cell.startswith("=") and len(cell) > 1:
                self._problems.note(
                    self._path, f"{name}: looks like a formula and is read as text", line=line
                )

    def _broken_line(self) -> int:
        with self._path.open("rb") as file:
            for number, line in enumerate(file, 1):
                try:
                    line.decode()
                except UnicodeDecodeError:
                    return number
        return 1

    def _add(self, message: str, remedy: str, line: int) -> None:
        self._problems.add(self._path, message, remedy, line=line)


def _table(path: Path, problems: Problems) -> Iterator[Record]:
    yield from _Table(path, problems).records()


def _yaml(path: Path, problems: Problems) -> Iterator[Record]:
    import yaml

    records = read_yaml(path, list[CaseRow], problems)
    if records is None:
        return
    if not records:
        problems.add(path, "the list is empty", "Add at least one record.", line=1)
    node = yaml.compose(path.read_text(encoding="utf-8-sig"), yaml.SafeLoader)
    lines = [each.start_mark.line + 1 for each in node.value] if node is not None else []
    for record, line in zip(records, lines, strict=True):
        yield Record(msgspec.to_builtins(record), line)


def _parquet(path: Path, problems: Problems) -> Iterator[Record]:
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        with pq.ParquetFile(path) as file:
            number = 0
            for batch in file.iter_batches():
                for row in batch.to_pylist():
                    number += 1
                    yield Record(msgspec.to_builtins(row), number)
    except (pa.ArrowException, OSError) as error:
        problems.add(path, f"is not a Parquet file: {str(error)[:200]}", "Write it anew.")
        return
    if not number:
        problems.add(path, "the table has no rows", "Add at least one.")
