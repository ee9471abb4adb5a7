"""A row more in a file of cases that somebody else wrote: what is there stays as it is, to the letter."""

from __future__ import annotations

import csv
import io
from pathlib import Path
from typing import Any

import msgspec

from eval_pipeline.files import file_bytes, readable_json
from eval_pipeline.problems import Problems, shown_path

ADDABLE = (".csv", ".tsv", ".jsonl", ".ndjson", ".json", ".yaml", ".yml")


def added_to(path: Path, row: dict[str, Any], suggestion: Path, problems: Problems) -> str:
    """The text of a file with one more row; where it has no place for one, that goes to `problems`."""
    text = file_bytes(path).decode("utf-8-sig")
    ended = text if not text or text.endswith("\n") else f"{text}\n"
    match path.suffix.lower():
        case ".csv" | ".tsv":
            return ended + _cells(text, "," if path.suffix.lower() == ".csv" else "\t", row)
        case ".jsonl" | ".ndjson":
            return f"{ended}{msgspec.json.encode(row).decode()}\n"
        case ".json" if text.rstrip().endswith("]"):
            inside = text.rstrip()[:-1].rstrip()
            comma = "" if inside.endswith("[") else ","
            return f"{inside}{comma}\n{_indented(readable_json(row))}\n]\n"
        case ".yaml" | ".yml" if text.lstrip().startswith("-"):
            return f"{ended}- {msgspec.json.encode(row).decode()}\n"
    remedy = f"Add it by hand; rows can be added to lists in {', '.join(ADDABLE)}."
    problems.add(suggestion, f"no row can be added to {shown_path(path)}", remedy, field="case")
    return text


def _cells(text: str, separator: str, row: dict[str, Any]) -> str:
    header = next(csv.reader(io.StringIO(text), delimiter=separator), [])
    cells = [_cell(row.get(name.strip())) for name in header]
    out = io.StringIO()
    csv.writer(out, delimiter=separator, lineterminator="\n").writerow(cells)
    return out.getvalue()


def _cell(value: Any) -> str:
    if value is None:
        return ""
    return value if isinstance(value, str) else msgspec.json.encode(value).decode()


def _indented(text: str) -> str:
    return "\n".join(f"  {line}" for line in text.splitlines())
