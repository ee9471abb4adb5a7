"""The one door by which files of people come in: regular ones of bounded size, anything else by its name."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from pathlib import Path

import msgspec
import pytest

from eval_pipeline.files import (
    file_bytes,
    files_below,
    files_hash,
    read_json,
    read_json_lines,
    read_text,
    read_tsv,
    read_yaml,
    text_lines,
)
from eval_pipeline.problems import BadInput, Problems


class Row(msgspec.Struct):
    """Any record."""

    id: str


def loop(path: Path) -> None:
    path.symlink_to(path)


def nowhere(path: Path) -> None:
    path.symlink_to(path.with_name("nothing"))


def endless(path: Path) -> None:
    path.symlink_to("/dev/zero")


def hashed(path: Path, problems: Problems) -> None:
    try:
        files_hash([path])
    except BadInput as bad:
        problems.include(bad)


READERS: dict[str, Callable[[Path, Problems], object]] = {
    "text": read_text,
    "hash": hashed,
    "yaml": lambda path, problems: read_yaml(path, Row, problems),
    "json": lambda path, problems: list(read_json(path, Row, problems)),
    "lines": lambda path, problems: list(read_json_lines(path, Row, problems)),
    "tsv": lambda path, problems: list(read_tsv(path, Row, problems)),
}


@pytest.mark.parametrize("make", [loop, nowhere, endless, os.mkfifo, Path.mkdir])
@pytest.mark.parametrize("reader", READERS)
def test_only_regular_files_are_read(tmp_path: Path, make: Callable[[Path], None], reader: str) -> None:
    path = tmp_path / "input"
    make(path)
    problems = Problems()
    READERS[reader](path, problems)
    (problem,) = problems
    assert problem.file.endswith("input")
    assert problem.remedy


def test_a_file_that_cannot_be_read_is_raised(tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(b"abc")
    assert file_bytes(tmp_path / "a", 3) == b"abc"
    with pytest.raises(BadInput, match="the limit is 2"):
        file_bytes(tmp_path / "a", 2)


def test_a_folder_that_cannot_be_read_is_a_problem(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("b/c/1", "b/2", "a"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).touch()
    loop(tmp_path / "z")
    problems = Problems()
    assert files_below(tmp_path, problems) == [tmp_path / name for name in ("a", "b/2", "b/c/1", "z")]
    assert len(problems) == 0
    scan = os.scandir

    def forbidding(folder: str) -> Iterator[os.DirEntry[str]]:
        if folder.endswith("/c"):
            raise PermissionError(13, "Permission denied", folder)
        return scan(folder)

    monkeypatch.setattr(os, "scandir", forbidding)  # whoever is root may read everything
    assert files_below(tmp_path, problems) == [tmp_path / name for name in ("a", "b/2", "z")]
    assert [(Path(each.file).name, each.message) for each in problems] == [
        ("c", "cannot be read: Permission denied")
    ]


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_lines_end_in_three_ways(end: str) -> None:
    assert text_lines(end.join(["a", "", "b\u2028c", ""])) == ["a", "", "b\u2028c", ""]
