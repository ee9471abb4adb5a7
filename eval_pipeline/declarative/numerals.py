"""Numbers as people and models write them."""

import math
import re
from functools import cache
from typing import Literal

Decimal = Literal[".", ","]
_SIGN = r"(?P<sign>[-+−]?)"
_EXPONENT = r"(?P<exponent>[eE][-+]?\d{1,4})?"


@cache
def _pattern(decimal: Decimal, separators: str) -> re.Pattern[str]:
    """Digits, in groups of three behind the first where the same separator stands between all of them."""
    whole = rf"(?P<whole>\d{{1,3}}(?:(?P<by>[{separators}])\d{{3}})(?:(?P=by)\d{{3}})*|\d+)"
    number = rf"{_SIGN}{whole}(?:{re.escape(decimal)}(?P<part>\d+))?{_EXPONENT}"
    return re.compile(rf"(?<![\w.,]){number}(?!\w|[.,'’]\d)")


def _separators(decimal: Decimal) -> str:
    other = "," if decimal == "." else "."
    return f"{other}'’_\u00a0\u2009\u202f"


def numbers_in(text: str, decimal: Decimal = ".") -> list[float]:
    """Every number that stands by itself in a text."""
    found = [_value(match) for match in _pattern(decimal, _separators(decimal)).finditer(text)]
    return [each for each in found if math.isfinite(each)]


def as_number(text: str, decimal: Decimal = ".") -> float | None:
    """The number that a text is, a blank between thousands allowed; None where it is anything else."""
    match = _pattern(decimal, f"{_separators(decimal)} ").fullmatch(text.strip())
    value = _value(match) if match else math.nan
    return value if math.isfinite(value) else None


def _value(match: re.Match[str]) -> float:
    digits = re.sub(r"\D", "", match["whole"])
    sign = "-" if match["sign"] in ("-", "−") else ""
    return float(f"{sign}{digits}.{match['part'] or 0}{match['exponent'] or ''}")
