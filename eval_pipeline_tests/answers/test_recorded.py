"""Recorded answers: the lines of an outputs file, and what becomes of the outputs in them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from eval_pipeline.answers import Answer, AnswerFile, index_answers, recorded_line
from eval_pipeline.answers.recorded import RecordedLine
from eval_pipeline.problems import Problems


def opened(path: Path, *lines: str | bytes) -> tuple[AnswerFile, list[tuple[int, str, str]]]:
    path.write_bytes(b"\n".join(line if isinstance(line, bytes) else line.encode() for line in lines))
    problems = Problems()
    answers = index_answers(path, problems)
    return answers, [(problem.line, problem.field, problem.message) for problem in problems]


def texts(answers: AnswerFile, *keys: tuple[str, int]) -> list[str | None]:
    looked_up = [answers.get(*key) for key in keys]
    return [answer.text if answer else "no answer" for answer in looked_up]


def test_answers_are_looked_up_by_case_and_trial(tmp_path: Path) -> None:
    answers, problems = opened(
        tmp_path / "o.jsonl",
        '{"case_id": "b", "trial": 3, "output": {"label": "B3"}}',
        '{"output": {"label": "A"}, "case_id": "a", "extra": [1]}',
        "",
        '{"case_id": "b", "output": {"label": "B1"}}\r',
    )
    assert problems == []
    assert answers.trials == (1, 3)
    assert texts(answers, ("a", 1), ("b", 1), ("b", 3)) == [f'{{"label": "{x}"}}' for x in ("A", "B1", "B3")]
    assert texts(answers, ("a", 3), ("c", 1)) == ["no answer", "no answer"]
    assert answers.repeated == 0
    assert answers.without_case(["a"]) == ["b"]


def test_of_several_lines_for_a_case_and_trial_the_last_counts(tmp_path: Path) -> None:
    lines = [f'{{"case_id": "{case}", "output": {value}}}' for value, case in enumerate("abaca")]
    answers, _ = opened(tmp_path / "o.jsonl", *lines)
    assert answers.repeated == 2
    assert texts(answers, ("a", 1), ("b", 1), ("c", 1)) == ["4", "1", "3"]


def test_an_empty_file_has_one_trial_and_no_answer(tmp_path: Path) -> None:
    answers, problems = opened(tmp_path / "o.jsonl")
    assert (answers.trials, answers.get("a", 1), problems) == ((1,), None, [])


def test_a_byte_order_mark_is_no_part_of_the_first_line(tmp_path: Path) -> None:
    lines = [f'{{"case_id": "{case}", "output": "{case}é"}}' for case in "ab"]
    answers, problems = opened(tmp_path / "o.jsonl", "\ufeff" + lines[0], lines[1])
    assert problems == []
    assert texts(answers, ("a", 1), ("b", 1)) == ["aé", "bé"]


def test_everything_about_an_answer_is_read(tmp_path: Path) -> None:
    line = {"case_id": "a", "trial": 2, "output": "x", "error": "timeout", "latency_ms": 1.5, "cost_usd": 0.1}
    answers, _ = opened(tmp_path / "o.jsonl", json.dumps({**line, "tokens": {"in": 3}}))
    answer = answers.get("a", 2)
    assert answer is not None
    assert (answer.text, answer.error, answer.latency_ms, answer.cost_usd) == ("x", "timeout", 1.5, 0.1)
    assert answer.tokens == {"in": 3}


@pytest.mark.parametrize("field", ["tokens", "latency_ms", "cost_usd"])
@pytest.mark.parametrize("number", ["1" + "0" * 400, "9223372036854775807", "-1", "1e300"])
def test_numbers_beyond_all_reason_are_problems(tmp_path: Path, field: str, number: str) -> None:
    line = f'{{"case_id": "a", "output": "x", "{field}": {number}}}'
    _, problems = opened(tmp_path / "o.jsonl", line)
    assert len(problems) == 1


@pytest.mark.parametrize(
    "line",
    [
        '{"case_id": "a", "output": {"x": 1}, "output": {"x": 2}}',
        '{"case_id": "a", "output": {"x": 1, "y" : [{"x": 1, "x": 2}]}}',
    ],
)
def test_a_key_that_stands_twice_is_a_problem_and_no_score(tmp_path: Path, line: str) -> None:
    _, problems = opened(tmp_path / "o.jsonl", '{"case_id": "b", "output": 1}', line)
    assert [(number, message) for number, _, message in problems] == [(2, "stands twice in an object")]


def test_bad_lines_are_named_and_good_ones_kept(tmp_path: Path) -> None:
    answers, problems = opened(
        tmp_path / "o.jsonl",
        '{"trial": 1}',
        '{"case_id": 1, "trial": "x"}',
        '{"case_id": "a", "output": 1}',
        "[1]",
        "case",
        b'{"case_id": "\xff"}',
        "[" * 100_000,
        '{"case_id": "b", "outp',
    )
    assert [(line, field) for line, field, _ in problems] == [
        (1, "case_id"),
        (2, "case_id"),
        (2, "trial"),
        *((line, "") for line in (4, 5, 6, 7, 8)),
    ]
    assert [("cut off" in message) for _, _, message in problems[-2:]] == [False, True]
    assert texts(answers, ("a", 1)) == ["1"]


@pytest.mark.parametrize(
    ("output", "text"),
    [
        ('{"label": "a"}', '{"label": "a"}'),
        ("[1, 2]", "[1, 2]"),
        ("null", None),
        ('"{\\"label\\": \\"a\\"}"', '{"label": "a"}'),
        ('"Sure! \\n\\u00e9 \\ud83c\\udf0a"', "Sure! \né 🌊"),
        ('""', ""),
        ('"null"', "null"),
    ],
)
def test_a_text_output_is_what_the_model_wrote(output: str, text: str | None) -> None:
    line = msgspec.json.decode(f'{{"case_id": "a", "output": {output}}}', type=RecordedLine)
    assert line.answer().text == text


def recorded(answer: Answer) -> Answer:
    """The answer as it comes back from a line of a file."""
    line = recorded_line(answer)
    assert line.count(b"\n") == 1
    return msgspec.json.decode(line, type=RecordedLine).answer()


JSON_VALUES: st.SearchStrategy[Any] = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**53), 2**53)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3),
    max_leaves=8,
)


def is_json(text: str) -> bool:
    try:
        msgspec.json.decode(text)
    except msgspec.DecodeError:
        return False
    return True


@given(st.text() | st.text().map('"{}'.format) | st.text(alphabet='\r\n"\\{}🌊\u2028é'))
def test_what_is_not_json_is_recorded_as_it_is(text: str) -> None:
    assume(not is_json(text))
    assert recorded(Answer("a", text=text)).text == text


@given(st.lists(JSON_VALUES, max_size=3) | st.dictionaries(st.text(max_size=3), JSON_VALUES), st.booleans())
def test_what_is_json_is_recorded_with_the_same_value(value: Any, indented: bool) -> None:
    text = json.dumps(value, indent=2 if indented else None, ensure_ascii=indented, allow_nan=False)
    answer = recorded(Answer("a", 7, text, latency_ms=0.5, cost_usd=0.0, tokens=3))
    assert answer.text is not None
    assert json.loads(answer.text) == value
    assert (answer.case_id, answer.trial, answer.latency_ms, answer.tokens) == ("a", 7, 0.5, 3)


@given(st.text(), st.text() | st.none())
def test_errors_and_ids_are_recorded(case_id: str, error: str | None) -> None:
    answer = recorded(Answer(case_id, error=error))
    assert (answer.case_id, answer.text, answer.error) == (case_id, None, error)
