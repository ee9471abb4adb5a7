"""Rows as cases: what is input, what is expected, and where files may lie."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import msgspec
import pytest

from eval_pipeline.declarative import read_suite
from eval_pipeline.golden import GoldenCase, read_cases
from eval_pipeline.problems import BadInput, Problems
from eval_pipeline_tests.declaring import CASES, CLASSIFIER, declare, problems_of


def read(folder: Path) -> tuple[list[GoldenCase], list[str]]:
    problems = Problems()
    suite = read_suite(folder)
    cases = list(read_cases(suite, folder, problems))
    return cases, [str(each) for each in problems]


def cases_of(
    root: Path, suite: dict[str, Any], rows: list[dict[str, Any]]
) -> tuple[list[GoldenCase], list[str]]:
    return read(declare(root, suite, rows).golden("tickets"))


def test_inputs_attributes_and_what_is_expected(tmp_path: Path) -> None:
    cases, problems = cases_of(tmp_path, CLASSIFIER, CASES)
    assert not problems
    first = cases[0].case
    assert (first.id, first.attributes, first.expected) == ("a", {"language": "en"}, {"label": "billing"})
    assert msgspec.to_builtins(first.input) == {"text": "I was charged twice"}
    assert [each.line for each in cases] == [1, 2, 3, 4]


@pytest.mark.parametrize(
    "scores",
    [
        [{"equals": "{{ secret }}"}],
        [{"all_of": [{"contains": "x {{ secret }}"}, {"length": "words", "max": 9}]}],
        [{"one_of": ["a", "{{ secret }}"]}],
        [{"json_equals": {"a": "{{ secret }}"}}],
        [],
    ],
)
def test_what_is_expected_is_never_input(tmp_path: Path, scores: list[dict[str, Any]]) -> None:
    rows = [
        {"text": "a question", "secret": "xyzzy", "__expected": "contains: xyzzy", "__description": "xyzzy"}
    ]
    kind = "json" if scores and "json_equals" in scores[0] else "text"
    suite: dict[str, Any] = {"cases": "cases.jsonl", "answer": {"kind": kind}, "scores": scores}
    if not scores:
        suite["inputs"] = ["text"]
    (golden,), problems = cases_of(tmp_path, suite, rows)
    assert not problems
    assert b"xyzzy" not in msgspec.json.encode(golden.case.input)
    assert "xyzzy" not in golden.case.id
    assert b"xyzzy" in msgspec.json.encode(golden.case.expected)


@pytest.mark.parametrize("inputs", [["text", "label"], {"text": "label"}, ["__expected"]])
def test_nor_can_it_be_made_one(tmp_path: Path, inputs: Any) -> None:
    rows = [{**row, "__expected": "bug"} for row in CASES]
    project = declare(tmp_path, {**CLASSIFIER, "inputs": inputs}, rows)
    with pytest.raises(BadInput, match="holds what is expected"):
        read_suite(project.golden("tickets"))


def test_inputs_can_be_renamed(tmp_path: Path) -> None:
    rows = [{"Ticket text": "Help", "label": "bug"}]
    suite = {name: each for name, each in CLASSIFIER.items() if name not in ("id", "attributes")}
    project = declare(tmp_path, suite, rows)
    with pytest.raises(BadInput) as bad:
        read_suite(project.golden("tickets"))
    assert 'inputs: {ticket_text: "Ticket text"}' in str(bad.value)
    (golden,), _ = cases_of(tmp_path, {**suite, "inputs": {"text": "Ticket text"}}, rows)
    assert golden.case.input.text == "Help"
    assert read_suite(project.golden("tickets")).variables == ("text",)


def test_ids_are_made_from_the_input(tmp_path: Path) -> None:
    suite = {**CLASSIFIER, "id": ""}
    rows = [{name: value for name, value in row.items() if name != "id"} for row in CASES]
    before, _ = cases_of(tmp_path / "one", suite, rows)
    changed = [{**row, "label": "other", "language": "fr"} for row in reversed(rows)]
    after, _ = cases_of(tmp_path / "two", suite, changed)
    assert {each.case.id for each in before} == {each.case.id for each in after}
    assert len({each.case.id for each in before}) == 4
    _, problems = cases_of(tmp_path / "three", suite, [*rows, rows[0]])
    assert "is also the id of" in problems[0]
    some, _ = cases_of(tmp_path / "four", CLASSIFIER, [{**CASES[0], "id": ""}, CASES[1]])
    assert [each.case.id for each in some] == [before[0].case.id, "b"]


def test_golden_cells_are_checked_all_at_once(tmp_path: Path) -> None:
    rows = [CASES[0], {**CASES[1], "label": "crash"}, {**CASES[2], "label": ""}, {"id": "d", "label": "bug"}]
    _, problems = cases_of(tmp_path, CLASSIFIER, rows)
    messages = [each.split("cases.jsonl:")[1] for each in problems]
    assert messages[0].startswith("2: label: 'crash' is none of the labels")
    assert messages[1].startswith("3: label: is blank")
    assert messages[2].startswith("4: text: is missing")


def test_a_table_without_a_column(tmp_path: Path) -> None:
    project = declare(tmp_path, {**CLASSIFIER, "cases": ["*.csv"]})
    folder = project.golden("tickets")
    (folder / "a.csv").write_text("id,text,language,label\n1,x,en,bug\n")
    (folder / "b.csv").write_text("id,text,language,lable\n2,y,en,bug\n")
    cases, problems = read(folder)
    assert [each.case.id for each in cases] == ["1"]
    assert len(problems) == 1
    assert "b.csv:1: label: is missing in the header. Did you mean lable?" in problems[0]


def test_files_by_pattern_and_beside_the_folder(tmp_path: Path) -> None:
    project = declare(tmp_path, {**CLASSIFIER, "cases": ["../../data/**/*.csv", "cases.jsonl"]})
    (tmp_path / "data" / "deep").mkdir(parents=True)
    (tmp_path / "data" / "deep" / "a.csv").write_text("id,text,language,label\n9,x,en,bug\n")
    cases, problems = read(project.golden("tickets"))
    assert not problems
    assert [each.case.id for each in cases] == ["9", "a", "b", "c", "d"]


def test_paths_stay_in_the_project(tmp_path: Path) -> None:
    outside = tmp_path / "outside.csv"
    outside.write_text("id,text,language,label\n1,x,en,bug\n")
    root = tmp_path / "project"
    folder = declare(root, {**CLASSIFIER, "cases": ["link.csv", "../../../outside.csv", "gone.csv"]}).golden(
        "tickets"
    )
    (folder / "link.csv").symlink_to(outside)
    with pytest.raises(BadInput) as bad:
        read_suite(folder)
    text = "\n".join(problems_of(bad.value))
    assert text.count("leads out of the project") == 2
    assert text.count("there is no such file") == 1
