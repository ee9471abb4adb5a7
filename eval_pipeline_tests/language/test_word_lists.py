"""Named lists from text files beside the code."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from eval_pipeline.language.word_lists import line_lists, word_lists, word_sets

TEXT = """\
# Colours.

warm: red  orange
    golden-yellow
# Between lists, or within one.
    red
none:
of the sea: blue: and green
"""


@pytest.fixture
def package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "made_lists"
    (folder / "data").mkdir(parents=True)
    (folder / "__init__.py").touch()
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.delitem(sys.modules, folder.name, raising=False)
    return folder


def test_lists_by_name(package: Path) -> None:
    (package / "data/colours.txt").write_text(TEXT)
    assert word_lists(package.name, "data/colours.txt") == {
        "warm": ("red", "orange", "golden-yellow", "red"),
        "none": (),
        "of the sea": ("blue:", "and", "green"),
    }
    assert word_sets(package.name, "data/colours.txt")["warm"] == {"red", "orange", "golden-yellow"}
    assert line_lists(package.name, "data/colours.txt") == {
        "warm": ("red  orange", "golden-yellow", "red"),
        "none": (),
        "of the sea": ("blue: and green",),
    }


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("warm: red\norange\n", "line 2: is no new name"),
        ("warm: red\nwarm: orange\n", "line 2: is no new name"),
        ("# Colours.\n  red\n", "line 2: belongs to no list"),
    ],
)
def test_what_is_no_list(text: str, message: str, package: Path) -> None:
    (package / "data/bad.txt").write_text(text)
    with pytest.raises(ValueError, match=rf"data/bad\.txt, {message}"):
        line_lists(package.name, "data/bad.txt")
