"""Settings and parameters of suites: their problems in the words of all configuration."""

from __future__ import annotations

from typing import Annotated, Any, Literal

import msgspec
import pytest

from eval_pipeline.files.structs import mismatches


class Inner(msgspec.Struct, forbid_unknown_fields=True):
    mode: Literal["fast", "slow"] = "fast"


class Settings(msgspec.Struct, forbid_unknown_fields=True):
    k: Annotated[int, msgspec.Meta(ge=1, le=9)] = 5
    share: Annotated[float, msgspec.Meta(gt=0)] = 0.5
    name: str = ""
    flag: bool = False
    layers: tuple[Literal["A", "B"], ...] = ("A",)
    inner: Inner | None = None
    named: dict[str, Inner] = {}


class Nothing(msgspec.Struct, forbid_unknown_fields=True):
    pass


@pytest.mark.parametrize(
    ("value", "problems"),
    [
        ({}, []),
        (
            {"k": 0, "share": 0},
            ["k: is less than 1. Write 1 or more.", "share: is not more than 0. Write more than 0."],
        ),
        (
            {"k": 10, "name": 3},
            ["k: is more than 9. Write 9 or less.", "name: is a whole number, not a text. Put it in quotes."],
        ),
        (
            {"k": "3", "flag": "x"},
            [
                "k: is a text, not a whole number. Write a whole number, without quotes.",
                "flag: is a text, not true or false. Write true or false, without quotes.",
            ],
        ),
        ({"layers": ["A", "C"]}, ["layers.1: 'C' is not a choice. Choices: A, B."]),
        (
            {"inner": {"mode": "slw"}},
            ["inner.mode: 'slw' is not a choice. Did you mean slow? Choices: fast, slow."],
        ),
        (
            {"named": {"a": {"mode": "none"}, "b": 3}},
            [
                "named.a.mode: 'none' is not a choice. Choices: fast, slow.",
                "named.b: is a whole number, not a set of fields. Write name: value on lines below it.",
            ],
        ),
        ({"shar": 1}, ["shar: is not a known field. Did you mean share?"]),
        ({"colour": 1}, ["colour: is not a known field. Known: k, share, name, flag, layers, inner, named."]),
        ([1], [": is a list, not a set of fields. Write name: value on lines below it."]),
    ],
)
def test_every_problem_in_plain_words(value: Any, problems: list[str]) -> None:
    found = [
        f"{'.'.join(map(str, each.path))}: {each.message}. {each.remedy}"
        for each in mismatches(value, Settings)
    ]
    assert found == problems


def test_a_suite_without_settings_says_so() -> None:
    (violation,) = mismatches({"k": 1}, Nothing)
    assert (violation.path, violation.remedy) == (("k",), "There is none; remove it.")
