"""What people configure: every problem at once, in plain words, each on its line."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any, Literal
from unittest import mock

import pytest
from pydantic import Field, ValidationError, ValidationInfo, field_validator

from eval_pipeline.files import Violation
from eval_pipeline.files.models import Model, field_at, parse_model, read_model, refusal, violations_in
from eval_pipeline.problems import Problems


class Part(Model):
    label: str
    size: Annotated[int, Field(ge=1, le=9)] = 1


class File(Model):
    name: str
    count: int = 0
    share: Annotated[float, Field(gt=0, lt=1)] = 0.5
    open_: bool = Field(default=True, validation_alias="open")
    colour: Literal["red", "green"] = "red"
    parts: list[Part] = Field(default_factory=list)
    named: dict[str, Part] = Field(default_factory=dict)
    words: Annotated[list[str], Field(min_length=1, max_length=2)] = Field(default_factory=lambda: ["a"])
    code: Annotated[str, Field(min_length=2)] = "xy"
    note: str | None = None

    @field_validator("note")
    @classmethod
    def _fits(cls, note: str | None, info: ValidationInfo) -> str | None:
        if note and info.data.get("count", 0) > 1:
            raise refusal(Violation(("deep",), "is one too many", "Count less."))
        return note


@pytest.mark.parametrize(
    ("value", "problems"),
    [
        ({}, ["name: is missing. Add it."]),
        ({"name": 3}, ["name: is a whole number, not a text. Put it in quotes."]),
        ({"name": True}, ["name: is true, not a text. Put it in quotes."]),
        ({"name": None}, ["name: is empty, not a text. Write a text."]),
        ({"name": ["x"]}, ["name: is a list, not a text. Write a text."]),
        ({"nmae": "x"}, ["nmae: is not a known field. Did you mean name?"]),
        (
            {"name": "x", "count": "3"},
            ["count: is a text, not a whole number. Write a whole number, without quotes."],
        ),
        ({"name": "x", "count": 1.5}, ["count: is a number, not a whole number. Write a whole number."]),
        ({"name": "x", "count": True}, ["count: is true, not a whole number. Write a whole number."]),
        ({"name": "x", "share": 0}, ["share: is not more than 0. Write more than 0."]),
        ({"name": "x", "share": 1}, ["share: is not less than 1. Write less than 1."]),
        (
            {"name": "x", "open": "yes"},
            ["open: is a text, not true or false. Write true or false, without quotes."],
        ),
        ({"name": "x", "open_": True}, ["open_: is not a known field. Did you mean open?"]),
        (
            {"name": "x", "colour": "gren"},
            ["colour: 'gren' is not a choice. Did you mean green? Choices: red, green."],
        ),
        ({"name": "x", "colour": "blue"}, ["colour: 'blue' is not a choice. Choices: red, green."]),
        ({"name": "x", "colour": 3}, ["colour: is a whole number, not a choice. Choices: red, green."]),
        ({"name": "x", "parts": {}}, ["parts: is a set of fields, not a list. Write a list."]),
        (
            {"name": "x", "parts": [{"label": "a"}, {"size": 0}, 7]},
            [
                "parts[1].label: is missing. Add it.",
                "parts[1].size: is less than 1. Write 1 or more.",
                "parts[2]: is a whole number, not a set of fields. Write name: value on lines below it.",
            ],
        ),
        (
            {"name": "x", "named": {"a": {"label": "l", "size": 10}, "b": {"lable": "l"}}},
            [
                "named.a.size: is more than 9. Write 9 or less.",
                "named.b.lable: is not a known field. Did you mean label?",
            ],
        ),
        (
            {"name": "x", "named": {3: {"label": "l"}}},
            ["named.3: its name is a whole number, not a text. Put it in quotes."],
        ),
        ({"name": "x", "words": []}, ["words: has fewer than 1 entries. Write at least 1."]),
        ({"name": "x", "words": ["a", "b", "c"]}, ["words: has more than 2 entries. Write at most 2."]),
        ({"name": "x", "code": "a"}, ["code: has fewer than 2 characters. Write at least 2."]),
        (
            {"name": "x", "weight": 1},
            [
                "weight: is not a known field. "
                "Known: name, count, share, open, colour, parts, named, words, code, note."
            ],
        ),
        ({"name": "x", "count": 2, "note": "n"}, ["note.deep: is one too many. Count less."]),
        ({"name": 1, "count": 2, "note": "n"}, ["name: is", "note.deep: is one too many"]),
        ({"name": "x", "count": "2", "note": "n"}, ["count: is a text"]),
        (["x"], [": is a list, not a set of fields"]),
    ],
)
def test_every_problem_in_plain_words(value: Any, problems: list[str]) -> None:
    found = Problems()
    for each in violations_in(value, File):
        found.add("x", each.message, each.remedy, field=".".join(map(str, each.path)))
    told = [str(each).removeprefix("x: ") for each in found]
    shown = [text.replace("[", ".").replace("]", "") for text in problems]
    assert len(told) == len(shown), told
    for said, expected in zip(told, shown, strict=True):
        assert expected.removeprefix(": ") in said


def test_a_problem_stands_on_its_line_beside_those_of_a_check(tmp_path: Path) -> None:
    path, problems = tmp_path / "x.yaml", Problems()
    path.write_text(
        '# A comment\nname: 3\nnamed:\n  a:\n    label: l\n    size: 0\n  "7": {label: 1}\nopne: true\n'
    )

    def check(value: Any) -> list[Violation]:
        assert field_at(value, "named", "a", "label") == "l"
        assert field_at(value, "name", "deeper") is None
        return [Violation(("name",), "is named once"), Violation(("named", "a", "label"), "is not mine")]

    assert read_model(path, File, problems, check) is None
    assert [(each.line, each.field) for each in problems] == [
        (2, "name"),
        (5, "named.a.label"),
        (6, "named.a.size"),
        (7, "named.7.label"),
        (8, "opne"),
    ]
    assert next(iter(problems)).message == "is a whole number, not a text"


def test_a_good_file_is_a_model_and_cannot_be_changed(tmp_path: Path) -> None:
    problems = Problems()
    file = parse_model("name: x\nopen: false\nshare: 0.25\n", 1, tmp_path, File, problems)
    assert file == File(name="x", open_=False, share=0.25)
    assert list(problems) == []
    with pytest.raises(ValidationError):
        setattr(file, "name", "y")  # noqa: B010


@pytest.mark.parametrize("text", ["", "- a\n", "name: [\n", "name: &a x\nnote: *a\n", "name: 3\n"])
def test_a_text_that_was_read_before_has_the_same_problems_where_it_stands_now(
    text: str, tmp_path: Path
) -> None:
    seen = []
    for name, first_line in (("a", 1), ("b", 5), ("a", 1)):
        problems = Problems()
        assert parse_model(text, first_line, tmp_path / name, File, problems) is None
        assert all(Path(each.file).name == name for each in problems)
        seen.append([(each.line - first_line, each.field, each.message) for each in problems])
    assert seen[0]
    assert seen[0] == seen[1] == seen[2]


def test_who_changes_what_a_text_holds_changes_it_for_nobody_else(tmp_path: Path) -> None:
    def check(value: Any) -> list[Violation]:
        value["words"].append("changed")
        return []

    text, problems = "name: x\nwords: [a]\n", Problems()
    for _ in range(2):
        parse_model(text, 1, tmp_path, File, problems, check)
    assert parse_model(text, 1, tmp_path, File, problems) == File(name="x", words=["a"])


def test_a_text_that_is_too_deep_to_be_copied_is_read_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It depends on how deep whoever reads it stands."""
    monkeypatch.setattr("eval_pipeline.files.models.deepcopy", mock.Mock(side_effect=RecursionError))
    problems = Problems()
    assert parse_model("name: x\nwords: [a]\n", 1, tmp_path, File, problems) == File(name="x", words=["a"])
    assert not list(problems)


def test_what_is_refused_is_never_quoted_by_the_exception() -> None:
    with pytest.raises(ValidationError) as caught:
        File(name="sesame", count="sesame")  # type: ignore[arg-type]
    assert "sesame" not in f"{caught.value}{caught.value!r}"
