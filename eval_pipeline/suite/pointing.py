"""Where in texts to look for what a diagnosis names. It is for people alone: no number rests on it."""

from collections.abc import Callable, Sequence
from typing import NamedTuple


class Pointer(NamedTuple):
    """Words to be found in a text; in an input's field, the characters between two places."""

    words: str
    field: str = ""
    start: int = 0
    end: int = 0
    beside: tuple[str, ...] = ()
    """Values that stand in the same object of an answer's JSON: then the whole object is meant."""


Pointing = Callable[[str], Sequence[Pointer]]
"""What a diagnosis expected or got → where to look for it."""


def the_words(named: str) -> Sequence[Pointer]:
    """The words themselves: for suites that say nothing else."""
    return [Pointer(named)]
