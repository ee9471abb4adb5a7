"""Text without e-mail addresses, phone numbers, IBANs and card numbers.

It is done before anything of an event reaches the disk. A number is taken for an IBAN or a card only where
its check digits are right, and for a phone number only where it is written as one, so that ids, dates and
amounts stay. Names are found by what stands before them, and only where that is asked for: best effort.
"""

from __future__ import annotations

import functools
import itertools
import re
import string
import unicodedata
from bisect import bisect_left
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, NamedTuple

from eval_pipeline.monitoring.ibans import IBAN_LENGTHS, is_iban
from eval_pipeline.monitoring.suspects import WIDE_GAPS, suspects

if TYPE_CHECKING:
    import numpy as np
    import pyarrow as pa
    from numpy.typing import NDArray

EMAIL, PHONE, IBAN, CARD, NAME = "[e-mail]", "[phone]", "[iban]", "[card]", "[name]"
LONGEST_LOCAL = 64
MOST_LEVELS = 3
"""So often a text may be JSON within JSON."""
MOST_LABELS = 1000
EDGE = 1024
"""Characters around the place where a text is cut that are looked at."""

_GAP = rf"[ .\-{WIDE_GAPS}]"
_GAPS = re.compile(_GAP)
_DIGIT_RUN = re.compile(rf"(?<!\d)\d(?:{_GAP}?\d)*")
_GROUPS = re.compile(r"\d+")
_NO_DIGIT = re.compile("[^0-9]+")
_ESCAPE = re.compile(r"\\(?:u([0-9a-fA-F]{4})|([\"\\/bfnrt]))")
_ESCAPED = {"b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t"}
_LOCAL_REVERSED = re.compile(r"[\w\u0300-\u036f.!#$%&'*+/=?^`{|}~-]+")
_DOMAIN = re.compile(r"[\w\u0300-\u036f-]{1,63}(?:\.[\w\u0300-\u036f-]{1,63}){1,8}")
_SPACES = re.compile(r"[^ \u00a0\u2009\u202f]+")
_IBAN_START = re.compile(rf"(?<![^\W_])[A-Za-z]{{2}}{_GAP}?\d{_GAP}?\d")
_ASCII_IBAN_DIGITS = re.compile(rb"0(?:(?<=[^a0]aa0)|(?<=[^a0]aa-0))-?0")
"""The check digits of what begins like an IBAN: digits are rarer than letters, so they come first."""
_PHONE = re.compile(
    r"(?<![\w.,])(?:[+＋]|\()?\d(?:[ \u00a0\u2009\u202f()./\-\u2010-\u2015]{0,3}\d){6,16}(?![\w])"
)
_DATE = re.compile(r"\d{1,2}([-./ ])\d{1,2}\1(?:19|20)\d\d|(?:19|20)\d\d([-./ ])\d{1,2}\2\d{1,2}")
_ABROAD, _FROM_ZERO = re.compile("00[1-9]"), re.compile("0[1-9]")
_GROUPED = re.compile(r"(?:1[ .\-])?\d{3}([ .\-])\d{3}\1\d{4}")
_PARTICLES = r"(?:(?:van|von|de|der|den|di|la|le)\s+){0,3}"
_PART = rf"{_PARTICLES}[^\W\d_a-z][\w'’-]{{1,40}}"
_NAMED = re.compile(
    r"\b(?:Mr|Mrs|Ms|Miss|Dr|Prof|Herr|Frau|Dhr|Mevr|Mw|Meneer|Mevrouw|Madame|Monsieur"
    rf"|[Mm]y name is|[Ii]k heet|[Ii]ch hei(?:ß|ss)e)\.?\s+({_PART}(?:\s+{_PART}){{0,2}})"
)

_STRETCH = re.compile(r"\d(?:\D{0,6}+\d){6,}+")
_ASCII_STRETCH = re.compile(rb"0(?: {0,6}+0){6,}+")
"""Seven digits or more, each close to the next: every card and phone number lies in or around one."""
_DIGITS = bytes(ord("0") if chr(byte) in string.digits else ord(" ") for byte in range(256))
"""One digit for all, and a space for the rest: a byte is searched for much faster than a kind of them."""
_ALPHABET = string.digits + string.ascii_letters + " .-"
_KINDS = bytes.maketrans(_ALPHABET.encode(), b"0" * 10 + b"a" * 52 + b"---")
"""The same with one letter for all, and one separator."""
BEFORE, BEHIND = 16, 48
"""Characters before and behind such digits that may belong to the same number."""

CARD_LENGTHS = (
    (re.compile("4"), (13, 16, 19)),
    (re.compile("5[1-5]|2[2-7]"), (16,)),
    (re.compile("3[47]"), (15,)),
    (re.compile("30[0-5]|36|3[89]"), (14, 16)),
    (re.compile("35"), (16,)),
    (re.compile("6"), (16, 17, 18, 19)),
)
"""How cards of each brand begin, and how many digits they have."""
FEWEST_CARD_DIGITS = min(min(lengths) for _, lengths in CARD_LENGTHS)
MOST_CARD_DIGITS = max(max(lengths) for _, lengths in CARD_LENGTHS)


class Found(NamedTuple):
    """A stretch of text, and what it is replaced by."""

    start: int
    end: int
    mark: str


def mask_text(text: str, *, names: bool = False) -> str:
    """A text without personal data; what stands in its place says what it was."""
    parts, end = [], 0
    for found in find(text, names=names):
        parts += [text[end : found.start], _fitting(text, found)]
        end = found.end
    return "".join([*parts, text[end:]]) if parts else text


def find(text: str, *, names: bool = False) -> list[Found]:
    """Everything that is masked, in order and without overlaps.

    What is written in JSON's escapes is found as what it means: texts may be JSON, and JSON within JSON.
    """
    if "\\" not in text:
        return _find(text, names=names)
    plain, places = text, list(range(len(text) + 1))
    for _ in range(MOST_LEVELS):
        plain, kept = _unescaped(plain)
        places = [places[each] for each in kept]
    return [Found(places[each.start], places[each.end], each.mark) for each in _find(plain, names=names)]


def _unescaped(text: str) -> tuple[str, list[int]]:
    """A text without its escapes, and where each of its characters stood, and where it ended."""
    parts: list[str] = []
    places: list[int] = []
    end = 0
    for escape in _ESCAPE.finditer(text):
        code, letter = escape.groups()
        parts += [text[end : escape.start()], chr(int(code, 16)) if code else _ESCAPED.get(letter, letter)]
        places += range(end, escape.start() + 1)
        end = escape.end()
    return "".join([*parts, text[end:]]), [*places, *range(end, len(text) + 1)]


def cut_before(text: str, limit: int) -> str:
    """The beginning of a text; nothing personal is cut in two, of which nobody would recognise the rest."""
    start = max(limit - EDGE, 0)
    for found in find(text[start : limit + EDGE]) if len(text) > limit else ():
        if found.start < limit - start < found.end:
            return text[: start + found.start]
    return text[:limit]


def _find(text: str, *, names: bool) -> list[Found]:
    """The same in a text without escapes: what is surest first."""
    taken: list[Found] = list(_emails(text))
    taken += _apart(_ibans(text), taken)
    for start, end in _windows(text):
        for search in (_cards, _phones):
            taken += _apart(search(text, start, end), taken)
    if names:
        taken += _apart(_names(text), taken)
    return sorted(taken)


def _apart(found: Iterable[Found], taken: Sequence[Found]) -> list[Found]:
    """What overlaps with nothing that was found before."""
    return [
        each
        for each in found
        if not any(each.start < other.end and other.start < each.end for other in taken)
    ]


def _windows(text: str) -> list[tuple[int, int]]:
    """Where cards and phones may be: around many digits, up to a word's end; those that touch are one."""
    windows: list[tuple[int, int]] = []
    ascii_ = text.isascii()
    found = _ASCII_STRETCH.finditer(text.encode().translate(_DIGITS)) if ascii_ else _STRETCH.finditer(text)
    for stretch in found:
        start, end = max(stretch.start() - BEFORE, 0), min(stretch.end() + BEHIND, len(text))
        while end < len(text) and (text[end].isalnum() or text[end] == "_"):
            end += 1
        if windows and start <= windows[-1][1]:
            start, end = windows[-1][0], max(windows.pop()[1], end)
        windows.append((start, end))
    return windows


def _fitting(text: str, found: Found) -> str:
    """The mark; as JSON text where it takes the place of a bare number in JSON, which stays JSON."""
    before = text[max(found.start - 20, 0) : found.start].rstrip()
    after = text[found.end : found.end + 20].lstrip()
    bare = text.lstrip()[:1] in ("{", "[") and before[-1:] in (":", "[", ",") and after[:1] in (",", "}", "]")
    return f'"{found.mark}"' if bare else found.mark


def _emails(text: str) -> Iterator[Found]:
    for sign in "@＠":
        at = text.find(sign)
        while at >= 0:
            local = _LOCAL_REVERSED.match(text[max(at - LONGEST_LOCAL, 0) : at][::-1])
            domain = _DOMAIN.match(text, at + 1)
            if local and domain:
                yield Found(at - local.end(), domain.end(), EMAIL)
            at = text.find(sign, at + 1)


def _ibans(text: str) -> Iterator[Found]:
    for start in _iban_starts(text):
        length = IBAN_LENGTHS.get(text[start : start + 2].upper())
        written = _written_in(length).match(text, start) if length else None
        if written and is_iban(_GAPS.sub("", written.group())):
            yield Found(start, written.end(), IBAN)


@functools.cache
def _written_in(length: int) -> re.Pattern[str]:
    """So many letters and digits, with one separator between two, and none behind them."""
    return re.compile(rf"[^\W_](?:{_GAP}?[^\W_]){{{length - 1}}}(?![^\W_])")


def _iban_starts(text: str) -> Iterator[int]:
    """Where two letters stand that begin a word and have two digits behind them."""
    if not text.isascii():
        yield from (start.start() for start in _IBAN_START.finditer(text))
        return
    kinds = b" " + text.encode().translate(_KINDS)
    for digits in _ASCII_IBAN_DIGITS.finditer(kinds):
        yield digits.start() - 3 - (kinds[digits.start() - 1] == ord("-"))


def _cards(text: str, start: int, end: int) -> Iterator[Found]:
    """Whole groups of digits that are a card number together; an expiry date may follow them."""
    for run in _DIGIT_RUN.finditer(text, start, end):
        digits = _GAPS.sub("", run.group())
        if len(digits) < FEWEST_CARD_DIGITS:
            continue
        groups = list(_GROUPS.finditer(text, run.start(), run.end()))
        ends = list(itertools.accumulate(len(group.group()) for group in groups))
        first, begin = 0, 0
        while len(digits) - begin >= FEWEST_CARD_DIGITS:
            last = bisect_left(ends, begin + FEWEST_CARD_DIGITS)
            while last < len(ends) and ends[last] - begin <= MOST_CARD_DIGITS:
                if is_card(digits[begin : ends[last]]):
                    yield Found(groups[first].start(), groups[last].end(), CARD)
                    first = last
                    break
                last += 1
            first, begin = first + 1, ends[first]


def is_card(digits: str) -> bool:
    """Whether digits begin, are as long, and end in a check digit (Luhn) as those of a card."""
    plain = _in_ascii(digits)
    if not any(len(plain) in lengths and prefix.match(plain) for prefix, lengths in CARD_LENGTHS):
        return False
    doubled = (int(each) * (1 + place % 2) for place, each in enumerate(reversed(plain)))
    return len(set(plain)) > 1 and sum(each - 9 * (each > 9) for each in doubled) % 10 == 0


def _in_ascii(text: str) -> str:
    """A text with the digits of other scripts as ours."""
    if text.isascii():
        return text
    return "".join(str(unicodedata.digit(each)) if each.isdigit() else each for each in text)


def _phones(text: str, start: int, end: int) -> Iterator[Found]:
    for run in _PHONE.finditer(text, start, end):
        if is_phone(run.group()):
            yield Found(run.start(), run.end(), PHONE)
        else:
            yield from _phones_among(text, run.start(), run.end())


def _phones_among(text: str, start: int, end: int) -> Iterator[Found]:
    """Phone numbers that other numbers stand beside, with a space between them."""
    words = [(word.start(), word.end()) for word in _SPACES.finditer(text, start, end)]
    first = 0
    while first < len(words):
        ends = range(len(words), first, -1)
        last = next((each for each in ends if is_phone(text[words[first][0] : words[each - 1][1]])), None)
        if last is not None:
            yield Found(words[first][0], words[last - 1][1], PHONE)
        first = last or first + 1


def is_phone(written: str) -> bool:
    """Whether a number is written as a phone number is: international, with an area code, or from 0 on."""
    plain = _in_ascii(written)
    digits = _NO_DIGIT.sub("", plain)
    if plain[0] in "+＋":
        return 8 <= len(digits) <= 15
    if _DATE.match(plain):
        return False
    if plain[0] == "(":
        return ")" in plain and 7 <= len(digits) <= 15
    if _ABROAD.match(plain):
        return 10 <= len(digits) <= 17
    if _FROM_ZERO.match(plain):
        return 9 <= len(digits) <= 11
    return _GROUPED.fullmatch(plain) is not None


def _names(text: str) -> Iterator[Found]:
    for named in _NAMED.finditer(text):
        yield Found(named.start(1), named.end(1), NAME)


def mask_column(column: pa.ChunkedArray, *, names: bool = False) -> pa.ChunkedArray:
    """The same for a column of text: only rows that may hold something are looked at one by one."""
    import pyarrow as pa

    chunks = [part for chunk in column.chunks for part in _masked(chunk, names=names)]
    return pa.chunked_array(chunks, pa.string())


def mask_labels(column: pa.ChunkedArray, *, names: bool = False) -> pa.ChunkedArray:
    """The same for a column in which few texts come again and again."""
    import pyarrow as pa
    import pyarrow.compute as pc

    labels = pc.unique(column)
    if len(labels) > MOST_LABELS:
        return mask_column(column, names=names)
    masked = [label and mask_text(label, names=names) for label in labels.to_pylist()]
    if masked == labels.to_pylist():
        return column
    return pa.chunked_array(
        [pa.array(masked, pa.string()).take(pc.index_in(column, labels).combine_chunks())]
    )


def _masked(chunk: pa.Array, *, names: bool) -> Iterator[pa.Array]:
    """A chunk in parts: those that stay as they are, and between them the rows that become others."""
    import numpy as np
    import pyarrow as pa

    rows = _rows_to_read(chunk, names=names)
    texts = chunk.take(pa.array(rows)).to_pylist()
    masked = [mask_text(text, names=names) for text in texts]
    changed = [place for place, text in enumerate(texts) if masked[place] is not text]
    others, end = pa.array([masked[place] for place in changed], pa.string()), 0
    places = rows[np.array(changed, dtype=np.int64)]
    for run in np.split(np.arange(len(places)), np.flatnonzero(np.diff(places) != 1) + 1):
        if len(run):
            yield chunk.slice(end, int(places[run[0]]) - end)
            yield others.slice(int(run[0]), len(run))
            end = int(places[run[-1]]) + 1
    yield chunk.slice(end)


def _rows_to_read(chunk: pa.Array, *, names: bool) -> NDArray[np.int64]:
    """Where texts stand that may hold something."""
    import numpy as np

    if not chunk.null_count:
        return np.arange(len(chunk)) if names else np.flatnonzero(suspects(chunk))
    there = np.flatnonzero(chunk.is_valid().to_numpy(zero_copy_only=False))
    return there if names or not len(there) else there[suspects(chunk.drop_null())]
