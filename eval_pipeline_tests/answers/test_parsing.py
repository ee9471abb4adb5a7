"""Answers into outputs: what can be used, and why not."""

from __future__ import annotations

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from eval_pipeline.answers import Answer, Failure, Usable, parse, recorded_line
from eval_pipeline.answers.parsing import LARGEST_OUTPUT
from eval_pipeline.answers.recorded import RecordedLine
from eval_pipeline_tests.answers.test_recorded import recorded


class Output(msgspec.Struct):
    label: str
    score: float = 0.0


@pytest.mark.parametrize(
    ("answer", "kind", "detail"),
    [
        (None, "missing", "there is no output"),
        (Answer("a"), "missing", "the output is null"),
        (Answer("a", text="{}", error="timeout", detail="30 s"), "timeout", "30 s"),
        (Answer("a", text="x" * (LARGEST_OUTPUT + 1)), "too_large", "4,194,305 characters"),
        (Answer("a", text="Sure! {}"), "schema", "missing required field `label`"),
        (Answer("a", text="Sure!"), "not_json", "invalid character"),
        (Answer("a", text=""), "not_json", "truncated"),
        (Answer("a", text='{"label": "a"'), "not_json", "truncated"),
        (Answer("a", text='{"label": "a"} or {"label": "b"}'), "not_json", "trailing"),
        (Answer("a", text='{"x": ' + "[" * 100_000), "not_json", "recursion"),
        (Answer("a", text="\ud800"), "not_json", "surrogates"),
        (Answer("a", text="{}"), "schema", "missing required field `label`"),
        (Answer("a", text='{"label": 1}'), "schema", "$.label"),
        (Answer("a", text='"text"'), "schema", "got `str`"),
        (Answer("a", text="[]", carried=msgspec.Raw(b'{"label": "a"}')), "schema", "got `array`"),
        (Answer("a", text="{", carried=msgspec.Raw(b'{"label": "a"}')), "not_json", "truncated"),
    ],
)
def test_what_cannot_be_used_says_why(answer: Answer | None, kind: str, detail: str) -> None:
    failure = parse(answer, Output)
    assert isinstance(failure, Failure)
    assert failure.kind == kind
    assert detail in failure.detail


@pytest.mark.parametrize(
    ("text", "carried", "output"),
    [
        ('{"label": "a", "more": 1}', "null", Output("a")),
        ('{"label": "a"}', '{"score": 0.5}', Output("a", 0.5)),
        ('{"label": "a", "score": 1}', '{"label": "b", "score": 0.5}', Output("b", 0.5)),
        ("{}", '{"label": "b"}', Output("b")),
        ('Sure:\n```json\n{"label": "a"}\n```', '{"score": 0.5}', Output("a", 0.5)),
        ('It is {"label": "a", "score": 1}.', '{"score": 0.5}', Output("a", 0.5)),
    ],
)
def test_what_was_carried_wins_over_what_the_output_says(text: str, carried: str, output: Output) -> None:
    answer = Answer("a", text=text, carried=msgspec.Raw(carried.encode()))
    assert parse(answer, Output) == Usable(output)
    assert parse(recorded(answer), Output) == Usable(output)


@pytest.mark.parametrize(
    "text",
    [
        'Here you are:\n```json\n{"label": "a"}\n```\nAnything else?',
        '```\n{"label": "a"}```',
        'Sure! {"label": "a"} I hope this helps.',
    ],
)
def test_json_inside_other_text_is_found(text: str) -> None:
    assert isinstance(parse(Answer("a", text=text), Output), Usable)


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
