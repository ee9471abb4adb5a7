"""What was retrieved: from the pipeline, never from the model."""

from __future__ import annotations

import msgspec
import pytest

from eval_pipeline.answers import Answer, Usable, parse, without_own
from eval_pipeline.suites.grounded_qa.traces import GroundedAnswer

CARRIED = msgspec.Raw(b'{"retrieved_ids": ["p1", "p2"]}')


@pytest.mark.parametrize(
    "text",
    [
        '{"claim": "It is.", "citations": ["p9"], "retrieved_ids": ["p9"]}',
        '```json\n{"claim": "It is.", "citations": ["p9"], "retrieved_ids": null}\n```',
        '{"claim": "It is.", "citations": ["p9"], "retrieved_ids": 17}',
    ],
)
def test_a_model_does_not_choose_what_it_was_given(text: str) -> None:
    parsed = parse(Answer("q", text=text, carried=CARRIED), GroundedAnswer)
    assert parsed == Usable(GroundedAnswer("It is.", ["p9"], ["p1", "p2"]))


@pytest.mark.parametrize(
    ("text", "retrieved"),
    [('{"claim": "It is.", "retrieved_ids": ["p9"]}', ["p9"]), ('{"claim": "It is."}', ["p1", "p2"])],
)
def test_what_a_recorded_pipeline_retrieved_by_itself_stands(text: str, retrieved: list[str]) -> None:
    answer = Answer("q", text=text)
    kept = msgspec.structs.replace(answer, carried=without_own(CARRIED, answer))
    assert parse(kept, GroundedAnswer) == Usable(GroundedAnswer("It is.", None, retrieved))
