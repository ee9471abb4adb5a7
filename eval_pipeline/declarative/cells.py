"""What a case's row holds: cells, and what `{{ column }}` makes of them."""

import csv
import math
import re
import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from typing import Any, Literal

import msgspec

Row = Mapping[str, Any]
Ignored = Literal["case", "accents", "punctuation"]

REFERENCE = re.compile(r"\{\{\s*([^{}]+?)\s*\}\}")
_DOTTED = re.compile(r"[^\w\s]|_")
LONGEST_SHOWN = 500


class Unusable(ValueError):
    """What a cell or a setting cannot be used for, and what to do."""

    def __init__(self, message: str, remedy: str) -> None:
        super().__init__(f"{message}. {remedy}")
        self.message = message
        self.remedy = remedy


def references(value: Any) -> Iterator[str]:
    """The columns that a value of a suite.yaml refers to, wherever they stand in it."""
    if isinstance(value, str):
        yield from REFERENCE.findall(value)
    elif isinstance(value, list | tuple | Mapping):
        for each in value.values() if isinstance(value, Mapping) else value:
            yield from references(each)
    elif isinstance(value, msgspec.Struct):
        for name in value.__struct_fields__:
            yield from references(getattr(value, name))


def filled(value: Any, row: Row) -> Any:
    """A value with every reference replaced: a text that is nothing but one becomes the cell as it is."""
    if isinstance(value, str):
        whole = _only_reference(value)
        if whole is not None:
            return row.get(whole)
        return REFERENCE.sub(lambda match: as_text(row.get(match[1])), value) if "{{" in value else value
    return [filled(each, row) for each in value] if isinstance(value, list | tuple) else value


@lru_cache(maxsize=2**10)
def _only_reference(text: str) -> str | None:
    match = REFERENCE.fullmatch(text.strip())
    return match[1] if match else None


def is_blank(cell: Any) -> bool:
    """Whether a cell holds nothing; an empty list is something."""
    return cell is None or (isinstance(cell, str) and not cell.strip())


def as_text(cell: Any) -> str:
    """A cell as text: lists and objects as JSON, nothing as a blank."""
    if isinstance(cell, str):
        return cell
    return "" if cell is None else msgspec.json.encode(cell).decode()


def as_list(cell: Any) -> list[str]:
    """Several values in one cell: a list, a JSON list, or texts between commas, in quotes if need be."""
    if isinstance(cell, list | tuple):
        return [as_text(each) for each in cell]
    text = as_text(cell)
    if text.lstrip().startswith("["):
        value = as_json(text)
        if not isinstance(value, list):
            raise Unusable(f"{shown(text)} is not a list", 'Write ["one", "two"] or: one, two.')
        return [as_text(each) for each in value]
    try:
        cells = next(csv.reader([" ".join(text.splitlines())], skipinitialspace=True), [])
    except csv.Error as error:
        raise Unusable(f"{shown(text)} is not a list: {error}", "Write a JSON list.") from None
    return [each.strip() for each in cells if each.strip()]


def as_json(cell: Any) -> Any:
    """The JSON value of a cell."""
    if not isinstance(cell, str):
        return cell
    try:
        return msgspec.json.decode(cell)
    except (msgspec.DecodeError, UnicodeError, RecursionError) as error:
        raise Unusable(f"{shown(cell)} is not JSON: {error}", "Correct the syntax.") from None


def as_limit(cell: Any) -> float:
    """A cell that holds a number above 0."""
    try:
        limit = math.nan if isinstance(cell, bool) else float(cell)
    except (TypeError, ValueError):
        limit = math.nan
    if not 0 < limit < math.inf:
        raise Unusable(f"{shown(cell)} is no number above 0", "Write a number.")
    return limit


def as_flag(cell: Any) -> bool:
    """A cell that says yes or no."""
    if isinstance(cell, bool):
        return cell
    known = {"true": True, "yes": True, "1": True, "false": False, "no": False, "0": False}
    text = as_text(cell).strip().lower()
    if text not in known:
        raise Unusable(f"{shown(text)} is neither true nor false", "Write true or false.")
    return known[text]


def folded(text: str, ignored: Sequence[Ignored] = (), exact: bool = False) -> str:
    """A text as it is compared: white space and Unicode form never count, unless it is exact."""
    if exact:
        return text.lower() if "case" in ignored else text
    if not text.isascii():
        text = unicodedata.normalize("NFC", text)
        if "accents" in ignored:
            parts = unicodedata.normalize("NFD", text)
            text = unicodedata.normalize("NFC", "".join(c for c in parts if not unicodedata.combining(c)))
    if "case" in ignored:
        text = text.casefold()
    if "punctuation" in ignored:
        text = _DOTTED.sub(" ", text)
    return " ".join(text.split())


def shown(value: Any) -> str:
    """A value in a message or diagnosis, cut where it is long."""
    text = as_text(value)
    return text if len(text) <= LONGEST_SHOWN else f"{text[:LONGEST_SHOWN]}…"
