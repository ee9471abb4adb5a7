"""The files of a drop folder: any place that fsspec knows, plain or compressed, in bounded pieces."""

from __future__ import annotations

import hashlib
import io
import time
import zlib
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import IO, TYPE_CHECKING, Any, NamedTuple

from eval_pipeline.monitoring.ledger import HASH_LENGTH
from eval_pipeline.problems import bad_value

if TYPE_CHECKING:
    from fsspec import AbstractFileSystem

PIECE = 16 * 2**20
"""Bytes of a file that are in memory at once, for each thread."""
HASHED = 2**18
"""Bytes that are hashed at a time: they stay near the processor until their lines are counted."""
LONGEST_LINE, LONGEST_EXPORT = 8 * 2**20, 64 * 2**20
"""Bytes of an event, and of what a Collector exports at once: thousands of spans with their texts."""
GZIP, ZSTD = b"\x1f\x8b", b"\x28\xb5\x2f\xfd"
_CHANGED = ("mtime", "LastModified", "last_modified", "updated", "created")
"""What file systems call the moment of the last change."""
BYTE_ORDER_MARK = b"\xef\xbb\xbf"


class Source(NamedTuple):
    """A file of a drop folder, as it was when the folder was listed."""

    files: AbstractFileSystem
    path: str
    name: str
    """Below the drop folder."""
    size: int
    stamp: str
    """What changes when the file does."""
    age: float | None
    """Seconds since it changed; None where nobody knows."""

    def open(self) -> IO[bytes]:
        """The bytes as they lie there."""
        opened: IO[bytes] = self.files.open(self.path, "rb")
        return opened

    def has_changed(self) -> bool:
        """Whether it is another one now or gone, whatever was remembered of it when the folder was listed."""
        self.files.invalidate_cache(self.path)
        try:
            now = self.files.info(self.path)
        except FileNotFoundError:
            return True
        return _source(self.files, "", self.path, now).stamp != self.stamp

    def content(self) -> Content:
        """What identifies it, from reading it once.

        The hash keeps files apart that differ by chance. Whoever could make two that collide may write into
        the folder, and could leave their events out as well.
        """
        import numpy as np
        from xxhash import xxh3_128

        hashed, lines, buffer, last = xxh3_128(), 0, np.empty(HASHED, np.uint8), ord("\n")
        without_end, longest = 0, 0
        with self.open() as file:
            while count := file.readinto(buffer.data):  # type: ignore[attr-defined]
                read = buffer[:count]
                hashed.update(read.data)
                ends = int(np.count_nonzero(read == ord("\n")))
                lines, last = lines + ends, int(read[-1])
                without_end = 0 if ends else without_end + count
                longest = max(longest, without_end)
        may_be_endless = longest > LONGEST_LINE - 2 * HASHED
        return Content(hashed.hexdigest(), lines + (last != ord("\n")), may_be_endless)

    def former_digest(self) -> str:
        """What identified it before XXH3 did: what a ledger knows by that is not taken again."""
        with self.open() as file:
            return hashlib.file_digest(file, "sha256").hexdigest()[:HASH_LENGTH]  # type: ignore[arg-type]

    @property
    def local(self) -> str | None:
        """Its path where it is a file of this machine, else None."""
        from fsspec.implementations.local import LocalFileSystem

        return self.path if isinstance(self.files, LocalFileSystem) else None


class Content(NamedTuple):
    """What a file holds, in short."""

    digest: str
    """The hash of its bytes."""
    lines: int
    may_be_endless: bool = False
    """Whether a line may be longer than any event."""


class Lines(NamedTuple):
    """Some whole lines of a file, and the number of the first one."""

    first: int
    data: bytes
    too_long: bool = False
    """It is the beginning of one line that is longer than any event."""


def list_sources(folder: str) -> list[Source]:
    """The files in a drop folder and below, by name; none where there is no such folder.

    What is no file, such as a pipe, a socket, or a link that leads nowhere, is left alone.
    """
    import fsspec

    try:
        files, root = fsspec.core.url_to_fs(folder)
        details = files.find(root, detail=True)
    except (ImportError, ValueError) as error:
        remedy = "Write a folder, or a URL whose package for fsspec is installed, such as s3:// with s3fs."
        raise bad_value("drop", f"cannot be opened: {error}", remedy) from None
    except FileNotFoundError:
        return []
    sources = []
    for path, about in sorted(details.items()):
        with suppress(OSError):
            followed = files.info(path) if about.get("islink") else about
            if followed.get("type", "file") == "file":
                sources.append(_source(files, root, path, followed))
    return [each for each in sources if not each.name.rpartition("/")[2].startswith((".", "_"))]


def _source(files: AbstractFileSystem, root: str, path: str, about: dict[str, Any]) -> Source:
    size = int(about.get("size") or 0)
    changed: Any = next((about[name] for name in _CHANGED if about.get(name) is not None), None)
    moment = changed.timestamp() if hasattr(changed, "timestamp") else changed
    stamp = f"{size}:{about.get('ETag') or about.get('etag') or moment}"
    age = None if moment is None else max(time.time() - float(moment), 0.0)
    name = (
        path.removeprefix(root).lstrip("/").encode(errors="surrogateescape").decode(errors="backslashreplace")
    )
    return Source(files, path, name, size, stamp, age)


@contextmanager
def unpacked(file: IO[bytes]) -> Iterator[IO[bytes]]:
    """A stream without its compression, which its first bytes tell."""
    import pyarrow as pa

    head = file.read(4)
    file.seek(0)
    if head.startswith(GZIP):
        yield io.BufferedReader(_Gzip(file), 2**20)
    elif head.startswith(ZSTD):
        with pa.CompressedInputStream(pa.PythonFile(file, "r"), "zstd") as stream:
            yield io.BufferedReader(stream, 2**20)
    else:
        yield file


class Damaged(Exception):
    """A compressed file whose bytes cannot be unpacked to the end."""


class _Gzip(io.RawIOBase):
    """Gzip members one after another, as rotating writers append them; what is cut off is damage."""

    def __init__(self, file: IO[bytes]) -> None:
        self._file = file
        self._unpacker = zlib.decompressobj(wbits=31)
        self._packed = b""

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        """Fill a buffer, as far as there is something."""
        while True:
            self._packed = self._packed or self._file.read(2**20)
            if not self._packed:
                if not self._unpacker.eof:
                    raise Damaged("the compressed data end in the middle")
                return 0
            if self._unpacker.eof:
                self._packed = self._packed.lstrip(b"\0")  # with zeros a file was filled up
                if not self._packed:
                    continue
                self._unpacker = zlib.decompressobj(wbits=31)
            try:
                data = self._unpacker.decompress(self._packed, len(buffer))
            except zlib.error as error:
                raise Damaged(str(error)) from None
            self._packed = self._unpacker.unconsumed_tail or self._unpacker.unused_data
            if data:
                buffer[: len(data)] = data
                return len(data)


def pieces(stream: IO[bytes], longest: int = LONGEST_LINE) -> Iterator[Lines]:
    """The lines of a stream, many at a time. The pieces depend on its content alone."""
    first = 1
    while data := stream.read(PIECE):
        end = b"" if data.endswith(b"\n") else stream.readline(longest)
        if first == 1:
            data = data.removeprefix(BYTE_ORDER_MARK)
        whole = data + end if end else data
        goes_on = len(end) == longest and not end.endswith(b"\n")
        if goes_on:
            _skip_line(stream)
        yield from _bounded(Lines(first, whole), longest)
        first += whole.count(b"\n") + goes_on


def _bounded(lines: Lines, longest: int) -> Iterator[Lines]:
    """The same, with each line that is too long apart; of such a one only the beginning is kept."""
    first, data, _ = lines
    done = 0
    for place in range(longest, len(data), longest):  # in one of these places every such line has a byte
        begin, end = data.rfind(b"\n", 0, place) + 1, data.find(b"\n", place)
        end = end if end >= 0 else len(data)
        if begin >= done and end - begin > longest:
            if begin > done:
                yield Lines(first, data[done:begin])
                first += data.count(b"\n", done, begin)
            yield Lines(first, data[begin : begin + longest], too_long=True)
            first += 1
            done = end + 1
    if done < len(data) or not data:
        yield Lines(first, data[done:] if done else data)


def _skip_line(stream: IO[bytes]) -> None:
    while (data := stream.readline(2**20)) and not data.endswith(b"\n"):
        pass
