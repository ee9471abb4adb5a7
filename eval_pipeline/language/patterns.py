"""Regular expressions from data: those of Python's `re`, searched with a limit of time.

A backtracking engine may take longer than anybody waits for, whatever the pattern looks like. The package
`regex` searches as `re` does and can be stopped. A search that is stopped has no result: it is an error that
names the pattern, never a score, so that numbers do not depend on how fast a machine is.
"""

from __future__ import annotations

import re
import warnings
from functools import lru_cache
from typing import TYPE_CHECKING

from eval_pipeline.metrics.text import normalize
from eval_pipeline.problems import BadInput, bad_value

if TYPE_CHECKING:
    import regex

LONGEST_PATTERN = 300
MOST_SECONDS = 5.0
"""Of the processor, for one search: a thousand times what a pattern takes that was written with care."""

MOST_COPIES = 10_000
"""How often a pattern may repeat its parts at least, all in all: `regex` keeps a copy of each in memory."""

_TOKEN = re.compile(
    r"(?P<set>\[\^?\]?(?:\\.|[^\]\\])*\])|\{(?P<least>\d*),?\d*\}|(?P<brace>\{)|\\N\{[^}]*\}|\\.|.",
    re.DOTALL,
)
"""The parts of a pattern: sets, repeats, braces that repeat nothing, escapes, other characters."""


class BadPattern(ValueError):
    """A pattern that cannot be used; says why and what to do."""


class SlowPattern(BadPattern):
    """A pattern that was stopped on a text."""

    def in_case(self, case_id: str) -> BadInput:
        """The same as bad input that names the case."""
        message, _, remedy = str(self).rpartition(". ")
        return bad_value(f"case {case_id}", message, remedy)


@lru_cache(maxsize=2**10)
def compile_bounded(pattern: str) -> regex.Pattern[str]:
    """A pattern to search normalized text with, case ignored; or `BadPattern`.

    It finds what `re` finds, but for letters that `re` knows less of: the dotless ı is no i, and marks that
    are written above or below letters are parts of words.
    """
    import regex

    if not pattern.strip():
        raise BadPattern("is blank. Give a pattern, or remove it.")
    if len(pattern) > LONGEST_PATTERN:
        raise BadPattern(f"has {len(pattern)} characters. Use at most {LONGEST_PATTERN}.")
    if _copies(pattern) > MOST_COPIES:
        raise BadPattern(f"repeats its parts more than {MOST_COPIES:,} times. Use smaller numbers.")
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", FutureWarning)  # a bracket in a set is a bracket
            re.compile(pattern, re.IGNORECASE)
        compiled = regex.compile(_as_re_reads(pattern), regex.VERSION0 | regex.IGNORECASE)
    except (re.error, regex.error, RecursionError, OverflowError) as error:
        raise BadPattern(f"is not a regular expression: {error}. Correct it.") from error
    if _search(compiled, pattern, ""):
        raise BadPattern("matches even an empty text. Say what it must find.")
    return compiled


def found(pattern: str, text: str) -> str:
    """What a pattern finds in a text first; blank where it finds nothing; or `SlowPattern`."""
    match = _search(compile_bounded(pattern), pattern, normalize(text))
    return match.group() if match else ""


@lru_cache(maxsize=2**10)
def compile_exact(pattern: str) -> regex.Pattern[str]:
    """The same, to search text with as it stands: case, white space and Unicode form count."""
    import regex

    compile_bounded(pattern)
    return regex.compile(_as_re_reads(pattern), regex.VERSION0)


def is_found(pattern: str, text: str) -> bool:
    """Whether a pattern finds something in a text as it stands; or `SlowPattern`."""
    return _search(compile_exact(pattern), pattern, text) is not None


def _search(compiled: regex.Pattern[str], pattern: str, text: str) -> regex.Match[str] | None:
    try:
        return compiled.search(text, timeout=MOST_SECONDS)
    except TimeoutError:
        stopped = f"the pattern {pattern!r} was stopped after {MOST_SECONDS:g} s on {len(text):,} characters"
        remedy = "Write repeats with a small limit ({0,20}), and none inside another."
        raise SlowPattern(f"{stopped}. {remedy}") from None


def _copies(pattern: str) -> int:
    """How many parts a pattern has when each is written as often as it must be there at least."""
    groups, last = [0], 0
    for token in _TOKEN.finditer(pattern):
        if token[0] == "(":
            groups.append(0)
        elif token["least"]:
            times = max(int(token["least"]), 1)
            groups[-1] += last * (times - 1)
            last *= times
        else:
            last = groups.pop() if token[0] == ")" and len(groups) > 1 else 1
            groups[-1] += last
    return sum(groups)


def _as_re_reads(pattern: str) -> str:
    """A pattern that means to `regex` what it means to `re`.

    `regex` has classes such as `[[:alpha:]]` and errors such as `{e<=1}`; to `re` both are characters.
    """

    def written(token: re.Match[str]) -> str:
        if token["set"]:
            return "[" + re.sub(r"(\\.)|\[", lambda each: each[1] or r"\[", token["set"][1:], flags=re.DOTALL)
        return r"\{" if token["brace"] else token[0]

    return _TOKEN.sub(written, pattern)
