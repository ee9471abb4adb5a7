"""Regular expressions from data, refused where matching one could take forever.

A backtracking engine tries, from every start, every way in which a pattern can match. Here the number of
ways is computed from the pattern beforehand: sequences multiply, alternatives add, repeats raise to a power.
A pattern is used only when that number is small, so that searching is linear in the text, whatever it is.
"""

import re
from collections.abc import Iterable
from functools import lru_cache
from re import _constants as codes  # type: ignore[attr-defined]
from re import _parser as parser  # type: ignore[attr-defined]
from typing import Any

from eval_pipeline.metrics.text import normalize

LONGEST_PATTERN = 300
MOST_WAYS = 2000


class BadPattern(ValueError):
    """A pattern that cannot be used; says why and what to do."""


@lru_cache(maxsize=2**10)
def compile_bounded(pattern: str) -> re.Pattern[str]:
    """A pattern to search normalized text with, case ignored; or `BadPattern`."""
    if not pattern.strip():
        raise BadPattern("is blank. Give a pattern, or remove it.")
    if len(pattern) > LONGEST_PATTERN:
        raise BadPattern(f"has {len(pattern)} characters. Use at most {LONGEST_PATTERN}.")
    try:
        parsed = parser.parse(pattern)
        compiled = re.compile(pattern, re.IGNORECASE)
    except (re.error, RecursionError, OverflowError) as error:
        raise BadPattern(f"is not a regular expression: {error}. Correct it.") from error
    ways = _ways_of_sequence(parsed)
    if ways > MOST_WAYS:
        raise BadPattern(
            "may match in too many ways, which a long text could make endless. "
            "Write repeats with a small limit ({0,20}), none inside another, and no references."
        )
    if compiled.search(""):
        raise BadPattern("matches even an empty text. Say what it must find.")
    return compiled


def found(pattern: str, text: str) -> str:
    """What a pattern finds in a text first; blank where it finds nothing."""
    match = compile_bounded(pattern).search(normalize(text))
    return match.group() if match else ""


def _ways_of_sequence(items: Iterable[tuple[Any, Any]]) -> float:
    ways = 1.0
    for code, argument in items:
        ways *= _ways(code, argument)
    return ways


def _ways(code: Any, argument: Any) -> float:
    """In how many ways a part can match from one place, at most."""
    if code in (codes.MAX_REPEAT, codes.MIN_REPEAT, codes.POSSESSIVE_REPEAT):
        least, most, inner = argument
        return _ways_of_repeat(least, most, _ways_of_sequence(inner))
    if code is codes.BRANCH:
        return sum(_ways_of_sequence(branch) for branch in argument[1])
    if code is codes.SUBPATTERN:
        return _ways_of_sequence(argument[-1])
    if code is codes.ATOMIC_GROUP:
        return _ways_of_sequence(argument)
    if code in (codes.ASSERT, codes.ASSERT_NOT):
        return _ways_of_sequence(argument[1])
    if code in (codes.GROUPREF, codes.GROUPREF_EXISTS):
        return float("inf")
    return 1.0


def _ways_of_repeat(least: int, most: int, inner: float) -> float:
    if most is codes.MAXREPEAT or most > MOST_WAYS:
        return float("inf")
    if inner == 1.0:
        return float(max(most - least + 1, 1))
    return float(inner ** min(most, 64)) * max(most - least + 1, 1)
