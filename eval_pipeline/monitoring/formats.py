"""The formats of events, told apart by content."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from typing import IO

from eval_pipeline.monitoring import flat
from eval_pipeline.monitoring.batches import Batch, Context
from eval_pipeline.monitoring.sources import Damaged, Lines, Source, pieces, unpacked

Piece = Callable[[Context], Iterable[Batch]]
"""A piece of a file, which somebody reads."""
Reader = Callable[[Lines, Context], Iterable[Batch]]

FORMATS: Mapping[str, Reader] = {"flat": flat.read_lines}
UNREADABLE = "unreadable"
HEAD = 2**18
"""Bytes from the beginning of a file that tell its format."""
PARQUET = b"PAR1"


class Unreadable(Exception):
    """Why nothing of a file can be read."""


@contextmanager
def open_pieces(source: Source) -> Iterator[tuple[str, Iterator[Piece]]]:
    """The format of a file, and its pieces."""
    with source.open() as file, unpacked(file) as stream:
        try:
            format_ = recognised(stream.read(HEAD))
        except Damaged as error:
            raise Unreadable(f"cannot be unpacked: {error}") from None
    with source.open() as file, unpacked(file) as stream:
        yield format_, _pieces(stream, FORMATS[format_])


def _pieces(stream: IO[bytes], reader: Reader) -> Iterator[Piece]:
    try:
        for lines in pieces(stream):
            yield lambda context, lines=lines: reader(lines, context)  # type: ignore[misc]
    except Damaged as error:
        raise Unreadable(f"cannot be unpacked: {error}") from None


def recognised(head: bytes) -> str:
    """The format that the beginning of a file shows."""
    return "flat"
