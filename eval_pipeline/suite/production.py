"""What can be said of an answer that a user got, without a golden one. No evaluation rests on it.

A suite says it in a module `production` of its own, as `MEASURES`, which nothing that scores imports.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Literal, NamedTuple

from eval_pipeline.metrics.text import normalize, occurs_as_words, word_count
from eval_pipeline.numbers import Unit
from eval_pipeline.suite.case import Case

Better = Literal["higher", "lower", "neither"]
"""Which values of a measure are better ones; some merely describe."""
HALLUCINATION = "hallucination_rate"
PROVENANCE = "provenance_verified"
"""The measures that targets and alerts of every suite speak of, where it has them."""
SHORT_SOURCE, LONG_SOURCE = 8, 40
"""Below so many words a source may be quoted whole; from so many on, half of it in one piece is an echo."""


class RetrievedPassage(NamedTuple):
    """A passage that an answer could rest on."""

    id: str
    text: str


@dataclass(frozen=True)
class Served:
    """An answer that satisfies its contract, with what it could rest on."""

    input: Any
    """By the suite's type; None where what was recorded is not of that type."""
    source: str
    """The text that the answer is taken from."""
    output: Any
    retrieved: tuple[RetrievedPassage, ...] = ()
    canaries: tuple[str, ...] = ()
    """Names that golden sets forbid."""


class Share(NamedTuple):
    """So much of so much: shares add up over answers."""

    part: float
    whole: float = 1.0


@dataclass(frozen=True)
class Measure:
    """A number that needs no golden answer: Σ part ÷ Σ whole over answers."""

    name: str
    about: str
    of: Callable[[Served], Share | None]
    """None where there is nothing to measure."""
    better: Better = "higher"
    unit: Unit = "fraction"


@dataclass(frozen=True)
class ProductionMeasures:
    """What a suite measures in production, and what its answers look like when they can be used at all."""

    measures: tuple[Measure, ...] = ()
    words: tuple[int, int] = (1, 2000)
    """How many words a usable answer has, all its texts together."""
    times_source: float | None = None
    """How many times as many words as its source it has at most, where it is made of pieces of it."""
    items: Callable[[Any], int] | None = None
    """Output → how many things it holds, where it is a list."""
    most_items: int = 1000
    """What holds more says everything at once, and so nothing."""
    refuses: Callable[[Any], bool] | None = None
    """Output → whether it says that there is no answer."""
    source: Callable[[Any], str] | None = None
    """Input → the text that answers are taken from; by default all its texts together."""
    canaries: Callable[[Case[Any, Any]], Iterable[str]] | None = None
    """Golden case → names that must not be in any answer."""


NO_MEASURES = ProductionMeasures()


def stands_in(quote: str | None, source: str, *, cut: bool = False) -> bool:
    """Whether a quote stands in a source; one that is blank, or most of the source, does not.

    It stands there as words, unless it may cut them, as labels of characters do.
    """
    words, given = normalize(quote or ""), _read(source)[0]
    stands = bool(words) and words in given if cut else occurs_as_words(words, given)
    return stands and not is_echo(words, source)


@lru_cache(maxsize=2**6)
def _read(source: str) -> tuple[str, int]:
    """A source as it is compared, and its number of words; all quotes of an answer are looked for in one."""
    normalized = normalize(source)
    return normalized, word_count(normalized)


def is_echo(text: str, source: str) -> bool:
    """Whether a text is its source, or, where that is long, half of it or more in one piece."""
    own, (given, size) = normalize(text), _read(source)
    if not own or size < SHORT_SOURCE:
        return False
    most = own in given and 2 * len(own) >= len(given)
    return own == given or (size >= LONG_SOURCE and (most or given in own))


def share_of(flags: Iterable[bool]) -> Share | None:
    """How many of some things are so; None of nothing."""
    values = list(flags)
    return Share(float(sum(values)), float(len(values))) if values else None
