"""Files that are written whole or not at all."""

from __future__ import annotations

import stat
from pathlib import Path

import pytest

from eval_pipeline.files import replacing, write_json, write_text


def test_replacing_puts_the_new_file_in_place(tmp_path: Path) -> None:
    path = tmp_path / "new" / "folder" / "file.txt"
    with replacing(path) as temporary:
        assert temporary.parent == path.parent
        temporary.write_text("new")
        assert not path.exists()
    assert path.read_text() == "new"
    assert list(path.parent.iterdir()) == [path]
    assert stat.S_IMODE(path.stat().st_mode) == 0o644


def test_the_old_file_is_whole_until_it_is_replaced(tmp_path: Path) -> None:
    path = tmp_path / "file.txt"
    path.write_text("old")
    with path.open() as reader:
        with replacing(path) as temporary:
            temporary.write_text("new")
            assert path.read_text() == "old"
        assert reader.read() == "old"  # it was another file that took its name
    assert path.read_text() == "new"


def replace_and_fail(path: Path, failure: BaseException) -> None:
    with replacing(path) as temporary:
        temporary.write_text("partial")
        raise failure


@pytest.mark.parametrize("before", ["old", None])
@pytest.mark.parametrize("failure", [ValueError("broken"), KeyboardInterrupt()])
def test_a_block_that_raises_leaves_everything_as_it_was(
    tmp_path: Path, before: str | None, failure: BaseException
) -> None:
    path = tmp_path / "file.txt"
    if before is not None:
        path.write_text(before)
    with pytest.raises(type(failure)):
        replace_and_fail(path, failure)
    assert [file.read_text() for file in tmp_path.iterdir()] == ([] if before is None else [before])


def test_write_text_keeps_the_old_file_when_the_text_cannot_be_encoded(tmp_path: Path) -> None:
    path = tmp_path / "file.txt"
    write_text(path, "ünï\n")
    with pytest.raises(UnicodeEncodeError):
        write_text(path, "\ud800")
    assert path.read_bytes() == "ünï\n".encode()
    assert list(tmp_path.iterdir()) == [path]


def test_write_json_is_indented_and_ends_with_one_newline(tmp_path: Path) -> None:
    write_json(tmp_path / "file.json", {"b": [1], "a": "é"})
    assert (tmp_path / "file.json").read_text("utf-8") == '{\n  "b": [\n    1\n  ],\n  "a": "é"\n}\n'
