"""Ways to damage a file, each a function of its bytes and of chance."""

from __future__ import annotations

import random
import re
from collections.abc import Callable

Mutation = Callable[[bytes, random.Random], bytes]

HUGE = (b"1e400", b"-1e308", b"9" * 400, b"9223372036854775808", b"-0.0", b"NaN", b"Infinity", b"1_000")
TYPES = (b"null", b"true", b'"text"', b"[]", b"{}", b"[[1]]", b'{"a": 1}', b"0", b'""')
ODD = (
    b"\x00",
    b"\xff",
    b"\xed\xa0\x80",
    b"\\ud800",
    "\u2028".encode(),
    "\u202e".encode(),
    b"\x1b[31m",
    b"\t",
)
SCALAR = re.compile(rb'"(?:[^"\\\n]|\\.)*"|-?\d+(?:\.\d+)?|\btrue\b|\bfalse\b|\bnull\b')
PAIR = re.compile(rb'"(?:[^"\\\n]|\\.)*"\s*:\s*("(?:[^"\\\n]|\\.)*"|-?\d+(?:\.\d+)?)')
YAML_PAIR = re.compile(rb"^( *[\w-]+:).*$", re.MULTILINE)
NUMBER = re.compile(rb"-?\d+(?:\.\d+)?")
LONG = 1_000_000
DEEP = 30_000


def _flipped(data: bytes, chance: random.Random) -> bytes:
    changed = bytearray(data)
    for _ in range(chance.choice((1, 1, 3, 20))):
        if changed:
            changed[chance.randrange(len(changed))] ^= 1 << chance.randrange(8)
    return bytes(changed)


def _cut(data: bytes, chance: random.Random) -> bytes:
    start, end = sorted(chance.randrange(len(data) + 1) for _ in range(2))
    return chance.choice((data[:start], data[start:], data[:start] + data[end:]))


def _lines(data: bytes, chance: random.Random) -> bytes:
    """One line doubled, swapped with another, or left out."""
    lines = data.splitlines(keepends=True)
    if not lines:
        return data
    one, other = (chance.randrange(len(lines)) for _ in range(2))
    what = chance.choice(("double", "swap", "drop"))
    if what == "double":
        lines.insert(other, lines[one])
    elif what == "swap":
        lines[one], lines[other] = lines[other], lines[one]
    else:
        del lines[one]
    return b"".join(lines)


def _replaced(pattern: re.Pattern[bytes], values: tuple[bytes, ...]) -> Mutation:
    """One thing of a kind becomes something else."""

    def mutate(data: bytes, chance: random.Random) -> bytes:
        places = [place.span() for place in pattern.finditer(data)] or [(0, 0)]
        start, end = chance.choice(places)
        return data[:start] + chance.choice(values) + data[end:]

    return mutate


def _doubled_key(data: bytes, chance: random.Random) -> bytes:
    """A key a second time in the same object, with another value; a line twice where there is no key."""
    if pairs := list(PAIR.finditer(data)):
        pair = chance.choice(pairs)
        key = pair[0][: pair.start(1) - pair.start()]
        other = b'"another"' if pair[1].startswith(b'"') else b"0"
        return data[: pair.start()] + key + other + b", " + data[pair.start() :]
    if keys := list(YAML_PAIR.finditer(data)):
        line = chance.choice(keys)
        return data[: line.end()] + b"\n" + line[1] + b" 0" + data[line.end() :]
    return _lines(data, chance)


def _deep(data: bytes, chance: random.Random) -> bytes:
    """Brackets within brackets, in place of a value or at the end."""
    opening, closing = chance.choice(((b"[", b"]"), (b'{"a":', b"}")))
    nested = opening * DEEP + b"1" + closing * DEEP
    return _replaced(SCALAR, (nested,))(data, chance) if chance.random() < 0.7 else data + nested


def _inserted(values: tuple[bytes, ...]) -> Mutation:
    def mutate(data: bytes, chance: random.Random) -> bytes:
        place = chance.randrange(len(data) + 1)
        return data[:place] + chance.choice(values) + data[place:]

    return mutate


def _long(data: bytes, chance: random.Random) -> bytes:
    """A line of a million characters: a text, a number, blanks, or words."""
    filling = chance.choice((b"a", b"7", b" ", b"word "))
    return _inserted((filling * (LONG // len(filling)),))(data, chance)


def _empty(data: bytes, chance: random.Random) -> bytes:
    return chance.choice((b"", b"\n", b" ", b"{}", b"[]", b"null", b"---\n---\n"))


DAMAGE: dict[str, Mutation] = {
    "bytes flipped": _flipped,
    "cut": _cut,
    "lines doubled, swapped, dropped": _lines,
    "another type": _replaced(SCALAR, TYPES),
    "huge numbers": _replaced(NUMBER, HUGE),
    "deep nesting": _deep,
    "NUL, surrogates, controls": _inserted(ODD),
    "a key twice": _doubled_key,
    "empty": _empty,
    "1 MB line": _long,
}
"""What may change what a file says."""

HARMLESS: dict[str, Mutation] = {
    "BOM": lambda data, _: b"\xef\xbb\xbf" + data,
    "CRLF": lambda data, _: data.replace(b"\r\n", b"\n").replace(b"\n", b"\r\n"),
    "CR": lambda data, _: data.replace(b"\r\n", b"\n").replace(b"\n", b"\r"),
    "last line end": lambda data, _: data.rstrip(b"\n") if data.endswith(b"\n") else data + b"\n",
}
"""What is refused, or leaves every number as it was."""
