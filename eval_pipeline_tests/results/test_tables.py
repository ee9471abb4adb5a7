"""Rows in JSON Lines, lists and CSV, and the samples of lm-eval."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from eval_pipeline.results import Row
from eval_pipeline.results.rows import Unusable
from eval_pipeline_tests.results.files_of_results import FIXTURES, WRONG, lines, problems_of, results


def rows(path: Path, id_field: str | None = None) -> list[Row]:
    (read,) = results(path, id_field)
    return list(read.rows)


def brief(path: Path, id_field: str | None = None) -> list[tuple[str, int, object, str]]:
    """Case, trial, score and error of every row."""
    return [(row.case_id, row.trial, row.scores.get("score"), row.error) for row in rows(path, id_field)]


EXPECTED = [("a", 1, 1.0, ""), ("a", 2, 0.5, ""), ("b", 1, None, "timeout"), ("c", 1, None, "")]


def test_lines_lists_and_tables_say_the_same(tmp_path: Path) -> None:
    records = [
        {"case_id": "a", "trial": 1, "score": True, "output": {"x": 1}, "latency_ms": 5},
        {"case_id": "a", "trial": 2, "score": 0.5, "error": None},
        {"case_id": "b", "error": "timeout"},
        {"case_id": "c", "score": None},
    ]
    as_lines = lines(tmp_path / "a.txt", records)
    as_list = tmp_path / "b.txt"
    as_list.write_text(json.dumps(records, indent=1))
    as_csv = tmp_path / "c.txt"
    as_csv.write_text("case_id,trial,score,error\na,1,true,\na,2,0.5,\nb,,,timeout\nc,1,,\n")
    assert brief(as_lines) == brief(as_list) == brief(as_csv) == EXPECTED
    assert [each.kind for path in (as_lines, as_list, as_csv) for each in results(path)] == [
        "JSON Lines",
        "JSON",
        "CSV",
    ]


@pytest.mark.parametrize("separator", [",", ";", "\t"])
@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_tables_of_any_separator(tmp_path: Path, separator: str, end: str) -> None:
    path = tmp_path / "a.csv"
    cells = (("id", "epoch", "score"), ("x 1", "2", "0.5"), ('"a""b\nc"', "1", "C"))
    path.write_bytes(b"\xef\xbb\xbf" + end.join(separator.join(row) for row in cells).encode())
    first, second = rows(path)
    assert (first.case_id, first.trial, first.scores, first.place) == ("x 1", 2, {"score": 0.5}, 2)
    assert (second.case_id[:5], second.scores) == ('a"b c', {"score": 1.0})


@pytest.mark.parametrize(
    ("error", "message"),
    [
        (None, ""),
        (False, ""),
        ("", ""),
        ("None", ""),
        ("false", ""),
        (True, "true"),
        ("down", "down"),
        ({}, ""),
    ],
)
def test_what_counts_as_an_error(tmp_path: Path, error: object, message: str) -> None:
    (row,) = rows(lines(tmp_path / "a", [{"id": 1, "score": 1, "error": error}]))
    assert row.error == message


def test_several_scores_in_one_field_and_an_id_of_ones_own(tmp_path: Path) -> None:
    path = lines(tmp_path / "a", [{"ticket": 7, "scores": {"f1": 1, "tone": "warm"}, "id": 3}])
    (row,) = rows(path, "ticket")
    assert row.case_id == "7"
    assert row.scores == {"f1": 1.0, "tone": Unusable.TEXT}


def test_nan_as_python_writes_it_is_no_score(tmp_path: Path) -> None:
    path = tmp_path / "a"
    path.write_text('{"id": "a", "score": NaN}\n{"id": "b", "score": -Infinity, "text": "NaN"}\n')
    assert [row.scores["score"] for row in rows(path)] == [None, None]


@pytest.mark.parametrize(
    ("text", "messages"),
    [
        ('{"id": 1}\n{"id": 2\n', [":2: not valid JSON: Input data was truncated."]),
        ('{"id": 1}\n[]\n', [":2: is no object."]),
        ('{"id": 1}\n{"id": 2, "id": 3}\n', [":2: id: stands twice in an object."]),
        ('{"name": 1}\n{"name": 2}\n', [":1: case_id: there is no case id."]),
        ('{"id": 1}\n{"id": {}}\n{"id": ""}\n', [":2: case_id: there is", ":3: case_id: there is"]),
        ('{"id": 1, "trial": "x"}\n', [":1: trial: is not the number of a trial."]),
        ("[1]", [": [0]: is no object."]),
        ("[]", [":1: the list is empty."]),
        ("", [":1: the file is empty."]),
        ("\n\n", [":1: the file is empty."]),
        ("id,score\n", [":1: the table has no rows."]),
        ("id,score\na,1,2\nb\n", [":2: 3 cells, the header has 2.", ":3: 1 cells, the header has 2."]),
        ("id,score,id\na,1,b\n", [":1: id: stands twice in the header."]),
        ('id,score\n"a,1\n', [":3: cannot be read as CSV: unexpected end of data."]),
        ("score,name\n1,a\n", [":2: case_id: there is no case id. Name the field of ids by --id."]),
    ],
)
def test_problems_are_named(tmp_path: Path, text: str, messages: list[str]) -> None:
    path = tmp_path / "a"
    path.write_text(text)
    found = problems_of(path)
    assert len(found) == len(messages)
    assert all(each.startswith(message) for each, message in zip(found, messages, strict=True)), found


def test_what_is_not_utf_8_is_named(tmp_path: Path) -> None:
    path = tmp_path / "a"
    path.write_bytes(b"id,score\n\xff,1\n")
    assert "cannot be read as CSV: it is not UTF-8" in problems_of(path)[0]
    path.write_bytes(b'{"id": 1}\n{"id": "\xff"}\n')
    assert ":2: byte 8 of the line is not UTF-8" in problems_of(path)[0]


def test_samples_of_lm_eval() -> None:
    (read,) = results(FIXTURES / "lm_eval_second.jsonl")
    assert read.kind == "lm-eval"
    assert read.metrics == ["exact_match,strict", "exact_match,first-word"]
    strict = {json.loads(row.input)["country"].lower(): row.scores for row in read.rows}
    assert {name for name, each in strict.items() if not each["exact_match,first-word"]} == WRONG
    longer = {"cuba", "norway"}  # right, with words behind it
    assert {name for name, each in strict.items() if not each["exact_match,strict"]} == WRONG | longer
    assert (read.rows[0].case_id, read.rows[0].expected, read.rows[0].output) == ("0", "Paris", '["Paris"]')
    assert len(read.rows[0].input_hash) == 64


def test_a_single_filter_is_not_named(tmp_path: Path) -> None:
    every = map(json.loads, (FIXTURES / "lm_eval_first.jsonl").read_text().splitlines())
    one = [each for each in every if each["filter"] == "strict"]
    (read,) = results(lines(tmp_path / "a", one))
    assert read.metrics == ["exact_match"]
    assert ":13: doc_id: is missing" in problems_of(lines(tmp_path / "a", [*one, {"filter": "strict"}]))[0]
    assert "document 0 is there twice" in problems_of(lines(tmp_path / "a", [*one, one[0]]))[0]


def test_samples_that_do_not_list_their_metrics(tmp_path: Path) -> None:
    """As lm-eval wrote them before 0.4.8: metrics among the other fields, and one line for each document."""
    every = map(json.loads, (FIXTURES / "lm_eval_first.jsonl").read_text().splitlines())
    one = [each for each in every if each["filter"] == "strict"]
    (listed,) = results(lines(tmp_path / "a", one))
    old = [{name: each[name] for name in each if name not in ("filter", "metrics")} for each in one]
    (read,) = results(lines(tmp_path / "a", old))
    assert read.metrics == ["exact_match"]
    assert [row.scores for row in read.rows] == [row.scores for row in listed.rows]
