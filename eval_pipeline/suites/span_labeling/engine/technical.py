"""Technical figures: what has a form of its own is found by pattern."""

from __future__ import annotations

import re
from typing import NamedTuple


class Found(NamedTuple):
    """A span that the engine found."""

    start: int
    end: int
    category: str


_NUMBER = r"\d{1,3}(?:\.\d{1,2})?"
_COUNT = (
    rf"(?:{_NUMBER}|one|two|three|four|five|six|seven|eight|nine|ten|twelve|fifteen|twenty|thirty|half a)"
)
_PATTERNS = tuple(
    (category, re.compile(pattern, re.IGNORECASE))
    for category, pattern in (
        (
            "technical.resolution",
            rf"\b(?:HDR |ProRes )?(?:{_NUMBER}K|\d{{3,4}}[pi]|U?HD|\d{{3,5}} ?[x×] ?\d{{3,5}})"
            r"(?: HDR| UHD)?\b",
        ),
        (
            "technical.frame_rate",
            rf"\b(?:slow[- ]motion )?(?:{_NUMBER} ?(?:fps|frames per second)|slow[- ]motion|time-?lapse"
            r"|real time)\b",
        ),
        (
            "technical.aspect_ratio",
            r"\b(?:(?:vertical|horizontal|wide|anamorphic) ){0,2}\d{1,2}(?:\.\d{1,2})?:\d{1,2}\b"
            r"(?: (?:aspect ratio|frame|format|widescreen))?"
            r"|\b(?:square|vertical|portrait|widescreen) format\b",
        ),
        ("time", r"\b(?:(?:spring|summer|autumn|winter) of )?(?:1[5-9]|20)\d\d(?:s\b|\b(?!x))|\b[2-9]0s\b"),
        ("technical.duration", rf"\b{_COUNT}[ -]?(?:s|secs?|seconds?|minutes?|min)\b"),
        ("style.medium", r"\b(?:shot on )?\d{1,3} ?mm (?:film(?: stock| grain)?|footage)\b"),
        (
            "camera.lens",
            rf"\b\d{{1,4}} ?mm(?: (?:f/{_NUMBER}|[a-z-]{{3,12}})){{0,2}} (?:lens|telephoto|macro|prime)\b"
            rf"|\b\d{{1,4}} ?mm\b|\bf/{_NUMBER}",
        ),
    )
)


def find_technical(prompt: str) -> list[Found]:
    """Resolutions, frame rates, aspect ratios, durations, lenses and years; the first pattern wins."""
    found: list[Found] = []
    taken = bytearray(len(prompt))
    for category, pattern in _PATTERNS:
        for match in pattern.finditer(prompt):
            start, end = match.span()
            if not any(taken[start:end]):
                found.append(Found(start, end, category))
                taken[start:end] = b"\1" * (end - start)
    return sorted(found)
