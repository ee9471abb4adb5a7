"""How numbers are shown, everywhere. Rounding happens here and nowhere else."""

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
_DIGITS_OF_NUMBERS = 3


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
    shown = signed(value, unit)
    return f"{shown[0]}{before}{shown[1:]}{' pp' if unit == 'fraction' else behind}"


def signed(value: float, unit: Unit = "fraction") -> str:
    """A difference with its sign and without its unit."""
    shown = bare(value, unit)
    if shown.startswith("−"):
        return shown
    return f"{'+' if shown.strip('0.,') else '±'}{shown}"


def limit(value: float, unit: Unit = "fraction") -> str:
    """A threshold, with as many digits as it was written with."""
    before, behind = _SIGNS[unit]
    return f"{before}{value * (100 if unit == 'fraction' else 1):,.10g}{behind}"


def rough(value: float, unit: Unit = "fraction") -> str:
    """A round number of a scale in few characters: `20 k`, `50 M`; many milliseconds are seconds."""
    if unit == "milliseconds" and abs(value) >= 1e4:
        return f"{value / 1e3:,.10g} s"
    before, behind = _SIGNS[unit]
    for least, size, letter in ((1e9, 1e9, "G"), (1e6, 1e6, "M"), (1e4, 1e3, "k")):
        if abs(value) >= least:
            return f"{before}{value / size:,.10g} {letter}{behind}"
    return limit(value, unit)


def bare(value: float, unit: Unit = "fraction") -> str:
    """A value without its unit."""
    scaled = value * 100 if unit == "fraction" else value
    digits = _DIGITS.get(unit, 0 if float(scaled).is_integer() else _DIGITS_OF_NUMBERS)
    shown = f"{scaled:,.{digits}f}"
    return shown.replace("-", "−" if shown.strip("-0.,") else "")


def probability(value: float | None) -> str:
    """A p-value to three digits; `< 0.001` below them."""
    if value is None:
        return NOTHING
    return f"{value:.3f}" if value >= 0.001 else "< 0.001"


def megabytes(size: int) -> str:
    """How much room something takes."""
    return f"{size / 1e6:,.1f} MB"


def counted(count: int, what: str, several: str = "") -> str:
    """`1 trial`, `3 trials`; `1 query`, `3 queries` where the plural is given."""
    return f"{count:,} {what if count == 1 else several or what + 's'}"


def age(seconds: float) -> str:
    """How long ago something was, as people say it: `5 min`, `3 h`, `12 days`."""
    minutes = int(seconds // 60)
    if minutes < 1:
        return "just now"
    if minutes < 60:
        return f"{minutes} min"
    return f"{minutes // 60} h" if minutes < 48 * 60 else f"{minutes // 1440:,} days"


def moment(text: str) -> str:
    """A moment in ISO 8601, in UTC, to the minute: `2026-03-01 10:00 UTC`."""
    return f"{text[:16].replace('T', ' ')} UTC"
