"""suite.yaml: what it may say, and every mistake at once, each in its place."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import jsonschema
import pytest
import yaml

from eval_pipeline.declarative import SCORERS, read_suite, suite_schema
from eval_pipeline.problems import BadInput
from eval_pipeline_tests.declaring import CASES, CLASSIFIER, declare


def problems(root: Path, suite: dict[str, Any] | str, rows: Any = CASES) -> list[tuple[int, str, str, str]]:
    with pytest.raises(BadInput) as bad:
        read_suite(declare(root, suite, rows).golden("tickets"))
    return [(each.line, each.field, each.message, each.remedy) for each in bad.value.problems]


def test_a_classifier_takes_seven_lines(tmp_path: Path) -> None:
    text = yaml.safe_dump(CLASSIFIER, default_flow_style=None, sort_keys=False)
    assert len(text.splitlines()) <= 15
    suite = read_suite(declare(tmp_path, text).golden("tickets"))
    assert [each.name for each in suite.metrics] == ["accuracy", "macro_f1"]
    assert (suite.headline, suite.groups, suite.variables) == ("accuracy", ("language",), ("text",))
    assert suite.reporting.confusions == ("confusion",)


def test_every_mistake_at_once(tmp_path: Path) -> None:
    text = """\
description: [a list]
casse: cases.jsonl
cases: cases.jsonl
id: idd
attributes: [language, chanel]
answer: {kind: lable, of: [a]}
scores:
  - equals: "{{ labell }}"
    wieght: 2
  - contians: x
  - contains: "{{ labell }}"
  - length: words
  - equals: x
    contains: y
  - regex: 7
"""
    found = problems(tmp_path, text)
    by_field = {field: (line, message, remedy) for line, field, message, remedy in found}
    assert by_field["casse"][2].startswith(("Did you mean", "Known"))
    assert by_field["id"] == (
        4,
        "there is no column 'idd'",
        "Did you mean id? Columns: id, text, language, label.",
    )
    assert by_field["attributes"][:2] == (5, "there is no column 'chanel'")
    assert "Did you mean label?" in by_field["answer.kind"][2]
    assert by_field["scores[0].wieght"] == (9, "is not a known field", "Did you mean weight?")
    assert "Did you mean contains?" in by_field["scores[1].contians"][2]
    assert by_field["scores[3].length"][1] == "says neither 'min' nor 'max'"
    assert by_field["scores[4]"][1] == "names several scorers: equals, contains"
    assert by_field["scores[5].regex"][1] == "is a whole number, not a text"
    assert by_field["description"][0] == 1
    assert {line for line, _, message, _ in found if "labell" in message} == {8, 11}


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"scores": []}, "is empty"),
        ({"scores": [{"contains": "x", "weight": 0}]}, "nothing has a weight"),
        ({"scores": [{"contains": "x", "name": "score"}]}, "'score' is taken"),
        ({"scores": [{"contains": "x", "name": "n"}, {"contains": "y", "name": "n"}]}, "is taken"),
        ({"scores": [{"contains": "x", "name": "no blanks"}]}, ""),
        ({"scores": [{"json_schema": {}}]}, "json_schema cannot look at answers of kind label"),
        (
            {"scores": [{"any_of": [{"set_f1": "{{ label }}"}]}]},
            "set_f1 cannot look at answers of kind label",
        ),
        ({"scores": [{"contains": "{{ lable }}"}]}, "there is no column 'lable'"),
        ({"scores": [{"all_of": [{"contains": "{{ lable }}"}]}]}, "there is no column 'lable'"),
        ({"scores": [{"json_schema": "gone.json"}]}, "there is no file 'gone.json'"),
        ({"scores": [{"json_schema": "../../../etc/passwd"}]}, "there is no file"),
        ({"scores": [{"python": "os:system"}]}, "there is no module os"),
        ({"scores": [7]}, "is no score"),
        ({"scores": {"equals": "x"}}, "is a set of fields, not a list"),
        ({"cases": []}, "has fewer than 1 entries"),
        ({"cases": "gone.csv"}, "there is no such file"),
        ({"cases": 7}, "is a whole number, not a list"),
        ({"cases": "suite.txt"}, "there is no such file"),
        ({"inputs": ["texxt"]}, "there is no column 'texxt'"),
        ({"inputs": {"my text": "text"}}, "cannot be the name of a variable"),
        ({"answer": {"kind": "label"}}, "is missing"),
        ({"answer": {"kind": "label", "of": []}}, "has fewer than 1"),
        ({"answer": {"kind": "label", "of": ["a", "A"]}}, "labels differ by more than case"),
        ({"answer": "essay"}, "is no kind of answer"),
        ({"answer": {"kind": "json", "schema": {"$ref": "http://example.org"}}}, "refers to"),
    ],
)
def test_mistakes(tmp_path: Path, changes: dict[str, Any], message: str) -> None:
    found = problems(tmp_path, {**CLASSIFIER, **changes})
    assert any(message in each[2] for each in found), found


def test_what_is_wrong_for_every_case_is_said_once_and_where_it_stands(tmp_path: Path) -> None:
    scores = [
        {"regex": "("},
        {"all_of": [{"equals": "no label"}, {"contains": "x"}]},
        {"length": {"words": 3}},
    ]
    found = problems(tmp_path, {**CLASSIFIER, "scores": scores})
    assert [(field, message.partition(":")[0]) for _, field, message, _ in found] == [
        ("scores[0].regex", "is not a regular expression"),
        ("scores[1].equals", "'no label' is none of the labels"),
        ("scores[2].length", "is a set of fields, not a choice"),
    ]


def test_columns_that_mean_something_elsewhere(tmp_path: Path) -> None:
    rows = [{**row, "__prefix": "x", "__expected": "bug", "__description": "y"} for row in CASES]
    found = problems(tmp_path, {**CLASSIFIER, "scores": []}, rows)
    assert [each[2] for each in found] == ["the column '__prefix' has no meaning here"]


def test_no_column_is_left(tmp_path: Path) -> None:
    rows = [{"id": "a", "label": "bug", "language": "en"}]
    assert problems(tmp_path, CLASSIFIER, rows)[0][2] == "no column is left as input"


def test_a_name_that_is_none(tmp_path: Path) -> None:
    folder = declare(tmp_path, CLASSIFIER).golden("tickets")
    moved = folder.rename(folder.with_name("my-tickets"))
    with pytest.raises(BadInput, match="is no name of a suite"):
        read_suite(moved)


def test_a_schema_beside_the_file(tmp_path: Path) -> None:
    rows = [{"text": "Ada is 36", "want": '{"age": 36}'}]
    schema = {"type": "object", "required": ["age"]}
    suite = {
        "cases": "cases.jsonl",
        "answer": {"kind": "json", "schema": "person.json"},
        "scores": [{"json_equals": "{{ want }}"}, {"json_schema": "person.json"}],
    }
    project = declare(tmp_path, suite, rows)
    (project.golden("tickets") / "person.json").write_text(json.dumps(schema))
    loaded = read_suite(project.golden("tickets"))
    assert [each.name for each in loaded.metrics] == ["score", "json_equals", "json_schema"]
    (project.golden("tickets") / "person.json").write_text('{"type": 7}')
    with pytest.raises(BadInput, match="is not a JSON Schema"):
        read_suite(project.golden("tickets"))


def test_the_schema_accepts_what_is_accepted_and_names_every_scorer() -> None:
    schema = suite_schema()
    jsonschema.Draft202012Validator.check_schema(schema)
    check = jsonschema.Draft202012Validator(schema)
    assert check.is_valid(CLASSIFIER)
    assert check.is_valid({**CLASSIFIER, "inputs": {"text": "text"}, "answer": "text"})
    assert not check.is_valid({**CLASSIFIER, "scores": [{"contians": "x"}]})
    assert not check.is_valid({**CLASSIFIER, "answer": {"kind": "essay"}})
    assert not check.is_valid({**CLASSIFIER, "casess": 1})
    text = json.dumps(schema)
    assert all(f'"{name}"' in text for name in SCORERS)
