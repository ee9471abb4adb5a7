"""Which texts of a column may hold something personal, told from their bytes all at once.

Most texts hold an odd number or two and nothing to mask. Reading each of them as `masking` does would take
longer than everything else that happens to an event, so this looks for what every match must have: an @; or
seven digits, each close to the next, with nothing but separators between them, that begin like a phone number
or are as many as cards have; or an IBAN. It may suspect too much, and never too little.
"""

from __future__ import annotations

import functools
import re
import string
from collections.abc import Iterator
from typing import TYPE_CHECKING, NamedTuple

from eval_pipeline.monitoring.ibans import FEWEST_DIGITS, IBAN_DIGITS, IBAN_LENGTHS, is_iban

if TYPE_CHECKING:
    import numpy as np
    import pyarrow as pa
    from numpy.typing import NDArray

    Bytes = NDArray[np.uint8]
    Words = NDArray[np.uint64]
    Positions = NDArray[np.int64]
    Flags = NDArray[np.bool_]

LONGEST_IBAN = max(IBAN_LENGTHS.values())
GROUPED_DIGITS = 10
"""So many a phone number has that begins like any other number; cards have more."""
AT_ONCE = 2**23
"""Bytes that are looked at together."""
WORD = 64
"""Bytes that have their bits in one word."""
PACKED = 2**18
"""Bytes that become bits at a time: what is worked out of them stays near the processor."""
WIDE_GAPS = "\u00a0\u2007\u2009\u202f\u2010\u2011\u2012\u2013\u2014\u2015"
"""Spaces and hyphens outside of ASCII that may stand in IBANs and card numbers."""
SIGNS = b"@\\"
"""What addresses have; and behind a backslash a character may mean another one."""
COUNTRY_AND_DIGIT = 3
"""Characters of an IBAN up to its first digit."""


class Reach(NamedTuple):
    """How far from each other digits are that belong together."""

    number: int
    """Bytes from a digit to the next with three separators between them."""
    iban: int
    """Bytes from a character of an IBAN to the next, with one separator between them."""
    words: int
    """Over so many words an IBAN spreads at most, from its first digit on."""


NARROW, WIDE = Reach(number=4, iban=2, words=2), Reach(number=10, iban=4, words=3)
"""Where all is ASCII, and where separators may have three bytes."""
_OTHER_DIGIT_OR_SIGN = r"[^\P{Nd}0-9]|＠"
"""What bytes do not show: digits of other scripts, and the wide sign."""
_GAP = rb"(?:[ .\-]|[\x80-\xff]{1,3})?"
_NOT_IN_IBANS = re.compile(rb"[^A-Za-z0-9]")


class Part(NamedTuple):
    """The bytes of some texts."""

    data: Bytes
    digits: Words
    """A bit for each byte, the first being the lowest: whether it is a digit."""
    signs: Positions
    """Where bytes stand that make a text suspect by themselves."""
    wide: bool
    """Whether anything is outside of ASCII."""


class Kinds(NamedTuple):
    """What each of the 256 bytes may be. Those outside of ASCII may be part of anything."""

    separator: Flags
    opening: Flags
    """What stands before the first digit of a phone number."""
    alphanumeric: Flags
    """In ASCII: what stands outside of it is suspected to be none."""
    gap: Flags
    """Where one outside of ASCII may end that stands between two characters of an IBAN."""
    iban: Bytes
    """For two bytes together: how long an IBAN is that begins with these letters."""
    iban_digits: Bytes
    """How many digits it has at least."""


def suspects(texts: pa.Array) -> Flags:
    """Which texts may hold an address, a phone or card number, or an IBAN."""
    import numpy as np
    import pyarrow as pa
    import pyarrow.compute as pc

    flags = np.zeros(len(texts), dtype=bool)
    if not len(texts) or texts.null_count == len(texts):
        return flags
    offsets = np.frombuffer(texts.buffers()[1], np.int32)[texts.offset : texts.offset + len(texts) + 1]
    if offsets[0] == offsets[-1]:
        return flags
    data, wide = np.frombuffer(texts.buffers()[2], np.uint8), False
    for first, last in _slices(offsets):
        begin = offsets[first]
        part = _scanned(data[begin : offsets[last]])
        flags[first:last][_suspicious(part, offsets[first : last + 1] - begin)] = True
        wide |= part.wide
    if wide:
        rest = ~flags & ~pc.string_is_ascii(texts).fill_null(True).to_numpy(zero_copy_only=False)
        written = pc.match_substring_regex(texts.filter(pa.array(rest)), _OTHER_DIGIT_OR_SIGN)
        flags[rest] = written.fill_null(False).to_numpy(zero_copy_only=False)
    return flags


def holds_any(texts: pa.Array, signs: bytes) -> bool:
    """Whether any of some texts has one of some bytes, which is all that most columns need to be asked."""
    import numpy as np

    _, offsets, data = texts.buffers()
    if data is None or not len(texts):
        return False
    first, last = np.frombuffer(offsets, np.int32)[[texts.offset, texts.offset + len(texts)]].tolist()
    held = np.frombuffer(data, np.uint8)
    parts = (held[start : min(start + PACKED, last)] for start in range(first, last, PACKED))
    return any((part == sign).any() for part in parts for sign in signs)


def _slices(offsets: NDArray[np.int32]) -> Iterator[tuple[int, int]]:
    """Rows from the first up to and without the last, of about `AT_ONCE` bytes each."""
    import numpy as np

    first, rows = 0, len(offsets) - 1
    while first < rows:
        last = int(np.searchsorted(offsets, int(offsets[first]) + AT_ONCE, side="right")) - 1
        last = min(max(last, first + 1), rows)
        yield first, last
        first = last


def _scanned(data: Bytes) -> Part:
    """What every byte has to be looked at for, some at a time: they stay near the processor meanwhile."""
    import numpy as np

    digits, signs, wide = np.zeros(-(-len(data) // WORD) * (WORD // 8), dtype=np.uint8), [], False
    number, flag = np.empty(PACKED, dtype=np.uint8), np.empty(PACKED, dtype=bool)
    for start in range(0, len(data), PACKED):
        some = data[start : start + PACKED]
        held, size = some.tobytes(), len(some)
        wide |= not held.isascii()
        signs += [start + place for sign in SIGNS for place in _all_places(held, sign)]
        np.subtract(some, np.uint8(ord("0")), out=number[:size])
        np.less(number[:size], 10, out=flag[:size])
        packed = np.packbits(flag[:size], bitorder="little")
        digits[start // 8 : start // 8 + len(packed)] = packed
    return Part(data, digits.view("<u8"), np.array(signs, dtype=np.int64), wide)


def _all_places(held: bytes, sign: int) -> Iterator[int]:
    """Where a byte stands: few of them are found much faster so than by comparing all."""
    place = held.find(sign)
    while place >= 0:
        yield place
        place = held.find(sign, place + 1)


def _suspicious(part: Part, offsets: NDArray[np.int32]) -> Positions:
    """The rows of a part that are suspect; `offsets` are where they begin, and the end."""
    import numpy as np

    reach = WIDE if part.wide else NARROW
    counts = np.bitwise_count(part.digits)
    for ahead in range(1, reach.words):
        counts[:-ahead] += np.bitwise_count(part.digits[ahead:])
    crowded = counts >= FEWEST_DIGITS
    chosen = crowded.copy()
    chosen[:-1] |= crowded[1:]
    for ahead in range(1, reach.words):
        chosen[ahead:] |= crowded[:-ahead]
    words = np.flatnonzero(chosen)
    digits = part.digits[words]  # with those beside the crowded ones: bits move on from word to word
    numbers = _numbers(part.data, offsets, _places(_dense(digits, reach), words), reach.number)
    first = _places(np.where(crowded[words], digits & ~_shifted(digits, 1), np.uint64(0)), words)
    ibans = _ibans(part.data, offsets, first, counts[first // WORD], reach.iban)
    return _rows(offsets, np.concatenate([part.signs, numbers, ibans]))


def _dense(digits: Words, reach: Reach) -> Words:
    """The digits of words that have seven in reach of each other, or begin or end such ones."""
    import numpy as np

    # Each digit covers its reach, and seven that are near each other cover this much without a hole. It may
    # end behind the last word.
    covered = _spread(np.append(digits, np.uint64(0)), reach.number, np.bitwise_or)
    dense = _spread(covered, FEWEST_DIGITS - 1 + reach.number, np.bitwise_and) != 0
    chosen = dense[:-1] | dense[1:]
    chosen[1:] |= dense[:-2]
    return np.where(chosen, digits, np.uint64(0))


def _spread(bits: Words, length: int, combine: np.ufunc) -> Words:
    """For each bit, it and those before it, so many in all, together."""
    done = 1
    while done < length:
        step = min(done, length - done)
        bits = combine(bits, _shifted(bits, step))
        done += step
    return bits


def _shifted(bits: Words, places: int) -> Words:
    """Each bit so many places further."""
    import numpy as np

    moved: Words = bits << np.uint64(places)
    moved[1:] |= bits[:-1] >> np.uint64(WORD - places)
    return moved


def _places(bits: Words, words: Positions) -> Positions:
    """Where the bits that are set stand, each word being that of so many bytes."""
    import numpy as np

    some = np.flatnonzero(bits)
    there = np.flatnonzero(np.unpackbits(bits[some].view(np.uint8), bitorder="little").view(bool))
    places: Positions = words[some[there // WORD]] * WORD + there % WORD
    return places


def _rows(offsets: NDArray[np.int32], positions: Positions) -> Positions:
    import numpy as np

    rows: Positions = np.searchsorted(offsets, positions, side="right") - 1
    return rows


def _numbers(data: Bytes, offsets: NDArray[np.int32], digits: Positions, nearest: int) -> Positions:
    """Digits that may be part of a phone or card number."""
    import numpy as np

    ahead = FEWEST_DIGITS - 1
    starts = np.flatnonzero(digits[ahead:] - digits[:-ahead] <= ahead * nearest)
    for place in range(ahead):
        starts = starts[digits[starts + place + 1] - digits[starts + place] <= nearest]
    if not len(starts):
        return digits[:0]
    dense = np.zeros(len(digits), dtype=bool)
    for place in range(FEWEST_DIGITS):
        dense[starts + place] = True
    digits = digits[dense]
    kinds = _kinds()
    gaps = np.diff(digits, append=digits[-1] + nearest + 1)
    begins = np.searchsorted(digits, offsets[:-1])
    gaps[begins[begins > 0] - 1] = nearest + 1  # no number goes on in another row
    behind = data[np.minimum(digits + 1, len(data) - 1)]
    apart = (gaps > 1) & ~((gaps <= nearest) & kinds.separator[behind])
    run: Positions = np.cumsum(apart) - apart
    counts = np.bincount(run)
    chosen = np.flatnonzero((counts >= FEWEST_DIGITS)[run])
    positions = digits[chosen]
    before = data[positions - 1]
    before[offsets[_rows(offsets, positions)] == positions] = 0  # what stands there is of another row
    first_of_group = (before - np.uint8(ord("0"))) >= 10
    opens = first_of_group & ((data[positions] == ord("0")) | kinds.opening[before])
    likely = counts >= GROUPED_DIGITS
    likely[run[chosen[opens]]] = True
    return digits[likely[run]]


def _ibans(
    data: Bytes, offsets: NDArray[np.int32], first: Positions, around: Bytes, nearest: int
) -> Positions:
    """Where IBANs begin: at the letters of a country, with enough digits behind them.

    They have the first digit where groups of them begin; `around` each there are so many at most.
    """
    import numpy as np

    kinds = _kinds()
    before = data[first - 1]
    second = first - 1 - kinds.separator[before]
    country = data[second - 1].astype(np.uint16) << 8 | data[second]
    wide = first[kinds.gap[before]]
    named = np.flatnonzero((kinds.iban[country] > 0) & (around >= kinds.iban_digits[country]))
    first, starts, country = first[named], second[named] - 1, country[named]
    rows = _rows(offsets, first)
    begins = offsets[rows]
    alone = (starts == begins) | ((starts > begins) & ~kinds.alphanumeric[data[starts - 1]])
    chosen = np.flatnonzero(alone)
    chosen = chosen[_have_digits(data, first[chosen], country[chosen], nearest)]
    places = zip(starts[chosen].tolist(), offsets[rows[chosen] + 1].tolist(), strict=True)
    longest = LONGEST_IBAN * nearest
    right = [start for start, end in places if _is_iban(data[start : min(end, start + longest)])]
    return np.concatenate([wide, np.array(right, dtype=np.int64)])


def _have_digits(data: Bytes, first: Positions, country: Positions, nearest: int) -> Flags:
    """Whether IBANs that begin with the letters of a country would have all their digits, from the first."""
    import numpy as np

    kinds, ahead = _kinds(), np.arange((LONGEST_IBAN - COUNTRY_AND_DIGIT) * nearest + 1)
    behind = data[np.minimum(first[:, None] + ahead, len(data) - 1)]
    within = ahead <= ((kinds.iban[country] - COUNTRY_AND_DIGIT) * nearest)[:, None]
    counts = np.count_nonzero((behind - np.uint8(ord("0")) < 10) & within, axis=1)
    enough: Flags = counts >= kinds.iban_digits[country]
    return enough


def _is_iban(data: Bytes) -> bool:
    beginning = data.tobytes()
    written = _written(beginning[:2].decode().upper()).match(beginning)
    return written is not None and is_iban(_NOT_IN_IBANS.sub(b"", written.group()).decode())


@functools.cache
def _written(country: str) -> re.Pattern[bytes]:
    """How an IBAN of a country is written: all its letters and digits, with one separator between two."""
    return re.compile(rb"[A-Za-z0-9](?:%b[A-Za-z0-9]){%d}(?![A-Za-z0-9])" % (_GAP, IBAN_LENGTHS[country] - 1))


@functools.cache
def _kinds() -> Kinds:
    import numpy as np

    def kind(characters: str, *, wide: bool = True) -> Flags:
        flags = np.zeros(256, dtype=bool)
        flags[[ord(each) for each in characters]] = True
        flags[0x80:] = wide
        return flags

    iban, iban_digits = np.zeros(2**16, dtype=np.uint8), np.zeros(2**16, dtype=np.uint8)
    for name, length in IBAN_LENGTHS.items():
        for one in (name[0], name[0].lower()):
            for two in (name[1], name[1].lower()):
                letters = ord(one) << 8 | ord(two)
                iban[letters], iban_digits[letters] = length, IBAN_DIGITS[name]
    alphanumeric = kind(string.ascii_letters + string.digits, wide=False)
    gap = np.zeros(256, dtype=bool)
    gap[[each.encode()[-1] for each in WIDE_GAPS]] = True
    return Kinds(kind(" ()./-"), kind("+("), alphanumeric, gap, iban, iban_digits)
