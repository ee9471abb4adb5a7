"""What was tried, and what broke."""

from __future__ import annotations

from collections import Counter
from typing import Literal, NamedTuple

End = Literal["refused", "accepted", "broke"]
ENDS: tuple[End, ...] = ("refused", "accepted", "broke")


class Tried(NamedTuple):
    """One attack and its end."""

    attack: str
    target: str
    end: End
    detail: str = ""
    """What broke, and how to see it again."""


def ended(attack: str, target: str, trouble: str, *, refused: bool = False) -> Tried:
    """An attack that broke something, or was refused, or was survived."""
    return Tried(attack, target, "broke" if trouble else "refused" if refused else "accepted", trouble)


def table(tried: list[Tried]) -> str:
    """How often each attack on each kind of file was tried, and how it ended."""
    counts = Counter((each.attack, each.target, each.end) for each in tried)
    rows = [("attack", "on", "tried", *ENDS)]
    for attack, target in dict.fromkeys((each.attack, each.target) for each in tried):
        ends = [counts[attack, target, end] for end in ENDS]
        rows.append((attack, target, f"{sum(ends):,}", *(f"{count:,}" for count in ends)))
    totals = [sum(each.end == end for each in tried) for end in ENDS]
    rows.append(("all", "", f"{len(tried):,}", *(f"{count:,}" for count in totals)))
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    return "\n".join(
        "  ".join(cell.ljust(width) if place < 2 else cell.rjust(width) for place, (cell, width) in line)
        for line in (list(enumerate(zip(row, widths, strict=True))) for row in rows)
    )


def broken(tried: list[Tried]) -> list[str]:
    """What broke, each thing once, with how often it did."""
    found = Counter((each.attack, each.target, each.detail) for each in tried if each.end == "broke")
    return [f"{count} × {attack} on {target}: {detail}" for (attack, target, detail), count in found.items()]
