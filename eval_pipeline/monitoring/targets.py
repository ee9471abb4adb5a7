"""Whether figures are what `production.yaml` aims at."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from eval_pipeline.monitoring.figures import FIGURES, Figures
from eval_pipeline.monitoring.settings import Target
from eval_pipeline.numbers import limit, number


class Aim(NamedTuple):
    """A figure beside what it should be."""

    figure: str
    value: float | None
    target: Target

    @property
    def met(self) -> bool:
        """Whether it is; what is unknown is not."""
        above, below = self.target.above, self.target.below
        return (
            self.value is not None
            and (above is None or self.value > above)
            and (below is None or self.value < below)
        )

    @property
    def wanted(self) -> str:
        """The target in words: `> 15, < 30`."""
        unit = FIGURES[self.figure].unit
        ends = ((">", self.target.above), ("<", self.target.below))
        return ", ".join(f"{sign} {limit(end, unit)}" for sign, end in ends if end is not None)

    @property
    def text(self) -> str:
        """The figure and its target in a sentence."""
        value = number(self.value, FIGURES[self.figure].unit) if self.value is not None else "unknown"
        return f"{self.figure} is {value}; target {self.wanted}"


def aims_of(figures: Figures, targets: Mapping[str, Target]) -> list[Aim]:
    """Every figure that has a target."""
    return [Aim(name, figures.value(name), target) for name, target in targets.items()]
