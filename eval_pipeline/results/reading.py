"""Files of results are told apart by what they hold, whatever they are called."""

from __future__ import annotations

import re
from pathlib import Path

import msgspec

from eval_pipeline.files import BYTE_ORDER_MARK, read_bytes
from eval_pipeline.problems import Problems
from eval_pipeline.results.decoding import decoded
from eval_pipeline.results.inspect_logs import read_archive, read_log
from eval_pipeline.results.promptfoo import read_promptfoo, read_promptfoo_lines
from eval_pipeline.results.rows import Results
from eval_pipeline.results.tables import read_csv, read_lines, read_list

LARGEST_DOCUMENT = 512 * 2**20
"""Of JSON that is one value; lines and entries of archives are read one by one."""
LONGEST_LINE = 16 * 2**20
ARCHIVE = (b"PK\x03\x04", b"PK\x05\x06")
PACKED = (b"\x1f\x8b", b"BZh", b"\xfd7zXZ", b"\x28\xb5\x2f\xfd")
KNOWN = (
    "Known are: JSON Lines, a list in JSON or CSV with a case id and a score; promptfoo's JSON; "
    "Inspect's .eval and JSON; lm-eval's samples."
)

_DETAIL = re.compile(r" - at `\$(\S*)`$")


class Document(msgspec.Struct, frozen=True):
    """The fields by which JSON of different programs is told apart."""

    results: msgspec.Raw | msgspec.UnsetType = msgspec.UNSET
    eval: msgspec.Raw | msgspec.UnsetType = msgspec.UNSET
    test_case: msgspec.Raw | msgspec.UnsetType = msgspec.field(name="testCase", default=msgspec.UNSET)


def read_results(path: Path, id_field: str | None, problems: Problems) -> list[Results]:
    """The evaluations that a file holds; everything that is wrong with it is a problem."""
    if not path.is_file():
        problems.add(path, "is not a regular file", "Name a file of results.")
        return []
    with path.open("rb") as file:
        start = file.readline(LONGEST_LINE).removeprefix(BYTE_ORDER_MARK)
        while start and not start.strip():
            start = file.readline(LONGEST_LINE)
    start = start.lstrip()
    if start.startswith(ARCHIVE):
        return [read_archive(path, problems)]
    if start.startswith(PACKED):
        problems.add(path, "is compressed", "Unpack it first.")
        return []
    if not start:
        problems.add(path, "the file is empty", KNOWN, line=1)
        return []
    line = _document(start) if start[:1] == b"{" else None
    if line and line.test_case is not msgspec.UNSET:
        return read_promptfoo_lines(path, problems)
    if line and line.results is msgspec.UNSET and line.eval is msgspec.UNSET:
        return [read_lines(path, id_field, problems)]
    if start[:1] in (b"{", b"["):
        return _read_document(path, id_field, problems)
    return [read_csv(path, id_field, problems)]


def _document(line: bytes) -> Document | None:
    """The object on the first line; None where it has no end there, as in JSON of many lines."""
    try:
        return decoded(line, Document)
    except (ValueError, RecursionError):
        return None


def _read_document(path: Path, id_field: str | None, problems: Problems) -> list[Results]:
    data = read_bytes(path, LARGEST_DOCUMENT, problems, "Use JSON Lines, or an archive")
    if data is None:
        return []
    data = data.removeprefix(BYTE_ORDER_MARK)
    try:
        if data.lstrip()[:1] == b"[":
            return [read_list(path, decoded(data, list), id_field, problems)]
        document = decoded(data, Document)
        if document.eval is not msgspec.UNSET:
            return [read_log(path, data, problems)]
        if document.results is not msgspec.UNSET:
            return read_promptfoo(path, data, problems)
        problems.add(path, "is JSON of another kind", KNOWN)
    except (ValueError, RecursionError) as error:
        reason = "nested too deeply" if isinstance(error, RecursionError) else str(error)
        place = _DETAIL.search(reason)
        message = f"cannot be understood: {_DETAIL.sub('', reason)}"
        problems.add(path, message, KNOWN, field=place[1].lstrip(".") if place else "")
    return []
