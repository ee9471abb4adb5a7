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
    Units = NDArray[np.uint32]
    Positions = NDArray[np.int64]
    Flags = NDArray[np.bool_]

LONGEST_IBAN = max(IBAN_LENGTHS.values())
GROUPED_DIGITS = 10
"""So many a phone number has that begins like any other number; cards have more."""
AT_ONCE = 2**21
"""Bytes that are looked at together."""
PACKED = 2**18
"""Bytes that become bits at a time: what is worked out of them stays near the processor."""
WIDE_GAPS = "\u00a0\u2007\u2009\u202f\u2010\u2011\u2012\u2013\u2014\u2015"
"""Spaces and hyphens outside of ASCII that may stand in IBANs and card numbers."""
COUNTRY_AND_DIGIT = 3
"""Characters of an IBAN up to its first digit."""


class Reach(NamedTuple):
    """How far from each other digits are that belong together."""

    number: int
    """Bytes from a digit to the next with three separators between them."""
    iban: int
    """Bytes from a character of an IBAN to the next, with one separator between them."""
    units: int
    """Over so many units of 32 bytes seven digits of either spread at most."""


NARROW, WIDE = Reach(number=4, iban=2, units=3), Reach(number=10, iban=4, units=5)
"""Where all is ASCII, and where separators may have three bytes."""
_OTHER_DIGIT_OR_SIGN = r"[^\P{Nd}0-9]|＠"
"""What bytes do not show: digits of other scripts, and the wide sign."""
_GAP = rb"(?:[ .\-]|[\x80-\xff]{1,3})?"
_NOT_IN_IBANS = re.compile(rb"[^A-Za-z0-9]")


class Kinds(NamedTuple):
    """What each of the 256 bytes may be. Those outside of ASCII may be part of anything."""

    separator: Flags
    opening: Flags
    """What stands before the first digit of a phone number."""
    alphanumeric: Flags
    """In ASCII: what stands outside of it is suspected to be none."""
    gap: Flags
    """Where one outside of ASCII may end that stands between two characters of an IBAN."""
    iban: NDArray[np.int64]
    """For two bytes together: how long an IBAN is that begins with these letters."""
    iban_digits: NDArray[np.int64]
    """How many digits it has at least; more than there are anywhere, where none begins so."""


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
        part = data[begin : offsets[last]]
        wide_part = bool(part.max() >= 0x80)
        _look(part, offsets[first : last + 1] - begin, flags[first:last], WIDE if wide_part else NARROW)
        wide |= wide_part
    # Behind a backslash a character may mean another one.
    signs = r"@|\\" if holds_any(texts, b"\\") else "@"
    flags |= pc.match_substring_regex(texts, signs).fill_null(False).to_numpy(zero_copy_only=False)
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


def _look(data: Bytes, offsets: NDArray[np.int32], flags: Flags, reach: Reach) -> None:
    """Flag the rows of some bytes that are suspect; `offsets` are where they begin, and the end."""
    import numpy as np

    digits = _crowded_digits(_digit_bits(data), reach.units)
    if len(digits) >= FEWEST_DIGITS:
        numbers = _numbers(data, offsets, digits, reach.number)
        ibans = _ibans(data, offsets, digits, reach.iban)
        flags[_rows(offsets, np.concatenate([numbers, ibans]))] = True


def _digit_bits(data: Bytes) -> Units:
    """A bit for each byte, 32 to a unit: whether it is a digit."""
    import numpy as np

    eights = np.zeros(-(-len(data) // 32) * 4, dtype=np.uint8)
    for start in range(0, len(data), PACKED):
        packed = np.packbits((data[start : start + PACKED] - np.uint8(ord("0"))) < 10, bitorder="little")
        eights[start // 8 : start // 8 + len(packed)] = packed
    return eights.view("<u4")


def _crowded_digits(bits: Units, together: int) -> Positions:
    """Where digits stand in units that have seven or more with their neighbours, so many units together."""
    import numpy as np

    counts = np.minimum(np.bitwise_count(bits), FEWEST_DIGITS)
    sums = counts.copy()
    for ahead in range(1, together):
        sums[:-ahead] += counts[ahead:]
    begins = sums >= FEWEST_DIGITS
    crowded = begins.copy()
    for ahead in range(1, together):
        crowded[ahead:] |= begins[:-ahead]
    eights = np.where(crowded, bits, 0).view(np.uint8)
    some = np.flatnonzero(eights != 0)
    there = np.flatnonzero(np.unpackbits(eights[some], bitorder="little").view(bool))
    places: Positions = (some[there >> 3] << 3) + (there & 7)
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


def _ibans(data: Bytes, offsets: NDArray[np.int32], digits: Positions, nearest: int) -> Positions:
    """Where IBANs begin: at the letters of a country, with enough digits behind them."""
    import numpy as np

    kinds, ahead = _kinds(), FEWEST_DIGITS - 1
    close = digits[ahead:] - digits[:-ahead] <= (LONGEST_IBAN - COUNTRY_AND_DIGIT) * nearest
    close[1:] &= np.diff(digits[:-ahead]) > 1  # the check digits are not in the middle of a number
    chosen = np.flatnonzero(close)
    first = digits[chosen]
    before = data[first - 1]
    second = first - 1 - kinds.separator[before]
    country = data[second - 1].astype(np.uint16) << 8 | data[second]
    last = chosen + kinds.iban_digits[country] - 1
    spans = digits[np.minimum(last, len(digits) - 1)] - first
    fitting = (last < len(digits)) & (spans <= (kinds.iban[country] - COUNTRY_AND_DIGIT) * nearest)
    starts, rows = second[fitting] - 1, _rows(offsets, first[fitting])
    begins = offsets[rows]
    alone = (starts == begins) | ((starts > begins) & ~kinds.alphanumeric[data[starts - 1]])
    places = zip(starts[alone].tolist(), offsets[rows[alone] + 1].tolist(), strict=True)
    longest = LONGEST_IBAN * nearest
    right = [start for start, end in places if _is_iban(data[start : min(end, start + longest)])]
    return np.concatenate([first[kinds.gap[before]], np.array(right, dtype=np.int64)])


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

    iban, iban_digits = np.zeros(2**16, dtype=np.int64), np.full(2**16, AT_ONCE, dtype=np.int64)
    for name, length in IBAN_LENGTHS.items():
        for one in (name[0], name[0].lower()):
            for two in (name[1], name[1].lower()):
                letters = ord(one) << 8 | ord(two)
                iban[letters], iban_digits[letters] = length, IBAN_DIGITS[name]
    alphanumeric = kind(string.ascii_letters + string.digits, wide=False)
    gap = np.zeros(256, dtype=bool)
    gap[[each.encode()[-1] for each in WIDE_GAPS]] = True
    return Kinds(kind(" ()./-"), kind("+("), alphanumeric, gap, iban, iban_digits)
