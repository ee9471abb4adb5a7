"""How numbers are shown, everywhere. Rounding happens here and nowhere else."""

from __future__ import annotations

from eval_pipeline.suite import Unit

NOTHING = "–"


def number(value: float | None, unit: Unit = "fraction") -> str:
    """A value as people read it: fractions as percent, points with one digit, counts as whole numbers."""
    if value is None:
        return NOTHING
    if unit == "fraction":
        return f"{_plain(value * 100, 1)} %"
    return _plain(value, _digits(value, unit))


def change(value: float | None, unit: Unit = "fraction") -> str:
    """A difference with its sign; differences of fractions are percentage points."""
    if value is None:
        return NOTHING
    size = value * 100 if unit == "fraction" else value
    shown = _plain(size, _digits(size, unit))
    sign = "" if shown.startswith("-") else "+" if float(shown) else "±"
    return f"{sign}{shown}{' pp' if unit == 'fraction' else ''}".replace("-", "−")


def probability(value: float | None) -> str:
    """A p-value to three digits; `< 0.001` below them."""
    if value is None:
        return NOTHING
    return f"{value:.3f}" if value >= 0.001 else "< 0.001"


def counted(count: int, what: str) -> str:
    """`1 trial`, `3 trials`."""
    return f"{count:,} {what}{'' if count == 1 else 's'}"


def _digits(value: float, unit: Unit) -> int:
    """How many digits stand behind the point; a number that is whole, such as a count, needs none."""
    if unit != "number":
        return 1
    return 0 if float(value).is_integer() else 4


def _plain(value: float, digits: int) -> str:
    shown = f"{value:.{digits}f}"
    return shown[1:] if shown.startswith("-") and float(shown) == 0 else shown
