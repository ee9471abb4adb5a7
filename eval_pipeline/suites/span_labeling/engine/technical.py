"""Technical figures: what has a form of its own is found by pattern."""

import re
from typing import NamedTuple

from eval_pipeline.language.word_lists import line_lists


class Found(NamedTuple):
    """A span that the engine found."""

    start: int
    end: int
    category: str


_NUMBER = r"\d{1,3}(?:\.\d{1,2})?"
_COUNT = (
    rf"(?:{_NUMBER}|one|two|three|four|five|six|seven|eight|nine|ten|twelve|fifteen|twenty|thirty|half a)"
)
_PATTERNS = {
    category: re.compile(
        "".join(lines).replace("<number>", _NUMBER).replace("<count>", _COUNT), re.IGNORECASE
    )
    for category, lines in line_lists(__package__, "data/technical.txt").items()
}


def find_technical(prompt: str) -> list[Found]:
    """Resolutions, frame rates, aspect ratios, durations, lenses and years; the first pattern wins."""
    results: list[Found] = []
    taken = bytearray(len(prompt))
    for category, pattern in _PATTERNS.items():
        for match in pattern.finditer(prompt):
            start, end = match.span()
            if not any(taken[start:end]):
                results.append(Found(start, end, category))
                taken[start:end] = b"\1" * (end - start)
    return sorted(results)
