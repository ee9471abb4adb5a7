"""What only reports show of a suite: tables, and words about the numbers. None of it decides a number."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import msgspec

from eval_pipeline.numbers import Unit
from eval_pipeline.suite.counts import KeyedSums, Rows

TrialTable = Callable[
    [Mapping[str, Sequence[float | None]], Mapping[str, float | None], Mapping[str, Rows]], Rows
]
"""(each metric's values per trial, each trial metric's value, the tables of keyed counts) → rows."""


class Experiment(NamedTuple):
    """What one version scored, as tables that put versions side by side need it."""

    per_trial: Mapping[str, Sequence[float | None]]
    tables: Mapping[str, Rows]
    cases: int


class Reading(msgspec.Struct, frozen=True):
    """What a suite's document makes of a comparison. It informs; the verdict decides."""

    name: str
    value: float | None
    label: str
    text: str
    """All of it in a sentence, for people."""
    details: dict[str, float | bool | None] = {}
    """The numbers that it rests on."""


CrossTable = Callable[[Mapping[str, Experiment]], Rows]
"""Experiments by version → rows."""
PerTrial = Mapping[str, Sequence[float | None]]
"""Each metric's values per trial."""


@dataclass(frozen=True)
class Reporting:
    """What a suite's reports show besides its metrics."""

    tables: Mapping[str, Callable[[KeyedSums], Rows]] = field(default_factory=dict)
    """Tables from the keyed counts of the same name."""
    table_units: Mapping[str, Unit] = field(default_factory=dict)
    """The units of fractional numbers in tables: by column, or by the first cell of a row."""
    confusions: tuple[str, ...] = ()
    """Which of the tables are confusion matrices, gold down and predicted across: they are drawn, too."""
    trial_tables: Mapping[str, TrialTable] = field(default_factory=dict)
    """Further tables: how the numbers went from trial to trial. One of a name above takes its place."""
    cross_tables: Mapping[str, CrossTable] = field(default_factory=dict)
    """Tables that put versions side by side; the report shows them."""
    legends: Mapping[str, str] = field(default_factory=dict)
    """What the signs in a table mean: a sentence below it."""
    readings: Callable[[PerTrial, PerTrial], Sequence[Reading]] | None = None
    """(before, after) → what the suite's document makes of a comparison, shown wherever its verdict is."""
    problems: Callable[[Mapping[str, Rows]], list[str]] | None = None
    """From the tables, what the headline hides, the worst first: it is shown wherever the headline is."""
    advice: Callable[[Mapping[str, str]], Mapping[str, str]] | None = None
    """The status of every gate by metric → what to do about those that do not pass, by metric."""
    report_keys: Callable[[Mapping[str, Any], Any], Mapping[str, Any]] | None = None
    """(report, settings) → keys that a suite's document wants at the top level of the score report."""
