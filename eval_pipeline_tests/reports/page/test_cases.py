"""The data of a page: every case in it, its texts whole, places as a browser counts them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from eval_pipeline.project import Project
from eval_pipeline.reports.page.cases import PART, _place
from eval_pipeline.suite.pointing import Pointer
from eval_pipeline_tests.browsing import nodes_of
from eval_pipeline_tests.running import invoke

MANY = 2 * PART + 7


@given(st.text(st.characters(exclude_categories=["Cs"]), min_size=1), st.data())
def test_places_are_those_of_utf_16(text: str, data: st.DataObject) -> None:
    end = data.draw(st.integers(1, len(text)))
    start = data.draw(st.integers(0, end - 1))
    place = _place(Pointer("w", "text", start, end), {"text": text})
    assert isinstance(place, dict)
    units = text.encode("utf-16-le")
    low, high = place["at"]
    assert units[2 * low : 2 * high].decode("utf-16-le") == text[start:end]


@pytest.mark.parametrize(
    "pointer", [Pointer("w", "text", 3, 99), Pointer("w", "other", 0, 1), Pointer("w", "text", 2, 2)]
)
def test_a_place_outside_of_the_text_is_looked_for_by_its_words(pointer: Pointer) -> None:
    assert _place(pointer, {"text": "short"}) == "w"


@pytest.fixture
def page(text_toy: Project) -> tuple[Project, Path]:
    """A page of many cases on outputs of another system: right, wrong, unreadable and missing ones."""
    golden, outputs = text_toy.root / "many.jsonl", text_toy.root / "outputs.jsonl"
    cases = [
        {"id": f"case-{n:04}", "input": {"text": f"Country {n} 🌊 </script>"}, "expected": f"City {n}"}
        for n in range(MANY)
    ]
    golden.write_text("".join(json.dumps(each) + "\n" for each in cases))
    answers = [
        {"case_id": f"case-{n:04}", "output": f"City {n}" if n % 3 else f"Town {n}"} for n in range(MANY - 1)
    ]
    outputs.write_text("".join(json.dumps(each) + "\n" for each in answers))
    file = text_toy.root / "page.html"
    done = invoke(text_toy, "score", "capitals", "--golden", golden, "--outputs", outputs, "--report", file)
    assert done.returncode == 0, done.stderr
    assert "Report: page.html" in done.stdout
    return text_toy, file


def test_nothing_is_left_out(page: tuple[Project, Path]) -> None:
    nodes = nodes_of(page[1].read_text())
    index = nodes["index"]
    parts = [nodes[f"part-{number}"] for number in range(3)]
    assert [len(each) for each in parts] == [PART, PART, 7]
    assert index["id"] == [f"case-{n:04}" for n in range(MANY)]
    for n, record in enumerate(each for part in parts for each in part):
        assert record["input"] == [["text", f"Country {n} 🌊 </script>"]]
        assert record["expected"] == [["", f"City {n}"]]
        (trial,) = record["sides"][0]["trials"]
        right = n % 3 and n < MANY - 1
        assert trial.get("text") == (None if n == MANY - 1 else f"City {n}" if n % 3 else f"Town {n}")
        assert trial.get("error") == ("missing" if n == MANY - 1 else None)
        assert index["failed"][n] == (0 if right else 1)
        assert index["shown"]["exact_match"][n] == ("100.0 %" if right else "0.0 %")
