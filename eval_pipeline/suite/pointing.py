"""Where in texts to look for what a diagnosis names. It is for people alone: no number rests on it."""

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from eval_pipeline.suite.case import Case


class Pointer(NamedTuple):
    """Words to be found in a text; in an input's field, the characters between two places."""

    words: str
    field: str = ""
    start: int = 0
    end: int = 0
    beside: tuple[str, ...] = ()
    """Values that stand in the same object of an answer's JSON: then the whole object is meant."""


Pointing = Callable[[str, Case[Any, Any]], Sequence[Pointer]]
"""(what a diagnosis expected or got, its case) → where to look for it."""


def the_words(named: str, case: Case[Any, Any]) -> Sequence[Pointer]:
    """The words themselves: for suites that say nothing else."""
    return [Pointer(named)]
