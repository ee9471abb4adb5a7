"""A row more in a file of cases that somebody else wrote: what is there stays as it is, to the letter."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import msgspec

from eval_pipeline.declarative import separator_of
from eval_pipeline.files import BYTE_ORDER_MARK, file_bytes, readable_json
from eval_pipeline.problems import Problems, shown_path

ADDABLE = (".csv", ".tsv", ".jsonl", ".ndjson", ".json", ".yaml", ".yml")


_BREAKS = re.compile("[\x7f-\x9f\u2028\u2029\ufeff\ufffe\uffff]")
"""What JSON takes as it is, and YAML for the end of a line, or not at all."""


def added_to(path: Path, row: dict[str, Any], suggestion: Path, problems: Problems) -> str:
    """The text of a file with one more row; where it has no place for one, that goes to `problems`."""
    text = file_bytes(path).decode()
    ended = text if not text or text.endswith("\n") else f"{text}\n"
    bare = text.removeprefix(BYTE_ORDER_MARK.decode())
    match path.suffix.lower():
        case ".csv" | ".tsv":
            separator = separator_of(path, io.StringIO(bare))
            rows = csv.reader(io.StringIO(bare), delimiter=separator)
            header = [name.strip() for name in next(filter(None, rows), [])]
            for name in row.keys() - set(header):
                remedy = f"Take it out, or add the column. Columns: {', '.join(header)}."
                problems.add(suggestion, f"is no column of {shown_path(path)}", remedy, field=f"case.{name}")
            return ended + _cells(header, separator, row)
        case ".jsonl" | ".ndjson":
            return f"{ended}{msgspec.json.encode(row).decode()}\n"
        case ".json" if text.rstrip().endswith("]"):
            inside = text.rstrip()[:-1].rstrip()
            comma = "" if inside.endswith("[") else ","
            return f"{inside}{comma}\n{_indented(readable_json(row))}\n]\n"
        case ".yaml" | ".yml" if (indent := _indent_of_items(bare)) is not None:
            item = _BREAKS.sub(lambda found: f"\\u{ord(found[0]):04x}", msgspec.json.encode(row).decode())
            return f"{ended}{indent}- {item}\n"
    remedy = f"Add it by hand; rows can be added to lists in {', '.join(ADDABLE)}."
    problems.add(suggestion, f"no row can be added to {shown_path(path)}", remedy, field="case")
    return text


def _indent_of_items(text: str) -> str | None:
    """What stands before the items of a list in YAML; None where there is no list with an item a line."""
    for line in text.split("\n"):
        content = line.strip()
        if content == "-" or content.startswith("- "):
            return line[: len(line) - len(line.lstrip())]
        if content and not content.startswith(("#", "%", "---")):
            return None
    return None


def _cells(header: Sequence[str], separator: str, row: dict[str, Any]) -> str:
    out = io.StringIO()
    cells = [_cell(row.get(name)) for name in header]
    csv.writer(out, delimiter=separator, lineterminator="\n").writerow(cells)
    return out.getvalue()


def _cell(value: Any) -> str:
    if value is None:
        return ""
    return value if isinstance(value, str) else msgspec.json.encode(value).decode()


def _indented(text: str) -> str:
    return "\n".join(f"  {line}" for line in text.split("\n"))
