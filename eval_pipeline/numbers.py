"""How numbers are shown, everywhere. Rounding happens here and nowhere else."""

from __future__ import annotations

from typing import Literal

Unit = Literal["fraction", "points", "number", "milliseconds", "dollars"]
NOTHING = "–"

_SIGNS: dict[Unit, tuple[str, str]] = {
    "fraction": ("", " %"),
    "points": ("", " points"),
    "number": ("", ""),
    "milliseconds": ("", " ms"),
    "dollars": ("$", ""),
}
"""What stands before and behind a number of each unit."""
_DIGITS: dict[Unit, int] = {"fraction": 1, "points": 1, "milliseconds": 0, "dollars": 4}


def number(value: float | None, unit: Unit = "fraction") -> str:
    """A value as people read it: fractions as percent, points with one digit, counts as whole numbers."""
    if value is None:
        return NOTHING
    before, behind = _SIGNS[unit]
    return f"{before}{bare(value, unit)}{behind}"


def change(value: float | None, unit: Unit = "fraction") -> str:
    """A difference with its sign; differences of fractions are percentage points."""
    if value is None:
        return NOTHING
    before, behind = _SIGNS[unit]
    shown = bare(value, unit)
    sign = "−" if shown.startswith("−") else "+" if float(shown) else "±"
    return f"{sign}{before}{shown.removeprefix('−')}{' pp' if unit == 'fraction' else behind}"


def limit(value: float, unit: Unit = "fraction") -> str:
    """A threshold, with as many digits as it was written with."""
    before, behind = _SIGNS[unit]
    return f"{before}{value * (100 if unit == 'fraction' else 1):g}{behind}"


def bare(value: float, unit: Unit = "fraction") -> str:
    """A value without its unit."""
    scaled = value * 100 if unit == "fraction" else value
    digits = _DIGITS.get(unit, 0 if float(scaled).is_integer() else 4)
    shown = f"{scaled:.{digits}f}"
    return shown.replace("-", "−" if float(shown) else "")


def probability(value: float | None) -> str:
    """A p-value to three digits; `< 0.001` below them."""
    if value is None:
        return NOTHING
    return f"{value:.3f}" if value >= 0.001 else "< 0.001"


def counted(count: int, what: str) -> str:
    """`1 trial`, `3 trials`."""
    return f"{count:,} {what}{'' if count == 1 else 's'}"
