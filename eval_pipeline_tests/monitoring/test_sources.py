"""Files in pieces: every line once, under its number, wherever pieces end, and none that is too long."""

from __future__ import annotations

import io
from unittest.mock import patch

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from eval_pipeline.monitoring import sources
from eval_pipeline.monitoring.sources import BYTE_ORDER_MARK, pieces


@settings(max_examples=300)
@given(
    lengths=st.lists(st.integers(0, 40), max_size=20),
    longest=st.integers(1, 30),
    size=st.integers(4, 30),
    ended=st.booleans(),
    mark=st.sampled_from([b"", BYTE_ORDER_MARK]),
)
def test_lines_are_those_of_a_plain_reading(
    lengths: list[int], longest: int, size: int, ended: bool, mark: bytes
) -> None:
    lines = [(b"%02d" % number * 20)[:length] for number, length in enumerate(lengths)]
    stream = io.BytesIO(mark + b"\n".join(lines) + (b"\n" if ended else b""))
    read, too_long = [], []
    with patch.object(sources, "PIECE", size):
        for piece in pieces(stream, longest):
            if piece.too_long:
                too_long.append((piece.first, piece.data))
            else:
                read += [each for each in enumerate(piece.data.split(b"\n"), piece.first) if each[1]]
    assert read == [(number, line) for number, line in enumerate(lines, 1) if 0 < len(line) <= longest]
    assert too_long == [
        (number, line[:longest]) for number, line in enumerate(lines, 1) if len(line) > longest
    ]


@pytest.mark.parametrize("before", [0, 1, 2**10])
def test_whether_a_line_is_too_long_depends_on_nothing_before_it(before: int) -> None:
    fitting, endless = b"x" * 3000, b"y" * 3001
    with patch.object(sources, "PIECE", 2**11):
        read = list(pieces(io.BytesIO(b"a\n" * before + fitting + b"\n" + endless + b"\nz\n"), 3000))
    assert [(each.first, each.data) for each in read if each.too_long] == [(before + 2, endless[:3000])]
    whole = b"".join(each.data for each in read if not each.too_long)
    assert whole == b"a\n" * before + fitting + b"\nz\n"
