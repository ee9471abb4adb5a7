"""Tables of tab-separated text into typed records."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec

from eval_pipeline.files.text import read_text, text_lines
from eval_pipeline.files.violations import Check, Located, T, converted, no_checks
from eval_pipeline.problems import Problems


def read_tsv(
    path: Path, record_type: type[T], problems: Problems, check: Check = no_checks
) -> Iterator[Located[T]]:
    """The records of a table in tab-separated text: a header that names fields, then a row for each record.

    There is no quoting; an empty cell leaves its field out, and blank lines are skipped.
    """
    text = read_text(path, problems)
    if text is None:
        return
    before = len(problems)
    header, *lines = text_lines(text)
    names = [name.strip() for name in header.split("\t")]
    for name in _required(record_type):
        if name not in names:
            problems.add(path, "is missing in the header", "Name the columns.", line=1, field=name)
    for name in {name for name in names if names.count(name) > 1}:
        problems.add(path, "stands twice in the header", "Keep one of them.", line=1, field=name)
    if not any(line.strip() for line in lines):
        problems.add(path, "the table has no rows", "Add at least one.", line=1)
    usable = len(problems) == before
    for number, line in enumerate(lines, 2):
        cells = line.split("\t")
        if not line.strip():
            continue
        if len(cells) != len(names):
            message = f"{len(cells)} cells, the header has {len(names)}"
            problems.add(path, message, "Separate cells by tabs.", line=number)
        elif usable:
            value = {name: cell.strip() for name, cell in zip(names, cells, strict=True) if cell.strip()}
            record = converted(value, record_type, path, lambda _: number, problems, check)  # noqa: B023
            if record is not None:
                yield Located(record, number)


def _required(record_type: type[Any]) -> list[str]:
    return [each.encode_name for each in msgspec.structs.fields(record_type) if each.required]
