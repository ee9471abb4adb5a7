"""The cells of the simulation of verdicts, and what is counted in each."""

from __future__ import annotations

from dataclasses import dataclass, field, fields
from typing import NamedTuple

ADAPTIVE = (0, 0)
"""In place of two numbers of trials: as many as it takes."""
TOLERANCE = 0.05
SAID = ("unchanged", "no worse")
UNCHANGED = ("unchanged", "identical")
NO_WORSE = (*SAID, "identical", "improved")


class Cell(NamedTuple):
    """One setting of the simulation."""

    world: str
    cases: int
    trials: tuple[int, int]
    """Before and after; `ADAPTIVE` for one to five after five."""
    metrics: int
    sides: int
    """How many sides before the candidate is compared with."""
    drop: float


@dataclass
class Tally:
    """What happened in a cell: sums over its comparisons."""

    comparisons: int = 0
    regressed: int = 0
    """Comparisons in which the metric that fell (or, with no change, any metric) is called regressed."""
    permuted: int = 0
    """The same by a permutation test with Holm's correction."""
    permuted_apart: int = 0
    """Comparisons in which verdict and permutation test differ about that."""
    first: dict[str, int] = field(default_factory=dict)
    """The verdicts on the first metric."""
    unclear: int = 0
    """Comparisons in which any metric is inconclusive."""
    covered: int = 0
    intervals: int = 0
    oracle_unchanged: int = 0
    unchanged_apart: int = 0
    oracle_no_worse: int = 0
    no_worse_apart: int = 0
    """What one-sided tests would say of the first metric if they knew the true standard error; and how
    often they and the verdict differ."""
    trials: int = 0

    def add(self, other: Tally) -> None:
        """Count another part of the same cell."""
        for each in fields(self):
            if each.name != "first":
                setattr(self, each.name, getattr(self, each.name) + getattr(other, each.name))
        for name, count in other.first.items():
            self.first[name] = self.first.get(name, 0) + count

    def share(self, *verdicts: str) -> float:
        """How often the first metric is called one of these."""
        return sum(self.first.get(each, 0) for each in verdicts) / self.comparisons

    @property
    def unchanged(self) -> int:
        """How often the first metric is called unchanged, or is."""
        return sum(self.first.get(each, 0) for each in UNCHANGED)

    @property
    def no_worse(self) -> int:
        """How often the first metric is called no worse, or better than that."""
        return sum(self.first.get(each, 0) for each in NO_WORSE)

    @property
    def rate(self) -> float:
        """The share of comparisons with a regression."""
        return self.regressed / self.comparisons


Tallies = dict[Cell, Tally]


def place(cell: Cell) -> str:
    """A cell in a few words."""
    trials = "1–5 trials" if cell.trials == ADAPTIVE else f"{cell.trials[0]} and {cell.trials[1]} trials"
    sides = f" × {cell.sides} sides" if cell.sides > 1 else ""
    return f"{cell.world}, {cell.cases} cases, {trials}, {cell.metrics} metrics{sides}"
