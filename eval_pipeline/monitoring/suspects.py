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

from eval_pipeline.monitoring.ibans import IBAN_LENGTHS, is_iban

if TYPE_CHECKING:
    import numpy as np
    import pyarrow as pa
    from numpy.typing import NDArray

    Bytes = NDArray[np.uint8]
    Positions = NDArray[np.int64]
    Flags = NDArray[np.bool_]

FEWEST_DIGITS = 7
"""No number that is masked has fewer."""
LONGEST_IBAN = 33
GROUPED_DIGITS = 10
"""So many a phone number has that begins like any other number; cards have more."""
AT_ONCE = 2**21
"""Bytes that are looked at together."""
PACKED = 2**18
"""Bytes that become bits at a time: what is worked out of them stays near the processor."""
FARTHEST, FARTHEST_WIDE = 7, 25
"""Bytes from a digit to the next with the six characters between them that masking allows: ASCII, or not."""
NARROW, WIDE = 4, 10
"""Bytes from a digit to the next with three separators between them, and with three outside of ASCII."""
NARROW_IBAN, WIDE_IBAN = 2, 4
"""The same for an IBAN, which has one separator between two characters at most."""
COUNTRY_AND_DIGIT = 3
"""Characters of an IBAN up to its first digit."""
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
    iban: NDArray[np.int64]
    """For two bytes together: how long an IBAN is that begins with these letters; 0 where none does."""


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
    data = np.frombuffer(texts.buffers()[2], np.uint8)
    for first, last in _slices(offsets):
        begin = offsets[first]
        _look(data[begin : offsets[last]], offsets[first : last + 1] - begin, flags[first:last])
    flags |= pc.match_substring_regex(texts, "@").fill_null(False).to_numpy(zero_copy_only=False)
    if data[offsets[0] : offsets[-1]].max() >= 0x80:
        rest = ~flags & ~pc.string_is_ascii(texts).fill_null(True).to_numpy(zero_copy_only=False)
        written = pc.match_substring_regex(texts.filter(pa.array(rest)), _OTHER_DIGIT_OR_SIGN)
        flags[rest] = written.fill_null(False).to_numpy(zero_copy_only=False)
    return flags


def _slices(offsets: NDArray[np.int32]) -> Iterator[tuple[int, int]]:
    """Rows from the first up to and without the last, of about `AT_ONCE` bytes each."""
    import numpy as np

    first, rows = 0, len(offsets) - 1
    while first < rows:
        last = int(np.searchsorted(offsets, int(offsets[first]) + AT_ONCE, side="right")) - 1
        last = min(max(last, first + 1), rows)
        yield first, last
        first = last


def _look(data: Bytes, offsets: NDArray[np.int32], flags: Flags) -> None:
    """Flag the rows of some bytes that are suspect; `offsets` are where they begin, and the end."""
    import numpy as np

    wide = bool(data.max() >= 0x80)
    number, iban = (WIDE, WIDE_IBAN) if wide else (NARROW, NARROW_IBAN)
    eights = np.concatenate(
        [
            np.packbits((data[start : start + PACKED] - np.uint8(ord("0"))) < 10)
            for start in range(0, len(data), PACKED)
        ]
    )
    digits = _stretches(eights, offsets, FARTHEST_WIDE if wide else FARTHEST)
    if len(digits):
        numbers = _numbers(data, offsets, digits, number)
        ibans = _ibans(data, offsets, _of_rows(eights, offsets, np.unique(_rows(offsets, digits))), iban)
        flags[_rows(offsets, np.concatenate([numbers, ibans]))] = True


def _stretches(eights: Bytes, offsets: NDArray[np.int32], apart: int) -> Positions:
    """Where digits stand of which seven or more follow each other in a row, each close to the next.

    Bytes are looked at by eights, a bit each: digits that are close to each other are in eights that are.
    """
    import numpy as np

    some = np.flatnonzero(eights != 0)
    digits = _places(eights, some[_in_long_runs(np.diff(some) > (apart + 7) // 8, eights[some])])
    between = (np.diff(digits) > apart) | (np.diff(_rows(offsets, digits)) > 0)
    return digits[_in_long_runs(between, np.ones(len(digits), dtype=np.uint8))]


def _in_long_runs(between: Flags, items: Bytes) -> Flags:
    """Which items are in a run that has seven bits or more; runs end where something is between two items."""
    import numpy as np

    if not len(items):
        return np.zeros(0, dtype=bool)
    starts = np.concatenate([[0], np.flatnonzero(between) + 1])
    counts = np.add.reduceat(np.bitwise_count(items), starts, dtype=np.int64)
    long: Flags = np.repeat(counts >= FEWEST_DIGITS, np.diff(starts, append=len(items)))
    return long


def _of_rows(eights: Bytes, offsets: NDArray[np.int32], rows: Positions) -> Positions:
    """Where digits stand in some rows; a few of their neighbours' may be among them."""
    import numpy as np

    within = np.zeros(len(eights), dtype=bool)
    for begin, end in zip((offsets[rows] // 8).tolist(), (offsets[rows + 1] // 8).tolist(), strict=True):
        within[begin : end + 1] = True
    return _places(eights, np.flatnonzero(within & (eights != 0)))


def _places(eights: Bytes, chosen: Positions) -> Positions:
    """Where the bits of some eights stand."""
    import numpy as np

    bits = np.flatnonzero(np.unpackbits(eights[chosen]).view(bool))
    places: Positions = (chosen[bits >> 3] << 3) + (bits & 7)
    return places


def _rows(offsets: NDArray[np.int32], positions: Positions) -> Positions:
    import numpy as np

    rows: Positions = np.searchsorted(offsets, positions, side="right") - 1
    return rows


def _numbers(data: Bytes, offsets: NDArray[np.int32], digits: Positions, nearest: int) -> Positions:
    """Digits that may be part of a phone or card number."""
    import numpy as np

    kinds = _kinds()
    gaps = np.diff(digits, append=digits[-1] + WIDE + 1)
    begins = np.searchsorted(digits, offsets[:-1])
    gaps[begins[begins > 0] - 1] = WIDE + 1  # no number goes on in another row
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

    kinds, spans = _kinds(), digits[FEWEST_DIGITS - 1 :] - digits[: 1 - FEWEST_DIGITS]
    first, next_ = digits[: len(spans)], digits[1 : len(spans) + 1]
    close = (spans <= (LONGEST_IBAN - COUNTRY_AND_DIGIT) * nearest) & (next_ - first <= nearest)
    first, spans = first[close], spans[close]
    before = data[first - 1]
    second = first - 1 - kinds.separator[before]
    lengths = kinds.iban[data[second - 1].astype(np.uint16) << 8 | data[second]]
    fitting = spans <= (lengths - COUNTRY_AND_DIGIT) * nearest
    starts, rows = second[fitting] - 1, _rows(offsets, first[fitting])
    begins = offsets[rows]
    alone = (starts == begins) | ((starts > begins) & ~kinds.alphanumeric[data[starts - 1]])
    places = zip(starts[alone].tolist(), offsets[rows[alone] + 1].tolist(), strict=True)
    longest = LONGEST_IBAN * nearest
    right = [start for start, end in places if _is_iban(data[start : min(end, start + longest)])]
    return np.concatenate([first[before >= 0x80], np.array(right, dtype=np.int64)])


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

    iban = np.zeros(2**16, dtype=np.int64)
    for name, length in IBAN_LENGTHS.items():
        for one in (name[0], name[0].lower()):
            for two in (name[1], name[1].lower()):
                iban[ord(one) << 8 | ord(two)] = length
    alphanumeric = kind(string.ascii_letters + string.digits, wide=False)
    return Kinds(kind(" ()./-"), kind("+("), alphanumeric, iban)
