"""Answers that are plain text."""

from __future__ import annotations

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from eval_pipeline.answers import Answer, Failure, Usable, parse, recorded_line
from eval_pipeline.answers.recorded import RecordedLine


@given(
    st.text().filter(str.strip) | st.sampled_from(['{"a": 1}', "[1, 2]", '"quoted"', "null", "5", "```x```"])
)
def test_a_text_is_the_output_as_it_stands_and_comes_back_from_a_file(text: str) -> None:
    answer = Answer("a", text=text)
    assert parse(answer, str) == Usable(text)
    line = msgspec.json.decode(recorded_line(answer, str), type=RecordedLine)
    assert parse(line.answer(), str) == Usable(text)


@pytest.mark.parametrize("text", ["", " ", "\n\t\u00a0"])
def test_a_blank_text_is_an_error(text: str) -> None:
    failure = parse(Answer("a", text=text), str)
    assert isinstance(failure, Failure)
    assert failure.kind == "blank"


@pytest.mark.parametrize(
    ("answer", "kind"),
    [(None, "missing"), (Answer("a"), "missing"), (Answer("a", error="timeout"), "timeout")],
)
def test_what_is_not_there_is_the_same_for_texts(answer: Answer | None, kind: str) -> None:
    failure = parse(answer, str)
    assert isinstance(failure, Failure)
    assert failure.kind == kind
