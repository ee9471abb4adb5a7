"""What every scorer has: what it wants of a case, the value of a reply, and from which value on it passes."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Annotated, Any, ClassVar, NamedTuple

import msgspec
import numpy as np

from eval_pipeline.answers import Answer
from eval_pipeline.declarative.cells import (
    Ignored,
    Row,
    Unusable,
    filled,
    folded,
    is_blank,
    references,
    shown,
)
from eval_pipeline.declarative.kinds import UNREADABLE, Kind
from eval_pipeline.suite import KeyedCount, KeyedSums, Model, Rows, Values

Fraction = Annotated[float, msgspec.Meta(ge=0, le=1)]
Count = Annotated[int, msgspec.Meta(ge=0)]
Positive = Annotated[float, msgspec.Meta(gt=0)]
GOOD = 0.75
"""From this value on a text that is compared by degrees passes, unless `at_least` says otherwise."""
_CLOSE_ENOUGH = 1e-9


class Reply(NamedTuple):
    """A reply with what it was read as."""

    text: str
    value: Any
    case_id: str
    variables: Callable[[], dict[str, Any]]
    """The case's input."""
    answer: Callable[[], Answer]


class Scorer(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, dict=True):
    """A number from 0 to 1 for every reply; higher is better, and an error counts as 0."""

    weight: Annotated[float, msgspec.Meta(ge=0)] = 1.0
    """How much it counts in `score`; with 0 it is shown and decides nothing."""
    name: Annotated[str, msgspec.Meta(pattern="^[A-Za-z0-9_@]*$")] = ""
    """The name of its metric; by default that of the scorer."""
    optional: bool = False
    """Whether it does not apply to cases where a cell that it needs is blank."""

    key: ClassVar[str] = ""
    """What it is called in a suite.yaml."""
    about: ClassVar[str] = ""
    """What its metric says of a reply."""
    kinds: ClassVar[tuple[str, ...]] = ()
    """The kinds of answers that it can look at; all where none is named."""
    holds_answer: ClassVar[bool] = False
    """Whether what it wants is the answer itself, which no template may see."""
    reads_value: ClassVar[bool] = False
    """Whether it looks at what a reply was read as: one that is unreadable has its worst value."""

    @property
    def default_name(self) -> str:
        """The name of its metric where nobody gave one."""
        return self.key

    @property
    def description(self) -> str:
        """What its metric means."""
        return f"{self.about}: the mean over cases."

    @property
    def needs(self) -> list[str]:
        """The columns whose cells it needs."""
        return list(dict.fromkeys(references(self)))

    @property
    def threshold(self) -> float:
        """The value from which on a case passes."""
        return float(getattr(self, "at_least", 1.0))

    def wanted(self, row: Row, kind: Kind) -> Any:
        """What it wants of a reply to a case; raises `Unusable`."""
        return None

    def applies(self, row: Row) -> bool:
        """Whether it applies to a case."""
        return not (self.optional and any(is_blank(row.get(name)) for name in self.needs))

    def value(self, reply: Reply, wanted: Any) -> float | None:
        """The value of a reply; None where there is nothing to measure."""
        raise NotImplementedError

    def values(self, replies: Sequence[Reply], wanted: Sequence[Any]) -> Values:
        """The values of many replies, undefined (NaN) where there is nothing to measure."""
        values = [self._one(reply, each) for reply, each in zip(replies, wanted, strict=True)]
        return np.array([np.nan if value is None else value for value in values], dtype=float)

    def _one(self, reply: Reply, wanted: Any) -> float | None:
        if self.reads_value and reply.value is UNREADABLE:
            return 0.0
        try:
            value = self.value(reply, wanted)
        except RecursionError:  # nothing that is expected is nested that deeply
            return 0.0
        return None if value is None else float(value)

    def passes(self, values: Values) -> Any:
        """Which values are good enough; what is undefined never is."""
        return values >= self.threshold - _CLOSE_ENOUGH

    def told(self, reply: Reply, wanted: Any) -> tuple[str, str]:
        """What was expected and what was there, for a diagnosis."""
        if self.reads_value and reply.value is UNREADABLE:
            return shown(wanted), f"unreadable: {shown(reply.text)}"
        return shown(wanted), shown(reply.value if self.reads_value else reply.text)

    def errored(self, wanted: Any, answer: Answer | None) -> float | None:
        """What an error counts as."""
        return 0.0

    def keyed(self, table: str, reply: Reply, wanted: Any) -> Iterator[KeyedCount]:
        """What is counted under keys besides."""
        yield from ()

    def tables(self) -> list[Callable[[KeyedSums], Rows]]:
        """How reports show what is counted under keys, where anything is."""
        return []

    def golden(self, wanted: Any) -> Any:
        """An answer that is right, where what it wants holds one."""
        return wanted

    def models(self, name: str) -> tuple[Model, ...]:
        """The models that its metric of that name rests on."""
        return ()


class Spelling(Scorer, frozen=True, kw_only=True):
    """A scorer that compares spellings. White space and Unicode form do not count, unless it is exact."""

    ignore: tuple[Ignored, ...] = ()
    """What does not count besides: case, accents, punctuation."""
    exact: bool = False
    """Whether everything counts, white space and Unicode form, too; but for case, where it is ignored."""

    def __post_init__(self) -> None:
        if self.exact and {*self.ignore} - {"case"}:
            raise ValueError("`exact` leaves nothing to ignore but case")

    def spelt(self, text: str) -> str:
        """A text as it is compared."""
        return folded(text, self.ignore, self.exact)


def needed(value: Any, row: Row) -> Any:
    """What a scorer wants of a case; a blank is never right."""
    result = filled(value, row)
    if is_blank(result):
        raise Unusable("is blank", "Fill the cell, or let the score be `optional: true`.")
    return result
