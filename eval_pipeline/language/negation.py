"""What a sentence denies: which stretches of it a "not", a "no" or an "it is false that" reaches."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cache
from typing import NamedTuple

from eval_pipeline.language.word_lists import line_lists

_LISTS = {name: "|".join(lines) for name, lines in line_lists(__package__, "data/negations.txt").items()}
LONGEST_TEXT = 5_000
"""Characters that are read; no sentence is that long."""
_KINDS = ("harmless", "sentence", "clause", "after", "object")
_CONTRACTED = r"(?<=[a-z])n['’]t"
_SENTENCE_END = re.compile(r"[.!?…](?=\s|$)")
_TWO_WORDS = re.compile(r"(?:\s+\S+){1,2}")
_INTRODUCES = re.compile(r",? (?:that|dat|dass|que|qu)\b|:")
_MARKS = r"[,;:.!?…](?=\s|$)|[()\[\]—–]"

NEGATORS = {
    language: frozenset(
        word
        for name in (f"{each} {kind}" for each in (language, "en") for kind in _KINDS[2:])
        for word in _LISTS[name].split("|")
        if word.isalpha()
    )
    for language in ("nl", "en", "de", "fr")
}
"""Single words that deny in a text of each language, which may hold English, too."""


class Negation(NamedTuple):
    """What denies, and the stretch that it denies; offsets are those of the text."""

    start: int
    end: int
    reaches_from: int
    reaches_to: int
    disputes: bool = False
    """Whether it says of a whole statement that it is not so."""


class _Reader(NamedTuple):
    denies: re.Pattern[str]
    clause: re.Pattern[str]
    """Where a clause begins or ends for certain."""
    phrase: re.Pattern[str]
    """Where one may."""


@cache
def _reader(language: str) -> _Reader:
    known = language if f"{language} clause" in _LISTS else "en"
    listed = {kind: _LISTS[f"{known} {kind}"] for kind in (*_KINDS, "begins", "joins")}
    if known != "en":  # answers come in English, too
        listed |= {kind: f"{listed[kind]}|{_LISTS[f'en {kind}']}" for kind in _KINDS}
    lists = {kind: rf"\b(?:{words})\b" for kind, words in listed.items()}
    lists["clause"] += f"|{_CONTRACTED}"
    return _Reader(
        re.compile("|".join(f"(?P<{kind}>{lists[kind]})" for kind in _KINDS)),
        re.compile(rf"{_MARKS}|{lists['begins']}"),
        re.compile(rf"{_MARKS}|{lists['begins']}|{lists['joins']}"),
    )


def negations(text: str, language: str = "en") -> list[Negation]:
    """Everything in a text in lower case that denies, in order.

    A "not" reaches over its clause, a "no" from there to the end of its phrase, a "without" over two words,
    an "it is false that" to the end of its sentence. "Not only" and "no later than" deny nothing.
    """
    reader, read = _reader(language), text[:LONGEST_TEXT]
    found = []
    for match in reader.denies.finditer(read):
        start, end = match.end(), _after(read, reader.phrase, match.end())
        if match.lastgroup == "clause":
            start, end = _before(read, reader.phrase, match.start()), _after(read, reader.clause, match.end())
        elif match.lastgroup == "object" and (words := _TWO_WORDS.match(read, match.end())):
            end = min(end, words.end())
        elif match.lastgroup == "sentence":
            end = _after(read, _SENTENCE_END, match.end())
            if not _INTRODUCES.match(read, match.end()):
                start = _before(read, _SENTENCE_END, match.start())
        if match.lastgroup != "harmless":
            found.append(Negation(*match.span(), start, end, match.lastgroup == "sentence"))
    return found


def _before(text: str, edge: re.Pattern[str], place: int) -> int:
    return max((match.end() for match in edge.finditer(text, 0, place)), default=0)


def _after(text: str, edge: re.Pattern[str], place: int) -> int:
    match = edge.search(text, place)
    return match.start() if match else len(text)


def is_denied(found: Sequence[Negation], start: int, end: int) -> bool:
    """Whether what stands there is denied, once and not twice; what denies inside of it is part of it."""
    reaching = [
        each
        for each in found
        if each.reaches_from <= start < each.reaches_to and not (start <= each.start and each.end <= end)
    ]
    return len(reaching) % 2 == 1
