"""Fields that are wrong, as people read them."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any, Literal

import msgspec
import pytest

from eval_pipeline.files import FieldPath, read_json, read_yaml, shown_field, violations_of
from eval_pipeline.problems import Problems
from eval_pipeline_tests.files.test_lines import Record


def test_a_misspelt_field_is_answered_with_the_right_one(tmp_path: Path) -> None:
    path, problems = tmp_path / "x", Problems()
    path.write_text('{"id": "a",\n "verson": "2"}')
    assert list(read_json(path, Record, problems)) == []
    assert read_yaml(path, Record, problems) is None
    assert {str(each) for each in problems} == {
        f"{path}:2: verson: is not a known field. Did you mean version?"
    }


@pytest.mark.parametrize(
    ("path", "text"), [((), ""), (("a",), "a"), ((3,), "[3]"), (("a", 3, "b", 0, 1), "a[3].b[0][1]")]
)
def test_shown(path: FieldPath, text: str) -> None:
    assert shown_field(path) == text


class Span(msgspec.Struct, forbid_unknown_fields=True):
    min: Annotated[int, msgspec.Meta(ge=1)]
    max: Annotated[int, msgspec.Meta(ge=1)]


class Cat(msgspec.Struct, tag_field="kind", tag="cat", forbid_unknown_fields=True):
    lives: Annotated[int, msgspec.Meta(ge=1)] = 9


class Dog(msgspec.Struct, tag_field="kind", tag="dog", forbid_unknown_fields=True):
    name: str


class Full(msgspec.Struct, forbid_unknown_fields=True):
    """A record with everything that bulk records have."""

    id: str
    trials: Annotated[int, msgspec.Meta(ge=1)] | Span | None = None
    words: Annotated[list[Annotated[str, msgspec.Meta(min_length=2)]], msgspec.Meta(max_length=2)] = []
    counts: dict[Literal["a", "b"], Annotated[int, msgspec.Meta(ge=0)]] = {}
    pair: tuple[str, int] = ("", 0)
    layers: tuple[Literal["A", "B"], ...] = ()
    either: list[int] | str = ""
    pets: list[Cat | Dog] = []


@pytest.mark.parametrize(
    ("value", "places"),
    [
        ({"id": "x", "trials": {"min": 0, "mx": 3}}, ["trials.min", "trials.mx"]),
        ({"id": 1, "trials": 0}, ["id", "trials"]),
        ({"id": "x", "words": ["a", "bc", 3]}, ["words[0]", "words[2]", "words"]),
        ({"id": "x", "counts": {"a": -1, "c": 1, "b": "x"}}, ["counts.a", "counts.c", "counts.b"]),
        ({"id": "x", "pair": [1, "x"]}, ["pair[0]", "pair[1]"]),
        ({"id": "x", "pair": ["x"]}, ["pair"]),
        ({"id": "x", "layers": ["A", "C", "D"]}, ["layers[1]", "layers[2]"]),
        ({"id": "x", "either": [1, "x", None]}, ["either[1]", "either[2]"]),
        ({"id": "x", "either": 3.5}, ["either"]),
        (
            {"pets": [{"kind": "cat", "lives": 0}, {"kind": "dog", "nam": "x"}, {"kind": "catt"}, {}, 3]},
            ["id", "pets[0].lives", "pets[1].nam", "pets[2].kind", "pets[3].kind", "pets[4]"],
        ),
    ],
)
def test_every_place_is_named_whatever_else_is_wrong(value: Any, places: list[str]) -> None:
    assert [shown_field(each.path) for each in violations_of(value, Full)] == places


def test_an_unknown_kind_lists_the_kinds() -> None:
    (violation,) = violations_of({"id": "x", "pets": [{"kind": "catt"}]}, Full)
    assert str(violation.remedy) == "Did you mean cat? Known: cat, dog."


class Strict(msgspec.Struct, forbid_unknown_fields=True):
    """A record like those of gates.yaml: one field is required, and others are refused."""

    threshold: str
    severity: str = "critical"


@pytest.mark.parametrize(
    ("text", "problems"),
    [
        ("treshold: x", ["treshold: is not a known field. Did you mean threshold?"]),
        ("threshold: x\nseverty: y", ["severty: is not a known field. Did you mean severity?"]),
        ("trheshlod: x", ["trheshlod: is not a known field. Did you mean threshold?"]),
        ("severity: y", ["threshold: is missing. Add it."]),
        ("threshold: x\nother: y", ["other: is not a known field. Known: threshold, severity."]),
        (
            "treshold: x\nother: y",
            [
                "treshold: is not a known field. Did you mean threshold?",
                "other: is not a known field. Known: threshold, severity.",
            ],
        ),
        (
            "threshold: 3\nseverty: y",
            ["threshold: Expected 'str', got 'int'. Correct the value.", "severty:"],
        ),
    ],
)
def test_one_typo_is_one_problem(tmp_path: Path, text: str, problems: list[str]) -> None:
    path, found = tmp_path / "x.yaml", Problems()
    path.write_text(text)
    assert read_yaml(path, Strict, found) is None
    assert len(list(found)) == len(problems)
    for problem, told in zip(found, problems, strict=True):
        assert told in str(problem)


Size = Literal["small", "large"]


class Box(msgspec.Struct):
    size: Size
    other: Size | None = None
    many: list[Annotated[Size, "of all"]] = []
    named: dict[str, Size] = {}
    number: Literal[1, 2] = 1


@pytest.mark.parametrize(
    ("value", "field", "remedy"),
    [
        ({"size": "lagre"}, "size", "Did you mean large? Known: small, large."),
        ({"size": "small", "other": "huge"}, "other", "Known: small, large."),
        ({"size": "small", "many": ["large", "x"]}, "many[1]", "Known: small, large."),
        ({"size": "small", "named": {"a": "x"}}, "named.a", "Known: small, large."),
        ({"size": "small", "number": 3}, "number", "Known: 1, 2."),
    ],
)
def test_a_value_that_is_not_known_is_named_with_those_that_are(
    value: dict[str, Any], field: str, remedy: str
) -> None:
    (found,) = violations_of(value, Box)
    assert (shown_field(found.path), found.remedy) == (field, remedy)
    assert found.message.endswith(" is not known")
