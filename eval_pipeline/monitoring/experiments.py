"""Two versions in production beside each other: by samples, clustered by user or session."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import msgspec

from eval_pipeline.monitoring.measuring import every_measure
from eval_pipeline.monitoring.quality import MeasuredDay
from eval_pipeline.numbers import Unit
from eval_pipeline.statistics.multiplicity import holm
from eval_pipeline.statistics.sampled import LEAST, Side, compare_sides
from eval_pipeline.suite import Suite
from eval_pipeline.suite.production import Better

if TYPE_CHECKING:
    import pyarrow as pa

ALPHA = 0.05
OBSERVED = "observed, not randomised"
"""What a comparison is where nobody recorded that chance chose the version."""


class Contrast(msgspec.Struct, frozen=True):
    """A measure of two versions; numbers are null where they cannot be told."""

    measure: str
    unit: Unit
    better: Better
    before: float | None
    after: float | None
    difference: float | None
    low: float | None
    high: float | None
    p_value: float | None
    adjusted_p: float | None
    """Corrected for the family of measures (Holm)."""
    clusters: tuple[int, int]
    """Users or sessions on each side."""

    @property
    def verdict(self) -> str:
        """`better`, `worse`, `different`, `no difference seen`; `no verdict` below 30 users on a side."""
        if min(self.clusters) < LEAST or self.adjusted_p is None or self.difference is None:
            return "no verdict"
        if self.adjusted_p > ALPHA:
            return "no difference seen"
        if self.better == "neither":
            return "different"
        return "better" if (self.difference < 0) == (self.better == "lower") else "worse"


class VersionContrast(msgspec.Struct, frozen=True):
    """Two versions in production, measure by measure."""

    suite: str
    before: str
    after: str
    experiment: str | None
    """The experiment whose chance chose the version of every request; None where it was not recorded."""
    contrasts: tuple[Contrast, ...]

    @property
    def randomised(self) -> bool:
        """Whether differences may be called effects of the version."""
        return self.experiment is not None

    @property
    def design(self) -> str:
        """What kind of comparison it is."""
        return f"randomised by experiment {self.experiment}" if self.randomised else OBSERVED

    @property
    def blocks(self) -> bool:
        """Whether it speaks against the second version: only what chance assigned can."""
        return self.randomised and any(each.verdict == "worse" for each in self.contrasts)


def contrast_versions(suite: Suite, days: Sequence[MeasuredDay], before: str, after: str) -> VersionContrast:
    """Compare two versions by what was sampled of them on some days."""
    import pyarrow as pa
    import pyarrow.compute as pc

    tables = [each.table for each in days]
    whole = pa.concat_tables(tables) if tables else None
    sides = [whole.filter(pc.equal(whole["version"], each)) if whole else None for each in (before, after)]
    experiments = {
        name for side in sides if side is not None for name in pc.unique(side["experiment"]).to_pylist()
    }
    randomised = len(experiments) == 1 and None not in experiments
    found = []
    for name, measure in every_measure(suite).items():
        compared = compare_sides(_side(sides[0], name), _side(sides[1], name))
        found.append(
            Contrast(
                name,
                measure.unit,
                measure.better,
                _known(compared.before),
                _known(compared.after),
                _known(compared.difference),
                _known(compared.low),
                _known(compared.high),
                _known(compared.p_value),
                None,
                compared.clusters,
            )
        )
    p_values = [each.p_value for each in found if each.p_value is not None]
    adjusted = iter(holm(p_values) if p_values else ())
    contrasts = [
        msgspec.structs.replace(each, adjusted_p=float(next(adjusted))) if each.p_value is not None else each
        for each in found
    ]
    return VersionContrast(
        suite.name, before, after, experiments.pop() if randomised else None, tuple(contrasts)
    )


def _side(table: pa.Table | None, measure: str) -> Side:
    import pyarrow.compute as pc

    if table is None:
        return Side.of([], [], [], [])
    own = table.filter(pc.equal(table["measure"], measure))
    weights = 1 / own["chance"].to_numpy()
    return Side.of(own["part"].to_numpy(), own["whole"].to_numpy(), weights, own["cluster"].to_pylist())


def _known(value: float) -> float | None:
    return None if value != value else float(value)  # noqa: PLR0124
