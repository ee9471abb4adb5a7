"""Archives of others: read entry by entry, and refused where they would do harm or do not hold together."""

from __future__ import annotations

import struct
import zipfile
import zlib
from pathlib import Path

import pyarrow as pa
import pytest

from eval_pipeline.files import archive_entries, archives
from eval_pipeline.problems import Problems

TEXT = b'{"a": 1}' * 50


def read(path: Path) -> tuple[dict[str, bytes], list[str]]:
    """All entries of an archive, and what is wrong with it."""
    problems = Problems()
    entries = {entry.name: entry.data for entry in archive_entries(path, lambda _: True, problems)}
    return entries, list(map(str, problems))


def zipped(path: Path, *entries: tuple[str, bytes], method: int = zipfile.ZIP_DEFLATED) -> Path:
    with zipfile.ZipFile(path, "w", method) as archive:
        for name, data in entries:
            archive.writestr(name, data)
    return path


def in_zstandard(path: Path, name: str, data: bytes) -> Path:
    """An archive with an entry packed by Zstandard, which Python's module does not write everywhere."""
    stored = zipped(
        path, (name, pa.Codec("zstd").compress(data, asbytes=True)), method=zipfile.ZIP_STORED
    ).read_bytes()
    size, crc = len(data), zlib.crc32(data)
    local, central = stored.index(b"PK\x03\x04"), stored.index(b"PK\x01\x02")
    changed = bytearray(stored)
    for place, at in ((local, 8), (central, 10)):
        struct.pack_into("<H", changed, place + at, archives.ZSTANDARD)
        struct.pack_into("<I", changed, place + at + 6, crc)
        struct.pack_into("<I", changed, place + at + 14, size)
    path.write_bytes(changed)
    return path


def test_entries_come_in_order_and_only_those_wanted(tmp_path: Path) -> None:
    path = zipped(tmp_path / "a.zip", ("b", b"2"), ("a", TEXT), ("c", b""))
    assert list(read(path)[0]) == ["b", "a", "c"]
    problems = Problems()
    assert list(archive_entries(path, lambda name: name == "a", problems)) == [("a", TEXT)]
    assert not problems


@pytest.mark.parametrize("method", [zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED])
def test_stored_and_deflated_entries_are_read(tmp_path: Path, method: int) -> None:
    assert read(zipped(tmp_path / "a.zip", ("a", TEXT), method=method)) == ({"a": TEXT}, [])


def test_zstandard_is_read_and_checked(tmp_path: Path) -> None:
    path = in_zstandard(tmp_path / "a.zip", "a", TEXT)
    assert read(path) == ({"a": TEXT}, [])
    data = bytearray(path.read_bytes())
    struct.pack_into("<I", data, data.index(b"PK\x01\x02") + 16, 1)
    path.write_bytes(data)
    entries, (problem,) = read(path)
    assert not entries
    assert "'a': cannot be unpacked: its checksum is wrong" in problem


def test_an_entry_that_says_too_little_of_its_size_is_refused(tmp_path: Path) -> None:
    path = in_zstandard(tmp_path / "a.zip", "a", TEXT)
    data = bytearray(path.read_bytes())
    struct.pack_into("<I", data, data.index(b"PK\x01\x02") + 24, 10)
    path.write_bytes(data)
    assert "it has not the size that it says" in read(path)[1][0]


def test_a_bomb_is_refused_by_its_directory(tmp_path: Path) -> None:
    entries, problems = read(zipped(tmp_path / "a.zip", ("a", bytes(2**21)), ("b", b"fine")))
    assert not entries
    assert problems == [
        f"{tmp_path / 'a.zip'}: 'a' would grow to more than 250 times its size. Nothing of it is read."
    ]


@pytest.mark.parametrize(
    ("limit", "value", "message"),
    [
        ("LARGEST_ENTRY", 300, "'a' has 400 bytes; the limit is 300"),
        ("LARGEST_CONTENT", 500, "holds 800 bytes; the limit is 500"),
        ("MOST_ENTRIES", 1, "has more than 1 entry"),
        ("LARGEST_ARCHIVE", 100, "bytes; the limit is 100"),
        ("LARGEST_DIRECTORY", 60, "its directory has"),
    ],
)
def test_limits(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, limit: str, value: int, message: str
) -> None:
    path = zipped(tmp_path / "a.zip", ("a", TEXT), ("b", TEXT))
    monkeypatch.setattr(archives, limit, value)
    entries, problems = read(path)
    assert not entries
    assert message in problems[0]


@pytest.mark.parametrize("name", ["/etc/passwd", "../up", "a/../../up", "c:\\windows"])
def test_names_that_lead_outside_are_refused(tmp_path: Path, name: str) -> None:
    entries, problems = read(zipped(tmp_path / "a.zip", (name, TEXT)))
    assert not entries
    assert "would lie outside the archive" in problems[0]


def test_an_entry_twice_is_refused(tmp_path: Path) -> None:
    with pytest.warns(UserWarning, match="Duplicate name"):
        path = zipped(tmp_path / "a.zip", ("a", b"1"), ("a", b"2"))
    assert read(path) == ({}, [f"{path}: 'a' is there twice. Nothing of it is read."])


def test_encrypted_and_odd_entries_are_refused(tmp_path: Path) -> None:
    path = zipped(tmp_path / "a.zip", ("a", b"1"))
    data = bytearray(path.read_bytes())
    data[data.index(b"PK\x01\x02") + 8] |= 1
    path.write_bytes(data)
    assert "'a' is encrypted" in read(path)[1][0]
    odd = zipped(tmp_path / "b.zip", ("a", TEXT), method=zipfile.ZIP_LZMA)
    assert "'a' is packed by method 14" in read(odd)[1][0]


def test_every_cut_is_a_problem_and_no_crash(tmp_path: Path) -> None:
    whole = zipped(tmp_path / "a.zip", ("a", TEXT), ("b", TEXT)).read_bytes()
    for end in range(0, len(whole), 7):
        path = tmp_path / "cut.zip"
        path.write_bytes(whole[:end])
        assert read(path)[1], end
