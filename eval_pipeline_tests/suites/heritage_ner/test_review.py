"""What a reader of outputs that nobody foresaw would try on heritage_ner."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from eval_pipeline.problems import Problems
from eval_pipeline.suite import Case
from eval_pipeline.suites.heritage_ner import SUITE
from eval_pipeline.suites.heritage_ner.brat import BratCases
from eval_pipeline.suites.heritage_ner.cases import Entity, NerExpected, NerInput
from eval_pipeline_tests.sources import golden, values

TEXT = "Het Museum 😀 in Delft."
CASE = golden(Case("a", NerInput(TEXT), NerExpected([Entity("Delft", "TOP", 16, 21)])))
RIGHT = {"text": "Delft", "type": "TOP", "start": 16, "end": 21}


def entity(start: int, end: int, kind: str = "TOP") -> dict[str, Any]:
    return {"text": "", "type": kind, "start": start, "end": end}


@pytest.mark.parametrize(
    "invented",
    [
        [entity(100, 110), entity(200, 210), entity(300, 310)],
        [entity(16, 40), entity(16, 41), entity(16, 42)],
        [entity(9, 3), entity(9, 4), entity(9, 5)],
        [entity(2**53, 2**53), entity(2**53 - 1, 2**53), entity(2**52, 0)],
    ],
)
def test_entities_outside_of_the_text_are_as_many_as_were_given(invented: list[dict[str, Any]]) -> None:
    """Cut to the text they would all be one and the same, and three inventions would cost as much as one."""
    for entities in ([RIGHT, *invented], [*reversed(invented), RIGHT]):
        found = values(SUITE, [CASE], {"a": {"entities": entities}})
        assert found["strict_precision"] == 0.25
        assert found["duplicate_rate"] == 0.0
    twice = values(SUITE, [CASE], {"a": {"entities": [RIGHT, *invented, *invented]}})
    assert twice["strict_precision"] == 0.25
    assert twice["duplicate_rate"] == pytest.approx(3 / 7)


def test_lines_that_only_begin_like_another_kind_of_annotation_are_named(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text(TEXT)
    (tmp_path / "a.ann").write_text(
        "# a remark\n#1\tAnnotatorNotes T1\tsure\nR1\tIn Arg1:T1 Arg2:T2\n*\tEquiv T1 T2\n"
        "Rubbish\nAmsterdam\nT1\tTOP 16 21\tDelft\nT2\tTOP 16 21\tDelft\nN\n"
    )
    problems = Problems()
    assert not list(BratCases().read(tmp_path / "a.ann", problems))
    told = [str(problem).rpartition("a.ann:")[2] for problem in problems]
    assert [each.partition(". ")[0] for each in told] == [
        "5: 'Rubbish' is no annotation",
        "6: 'Amsterdam' is no annotation",
        "8: T2: 'Delft' is marked twice",
        "9: 'N' is no annotation",
    ]
