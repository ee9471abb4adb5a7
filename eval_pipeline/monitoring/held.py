"""Bytes that are held in memory, as files that DuckDB can read.

fsspec's own file system for memory copies them several times on the way.
"""

from __future__ import annotations

import datetime
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from fsspec import AbstractFileSystem

PROTOCOL = "held"


class HeldFile:
    """Bytes that are read from beginning to end, or from anywhere."""

    def __init__(self, data: bytes) -> None:
        self._data = memoryview(data)
        self._place = 0

    def read(self, size: int = -1) -> bytes:
        """The next bytes."""
        end = len(self._data) if size < 0 else self._place + size
        read = self._data[self._place : end].tobytes()
        self._place += len(read)
        return read

    def seek(self, place: int, whence: int = 0) -> int:
        """Go on elsewhere."""
        self._place = place + (0, self._place, len(self._data))[whence]
        return self._place

    def tell(self) -> int:
        """Where reading goes on."""
        return self._place

    def close(self) -> None:
        """Let go of the bytes."""
        self._data.release()


class HeldFiles(AbstractFileSystem):  # type: ignore[misc]
    """Files as long as somebody holds them."""

    protocol = PROTOCOL

    def __init__(self) -> None:
        super().__init__(skip_instance_cache=True)
        self._held: dict[str, bytes] = {}

    @contextmanager
    def holding(self, data: bytes) -> Iterator[str]:
        """The URL of some bytes; it is gone at the end of the block."""
        name = uuid.uuid4().hex
        self._held[name] = data
        try:
            yield f"{PROTOCOL}://{name}"
        finally:
            del self._held[name]

    def open(self, path: str, mode: str = "rb", **options: Any) -> HeldFile:
        """One of them."""
        return HeldFile(self._held[self._strip_protocol(path)])

    def glob(self, path: str, **options: Any) -> list[str]:
        """The path itself: names have no patterns."""
        return [path]

    def exists(self, path: str, **options: Any) -> bool:
        """Whether somebody holds it."""
        return self._strip_protocol(path) in self._held

    def size(self, path: str) -> int:
        """How many bytes it has."""
        return len(self._held[self._strip_protocol(path)])

    def modified(self, path: str) -> datetime.datetime:
        """Never."""
        return datetime.datetime.fromtimestamp(0, datetime.UTC)


HELD = HeldFiles()
