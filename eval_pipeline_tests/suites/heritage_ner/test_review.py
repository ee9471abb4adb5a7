"""What a reader of outputs that nobody foresaw would try on heritage_ner."""

from __future__ import annotations

from typing import Any

import pytest

from eval_pipeline.suite import Case
from eval_pipeline.suites.heritage_ner import SUITE
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
