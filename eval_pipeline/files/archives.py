"""Zip archives of others: entries are read one by one, within limits; nothing is ever extracted."""

from __future__ import annotations

import io
import struct
import zipfile
import zlib
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path, PurePosixPath
from typing import Any, NamedTuple

from eval_pipeline.numbers import counted
from eval_pipeline.problems import Problems

LARGEST_ARCHIVE = 4 * 2**30
LARGEST_DIRECTORY = 32 * 2**20
"""What names the entries of an archive; it is read at once."""
LARGEST_ENTRY = 128 * 2**20
LARGEST_CONTENT = 16 * 2**30
"""All entries together, unpacked."""
MOST_ENTRIES = 250_000
LARGEST_RATIO = 250
"""No entry may unpack to more than so many times its packed size, unless that is little."""
LITTLE = 2**20

ZSTANDARD = 93
METHODS = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED, ZSTANDARD)
ENCRYPTED = 1
LOCAL_HEADER = struct.Struct("<4s22xHH")
"""What stands before the bytes of an entry: a signature, and how long its name and extra field are."""
BROKEN = (zipfile.BadZipFile, zlib.error, EOFError, OSError, ValueError, struct.error, NotImplementedError)
NOT_WHOLE = "The file may be cut off or damaged; copy or make it anew."


class Entry(NamedTuple):
    """An entry of an archive, unpacked."""

    name: str
    data: bytes


class TooLarge(ValueError):
    """More than a limit allows."""


class _InPieces(io.BufferedReader):
    """A file that is never read in larger pieces than the largest directory of an archive."""

    def read(self, size: int | None = -1) -> bytes:
        """The next bytes."""
        if size is not None and size > LARGEST_DIRECTORY:
            raise TooLarge(f"its directory has {size:,} bytes; the limit is {LARGEST_DIRECTORY:,}")
        return super().read(size)


def archive_entries(path: Path, wanted: Callable[[str], bool], problems: Problems) -> Iterator[Entry]:
    """The entries whose names are wanted, in the order of the archive; what cannot be read is a problem."""
    with _InPieces(io.FileIO(path)) as file:
        size = file.seek(0, io.SEEK_END)
        if size > LARGEST_ARCHIVE:
            problems.add(path, f"the file has {size:,} bytes; the limit is {LARGEST_ARCHIVE:,}", "Split it.")
            return
        try:
            archive = zipfile.ZipFile(file)
        except BROKEN as error:
            problems.add(path, f"is no archive that can be read: {_reason(error)}", NOT_WHOLE)
            return
        entries = archive.infolist()
        if wrong := list(_objections(entries)):
            for message in wrong:
                problems.add(path, message, "Nothing of it is read.")
            return
        for entry in entries:
            if wanted(entry.filename):
                try:
                    yield Entry(entry.filename, _unpacked(archive, file, entry))
                except BROKEN as error:
                    message = f"cannot be unpacked: {_reason(error)}"
                    problems.add(path, message, NOT_WHOLE, field=repr(entry.filename))


def _objections(entries: Iterable[zipfile.ZipInfo]) -> Iterator[str]:
    """What speaks against an archive, by its directory alone."""
    seen: set[str] = set()
    content = 0
    for number, entry in enumerate(entries, 1):
        name = entry.filename
        if number > MOST_ENTRIES:
            yield f"has more than {counted(MOST_ENTRIES, 'entry', 'entries')}"
            return
        if name in seen:
            yield f"{name!r} is there twice"
        if PurePosixPath(name).is_absolute() or ".." in PurePosixPath(name).parts or "\\" in name:
            yield f"{name!r} would lie outside the archive"
        if entry.flag_bits & ENCRYPTED:
            yield f"{name!r} is encrypted"
        if entry.compress_type not in METHODS:
            yield f"{name!r} is packed by method {entry.compress_type}, which is not known"
        if entry.file_size > LARGEST_ENTRY:
            yield f"{name!r} has {entry.file_size:,} bytes; the limit is {LARGEST_ENTRY:,}"
        if entry.file_size > max(LITTLE, LARGEST_RATIO * entry.compress_size):
            yield f"{name!r} would grow to more than {LARGEST_RATIO} times its size"
        seen.add(name)
        content += entry.file_size
    if content > LARGEST_CONTENT:
        yield f"holds {content:,} bytes; the limit is {LARGEST_CONTENT:,}"


def _unpacked(archive: zipfile.ZipFile, file: io.BufferedReader, entry: zipfile.ZipInfo) -> bytes:
    """The bytes of an entry, which must be as many as it says, with the checksum that it says."""
    if entry.compress_type != ZSTANDARD:
        with archive.open(entry) as stream:
            data = stream.read(entry.file_size + 1)
    else:
        data = _from_zstandard(file, entry)
    if len(data) != entry.file_size:
        raise ValueError("it has not the size that it says")
    if zlib.crc32(data) != entry.CRC:
        raise ValueError("its checksum is wrong")
    return data


def _from_zstandard(file: io.BufferedReader, entry: zipfile.ZipInfo) -> bytes:
    """What Python's own module reads only from 3.14 on."""
    import pyarrow as pa

    file.seek(entry.header_offset)
    signature, name, extra = LOCAL_HEADER.unpack(file.read(LOCAL_HEADER.size))
    if signature != zipfile.stringFileHeader:  # type: ignore[attr-defined]
        raise ValueError("it is not where the directory says")
    file.seek(name + extra, io.SEEK_CUR)
    packed = b"".join(_pieces(file, entry.compress_size))
    with pa.CompressedInputStream(pa.BufferReader(packed), "zstd") as stream:
        data: bytes = stream.read(entry.file_size + 1)
    return data


def _pieces(file: io.BufferedReader, size: int) -> Iterator[bytes]:
    """The next bytes of a file, as many as there are up to a size."""
    while size and (piece := file.read(min(size, LARGEST_DIRECTORY))):
        size -= len(piece)
        yield piece


def _reason(error: Exception) -> Any:
    return getattr(error, "strerror", None) or str(error) or type(error).__name__
