"""Where something is said: whether two quotes, or two locations, mean the same place."""

import re

from eval_pipeline.metrics.text import normalize, occurs_as_words, word_count

MOST_EXTRA_LINES = 4
LEAST_SHARE = 0.5
_MARKS = " .,;:!?\"'`“”‘’…"
_LINES = re.compile(r"(?:lines?|l)?\.? ?([0-9]{1,7})(?: ?(?:-|–|to) ?l?([0-9]{1,7}))?")


def line_range(location: str) -> tuple[int, int] | None:
    """First and last line of a location such as `12`, `12-14` or `lines 12–14`; None where it is none."""
    match = _LINES.fullmatch(normalize(location))
    if match is None:
        return None
    first = int(match[1])
    last = int(match[2]) if match[2] else first
    return (first, last) if 1 <= first <= last else None


def bare_quote(quote: str | None) -> str:
    """A quote as it is compared: normalized, without the marks around it."""
    return normalize(quote or "").strip(_MARKS)


def bare_location(location: str | None) -> str:
    """A location as it is compared: `12-14` for lines, otherwise the normalized text."""
    lines = line_range(location or "")
    return f"{lines[0]}-{lines[1]}" if lines else normalize(location or "")


def quotes_agree(one: str | None, other: str | None) -> bool:
    """Whether two quotes are the same words, or one is at least half of the other.

    Quoting a whole document contains every other quote, and so must not agree with any.
    """
    short, long_ = sorted((bare_quote(one), bare_quote(other)), key=lambda quote: (len(quote), quote))
    if not short:
        return False
    if short == long_:
        return True
    enough = 0 < word_count(long_) * LEAST_SHARE <= word_count(short)
    return enough and occurs_as_words(short, long_)


def locations_agree(one: str | None, other: str | None) -> bool:
    """Whether two locations are the same text, or ranges of lines that meet and are of a like length.

    A range over the whole document meets every other, and so must not agree with any.
    """
    first, second = line_range(one or ""), line_range(other or "")
    if first and second:
        meet = max(first[0], second[0]) <= min(first[1], second[1])
        return meet and abs((first[1] - first[0]) - (second[1] - second[0])) <= MOST_EXTRA_LINES
    return bool(bare_location(one)) and bare_location(one) == bare_location(other)
