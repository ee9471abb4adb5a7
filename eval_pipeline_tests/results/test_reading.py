"""Files are told apart by what they hold, and every damaged one is a problem and no crash."""

from __future__ import annotations

import gzip
import json
import os
import shutil
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from eval_pipeline.problems import Problems
from eval_pipeline.results import read_results, reading
from eval_pipeline_tests.results.files_of_results import FIXTURES, problems_of, results

KINDS = {"promptfoo": "promptfoo", "inspect": "Inspect", "lm_eval": "lm-eval"}
FILES = sorted(each for each in FIXTURES.iterdir() if each.suffix != ".md")


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.name)
def test_names_do_not_matter(tmp_path: Path, file: Path) -> None:
    path = tmp_path / "results.csv"
    shutil.copy(file, path)
    kind = next(kind for name, kind in KINDS.items() if file.name.startswith(name))
    assert {each.kind for each in results(path)} == {kind}


@pytest.mark.parametrize("indent", [None, 2])
def test_documents_on_one_line_or_many(tmp_path: Path, indent: int | None) -> None:
    for name in ("promptfoo_first.json", "inspect_scorers.json"):
        path = tmp_path / name
        path.write_text("\n\n" + json.dumps(json.loads((FIXTURES / name).read_text()), indent=indent))
        (read,) = results(path)
        (whole,) = results(FIXTURES / name)
        assert read.rows == whole.rows


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b'{\n"version": 1}', "is JSON of another kind"),
        (b'{"results": {}}', "results: cannot be understood"),
        (b'{"results": 3}', "cannot be understood: Expected `object`, got `int`"),
        (b"[" * 100_000, "cannot be understood: nested too deeply"),
        (b'{"id": 1, "a": ' + b"[" * 100_000, "cannot be understood: nested too deeply"),
        (gzip.compress(b"{}", mtime=0), "is compressed. Unpack it first"),
        (b"\0\0\0", "the table has no rows"),
    ],
)
def test_other_files_are_named(tmp_path: Path, content: bytes, message: str) -> None:
    path = tmp_path / "a"
    path.write_bytes(content)
    assert any(message in each for each in problems_of(path)), problems_of(path)


def test_only_regular_files_of_bounded_size_are_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    os.mkfifo(tmp_path / "pipe")
    for path in (tmp_path, tmp_path / "pipe", tmp_path / "nothing", Path("/dev/zero")):
        assert "is not a regular file" in problems_of(path)[0]
    monkeypatch.setattr(reading, "LARGEST_DOCUMENT", 1000)
    assert "bytes; the limit is 1,000" in problems_of(FIXTURES / "promptfoo_first.json")[0]


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.name)
@settings(max_examples=25, deadline=None)
@given(data=st.data())
def test_damage_is_a_problem_or_still_readable(
    tmp_path_factory: pytest.TempPathFactory, file: Path, data: st.DataObject
) -> None:
    """A file that is cut is never taken for a whole one; flipped bytes never crash a reader."""
    whole = file.read_bytes()
    path = tmp_path_factory.mktemp("damaged") / "a"
    end = data.draw(st.integers(0, len(whole) - 2))
    path.write_bytes(whole[:end])
    problems = Problems()
    read_results(path, None, problems)
    cut_between_lines = whole[end - 1 : end] == b"\n" or whole[end : end + 1] == b"\n"
    assert problems or (cut_between_lines and file.suffix == ".jsonl")
    flipped = bytearray(whole)
    for place in data.draw(st.lists(st.integers(0, len(whole) - 1), min_size=1, max_size=4)):
        flipped[place] ^= data.draw(st.integers(1, 255))
    path.write_bytes(flipped)
    read_results(path, None, Problems())
