"""Where in texts to look for what a diagnosis names. It is for people alone: no number rests on it."""

from collections.abc import Callable, Sequence
from typing import NamedTuple


class Pointer(NamedTuple):
    """Words to be found in a text, or the characters of an input's field between two places."""

    words: str
    field: str = ""
    start: int = 0
    end: int = 0


Pointing = Callable[[str], Sequence[Pointer]]
"""What a diagnosis expected or got → where to look for it."""


def the_words(named: str) -> Sequence[Pointer]:
    """The words themselves: for suites that say nothing else."""
    return [Pointer(named)] if named else []
