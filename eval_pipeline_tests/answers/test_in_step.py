"""Answers in step with the cases: the same outputs as an index gives, and everything else refused."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from eval_pipeline.answers import Answer, AnswersInStep, OutOfStep, parse, recorded_format
from eval_pipeline.files import WHOLE
from eval_pipeline.problems import Problems


class Output(msgspec.Struct):
    label: str
    score: float = 0.0


FORMAT = recorded_format(Output)
LINES = [{"case_id": case, "output": {"label": case.upper()}} for case in "abcde"]


def write(path: Path, *lines: Any) -> Path:
    path.write_text("".join((line if isinstance(line, str) else json.dumps(line)) + "\n" for line in lines))
    return path


def in_step(path: Path, ids: Sequence[str], output: Any = Output) -> list[tuple[Any, Answer]] | None:
    """Each case's result and answer, two cases at a time; None where the file is out of step."""
    answers = AnswersInStep(path, recorded_format(output), WHOLE)
    results: list[tuple[Any, Answer]] = []
    try:
        for start in range(0, len(ids), 2):
            some = list(ids[start : start + 2])
            for case_id, usual in zip(some, answers.outputs(some, 1), strict=True):
                answer = answers.get(case_id, 1)
                parsed = parse(answer, output)
                assert usual is None or parsed.output == usual  # type: ignore[union-attr]
                results.append((parsed, answer))
        answers.without_case(ids)
    except OutOfStep:
        return None
    return results


OUTPUTS: st.SearchStrategy[Any] = st.sampled_from(
    [
        {"label": "x"},
        {"label": "x", "score": 1, "more": [1]},
        {"label": 5},
        {},
        [],
        None,
        7,
        "Sure!",
        '{"label": "x"}',
        'It is {"label": "x"}.',
        "\u2028é🌊",
    ]
)
EXTRAS = st.fixed_dictionaries(
    {},
    optional={
        "error": st.sampled_from([None, "timeout"]),
        "tokens": st.sampled_from([None, 3, {"in": 2}]),
        "latency_ms": st.sampled_from([None, 1, 0.5]),
        "detail": st.text(max_size=3),
        "unknown": st.just({"label": "y"}),
    },
)
LINE = st.builds(lambda output, extra: {"output": output, **extra}, OUTPUTS, EXTRAS)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(LINE, min_size=1, max_size=6), st.lists(st.sampled_from(["", " ", "\r"]), max_size=2))
@pytest.mark.parametrize("output", [Output, dict[str, Any]])
def test_answers_in_step_are_those_of_the_index(
    tmp_path: Path, output: Any, drawn: list[Any], blanks: list[str]
) -> None:
    ids = [f"case-{number}" for number in range(len(drawn))]
    lines = [{"case_id": case_id, **line} for case_id, line in zip(ids, drawn, strict=True)]
    path = write(tmp_path / "o.jsonl", lines[0], *blanks, *lines[1:])
    indexed = recorded_format(output).open(path, Problems())
    answers = [indexed.get(case_id, 1) for case_id in ids]
    assert in_step(path, ids, output) == [(parse(answer, output), answer) for answer in answers]
    for usual, answer in zip(indexed.outputs(ids, 1), answers, strict=True):
        assert usual is None or usual == parse(answer, output).output  # type: ignore[union-attr]


@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_a_byte_order_mark_and_a_missing_line_end_are_in_step(tmp_path: Path, end: str) -> None:
    path = tmp_path / "o.jsonl"
    path.write_bytes(b"\xef\xbb\xbf" + end.join(map(json.dumps, LINES)).encode())
    results = in_step(path, "abcde")
    assert results is not None
    assert [parsed.output.label for parsed, _ in results] == list("ABCDE")


ONE, TWO = json.dumps(LINES[1]), json.dumps(LINES[2])


@pytest.mark.parametrize(
    "lines",
    [
        [LINES[1], LINES[0], *LINES[2:]],
        LINES[:4],
        [*LINES, LINES[0]],
        [*LINES, {"case_id": "z", "output": {"label": "Z"}}],
        [LINES[0], *LINES],
        [*LINES[:4], {**LINES[4], "trial": 2}],
        [*LINES, {**LINES[4], "trial": 2}],
        [*LINES[:4], {**LINES[4], "trial": 0, "error": "timeout"}],
        [*LINES[:4], {**LINES[4], "trial": "one"}],
        [*LINES[:4], {**LINES[4], "tokens": "many"}],
        [*LINES[:4], {**LINES[4], "latency_ms": "long"}],
        [*LINES[:4], {"output": {"label": "E"}}],
        [*LINES[:4], "{"],
        [*LINES[:4], [1]],
        [*LINES[:4], '{"case_id": "e", "outp'],
        [LINES[0], f"{ONE} {TWO}", "", *LINES[3:]],
        [LINES[0], f"{ONE} {TWO[:9]}", TWO[9:], *LINES[3:]],
        [LINES[0], ONE[:9], ONE[9:], *LINES[2:]],
        [*LINES[:4], '{"case_id": "e", "output": {"label": "X", "label": "E"}}'],
        [*LINES[:4], '{"case_id": "e", "output": {"label": "X", "label": "E\\u003a"}}'],
    ],
)
def test_what_does_not_follow_the_cases_is_out_of_step(tmp_path: Path, lines: list[Any]) -> None:
    assert in_step(write(tmp_path / "good.jsonl", *LINES), "abcde") is not None
    assert in_step(write(tmp_path / "o.jsonl", *lines), "abcde") is None
