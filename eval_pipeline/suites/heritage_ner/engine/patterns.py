"""Times and identifiers by their form, in the four languages."""

import re
from collections.abc import Iterator
from typing import NamedTuple

from eval_pipeline.language.word_lists import word_lists


class Found(NamedTuple):
    """A stretch of the text and what it is taken for."""

    start: int
    end: int
    type: str


_LISTS = word_lists(__package__, "data/times.txt")
_MONTH = rf"(?:{'|'.join(sorted(set(_LISTS['MONTHS']), key=len, reverse=True))})"
_YEAR = r"(?:1[0-9]{3}|20[0-9]{2})"
_NUMERAL = rf"(?:[0-9]{{1,2}}(?:e|ste|de|th|st|nd|rd)|{'|'.join(_LISTS['NUMERALS'])})"

_DATES = re.compile(
    rf"\b(?:[0-9]{{1,2}}(?:\.|er|st|nd|rd|th)?\s+(?:of\s+)?{_MONTH}(?:\s+{_YEAR})?"
    rf"|{_MONTH}\s+[0-9]{{1,2}}(?:st|nd|rd|th)?,?\s+{_YEAR}"
    rf"|{_MONTH}\s+{_YEAR}"
    rf"|{_YEAR}\s?[–-]\s?{_YEAR}"
    rf"|{_YEAR})\b(?!-|[./][0-9])",
    re.IGNORECASE,
)
_LONG_TIMES = re.compile(
    rf"\b(?:{_NUMERAL}[\s-](?:eeuw|century)"
    rf"|[0-9]{{1,2}}\.\s+Jahrhunderts?"
    rf"|[IVX]{{1,5}}e\s+siècle"
    rf"|{_YEAR}s|{_YEAR}er[\s-]Jahren?|années\s+{_YEAR}|jaren\s+{_YEAR}"
    rf"|{'|'.join(_LISTS['PERIODS']).replace('_', ' ')})\b",
    re.IGNORECASE,
)
_CODE = re.compile(r"(?<![\w./:-])(?=[\w./:-]*[0-9])[A-Z]\w*(?:[./:-]\w+)*")
_SHORTEST_CODE = 5


def times(text: str, periods: bool) -> Iterator[Found]:
    """Dates, years and spans of years; with `periods` also centuries, decades and named periods."""
    if periods:
        for match in _LONG_TIMES.finditer(text):
            yield Found(match.start(), match.end(), "TMP")
    for match in _DATES.finditer(text):
        yield Found(match.start(), match.end(), "TMP")


def codes(text: str) -> Iterator[Found]:
    """Codes of capitals and digits, such as ZZ-NL-0101 or QX1001."""
    for match in _CODE.finditer(text):
        if match.end() - match.start() >= _SHORTEST_CODE:
            yield Found(match.start(), match.end(), "IDENTIFIER")
