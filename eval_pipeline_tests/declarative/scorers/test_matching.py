"""Replies that are something, or contain it: tables worked by hand, rapidfuzz, and cheats."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from eval_pipeline.declarative.cells import Unusable
from eval_pipeline.declarative.scorers.base import Scorer
from eval_pipeline.language import patterns
from eval_pipeline.problems import BadInput
from eval_pipeline_tests.declaring import kind_of, passes, scorer, value

ROW = {"want": "Paris", "several": "red, green", "listed": ["red", "green"], "number": "1,234.5"}
LABELS = {"kind": "label", "of": ["Billing", "Bug report", "Bug"]}


@pytest.mark.parametrize(
    ("entry", "output", "kind", "expected"),
    [
        ({"equals": "{{ want }}"}, "Paris", "text", 1),
        ({"equals": "{{ want }}"}, " Paris\n", "text", 1),
        ({"equals": "{{ want }}"}, "paris", "text", 0),
        ({"equals": "{{ want }}", "ignore": ["case"]}, "PARIS", "text", 1),
        ({"equals": "{{ want }}", "exact": True}, "Paris ", "text", 0),
        ({"equals": "{{ want }}"}, "Paris.", "text", 0),
        ({"equals": "{{ want }}", "ignore": ["punctuation"]}, "Paris.", "text", 1),
        ({"equals": "café"}, "cafe", "text", 0),
        ({"equals": "café", "ignore": ["accents"]}, "cafe", "text", 1),
        ({"equals": "café"}, "cafe\u0301", "text", 1),
        ({"equals": "{{ number }}"}, "1234.5", "number", 1),
        ({"equals": "{{ number }}"}, "The total is 1,234.50 dollars", "number", 1),
        ({"equals": "{{ number }}"}, "1234", "number", 0),
        ({"equals": "{{ number }}", "tolerance": 0.5}, "1234", "number", 1),
        ({"equals": "{{ number }}", "tolerance": 0.4}, "1234", "number", 0),
        ({"equals": "{{ number }}", "relative_tolerance": 0.01}, "1240", "number", 1),
        ({"equals": 7}, "7.0", "number", 1),
        ({"equals": "bug"}, "Bug", LABELS, 1),
        ({"equals": "bug"}, "It is a bug report", LABELS, 0),
        ({"equals": "bug report"}, "It is a bug report", LABELS, 1),
        ({"equals": "{{ several }}"}, '["red", "green"]', "list", 1),
        ({"equals": "{{ several }}"}, "green, red", "list", 0),
        ({"equals": "{{ listed }}"}, "- red\n- green", "list", 1),
        ({"equals": "{{ several }}"}, "green, red", {"kind": "labels", "of": ["red", "green", "blue"]}, 1),
        ({"equals": '{"a": [1, true]}'}, {"a": [1.0, True]}, "json", 1),
        ({"equals": '{"a": [1, true]}'}, {"a": [1, 1]}, "json", 0),
        ({"equals": '{"a": 1}'}, {"a": 1, "b": 2}, "json", 0),
        ({"one_of": "{{ several }}"}, "green", "text", 1),
        ({"one_of": ["red", "{{ want }}"]}, "Paris", "text", 1),
        ({"one_of": "{{ several }}"}, "blue", "text", 0),
        ({"one_of": "1, 2"}, "2.0", "number", 1),
        ({"one_of": "bug, billing"}, "BILLING", LABELS, 1),
        ({"contains": "{{ want }}"}, "It is Paris, of course.", "text", 1),
        ({"contains": "{{ want }}"}, "It is paris", "text", 0),
        ({"contains": "{{ want }}", "ignore": ["case"]}, "it is PARIS", "text", 1),
        ({"contains": "in {{ want }}!"}, "I live in  Paris!", "text", 1),
        ({"contains_all": "{{ several }}"}, "green and red", "text", 1),
        ({"contains_all": "{{ several }}"}, "green", "text", 0.5),
        ({"contains_any": "{{ listed }}"}, "green", "text", 1),
        ({"contains_any": "{{ listed }}"}, "blue", "text", 0),
        ({"contains_any": '["a, b", "c"]'}, "a, b", "text", 1),
        ({"contains_any": '"a, b", c'}, "a", "text", 0),
        ({"not_contains": "{{ several }}"}, "blue", "text", 1),
        ({"not_contains": "{{ several }}"}, "infrared", "text", 0),
        ({"starts_with": "{{ want }}"}, "Paris it is", "text", 1),
        ({"starts_with": "{{ want }}"}, "It is Paris", "text", 0),
        ({"regex": r"\bpar\w+"}, "It is PARIS", "text", 1),
        ({"regex": r"^\d+$"}, "no digits", "text", 0),
        ({"levenshtein": "kitten"}, "sitting", "text", 1 - 3 / 7),
        ({"levenshtein": "kitten", "at_most": 3}, "sitting", "text", 1),
        ({"levenshtein": "kitten", "at_most": 2}, "sitting", "text", 0),
    ],
)
def test_worked_by_hand(entry: dict[str, Any], output: Any, kind: Any, expected: float) -> None:
    assert value(entry, ROW, output, kind) == pytest.approx(expected)


@pytest.mark.parametrize(
    ("entry", "kind"),
    [
        ({"equals": "{{ gone }}"}, "text"),
        ({"equals": " "}, "text"),
        ({"contains": "{{ blank }}"}, "text"),
        ({"contains_all": []}, "text"),
        ({"contains_any": "{{ empty }}"}, "text"),
        ({"not_contains": "{{ blank }}"}, "text"),
        ({"equals": "{{ want }}"}, "number"),
        ({"equals": "{{ want }}"}, "json"),
        ({"equals": "{{ want }}"}, LABELS),
        ({"one_of": "bug, crash"}, LABELS),
        ({"regex": "("}, "text"),
        ({"regex": "x*"}, "text"),
        ({"regex": "(a{9999}){9999}"}, "text"),
        ({"equals": "[1, "}, "list"),
    ],
)
def test_nothing_is_expected_of_nothing(entry: dict[str, Any], kind: Any) -> None:
    row = {"want": "Paris", "blank": " ", "empty": []}
    with pytest.raises(Unusable):
        scorer(entry).wanted(row, kind_of(kind))


def test_an_optional_score_does_not_apply_to_a_blank_cell() -> None:
    entry = {"contains": "{{ want }}", "optional": True}
    assert value(entry, {"want": ""}, "anything") is None
    assert not passes(entry, {"want": ""}, "anything")
    assert value(entry, {"want": "x"}, "anything") == 0


def test_a_slow_pattern_is_bad_input_and_no_value(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(patterns, "MOST_SECONDS", 0.05)
    with pytest.raises(BadInput, match=r"case 0: the pattern .* was stopped after"):
        value({"regex": r"(x+x+)+y"}, {}, "x" * 5000)


TEXTS = st.text(alphabet="abcäß ", max_size=12)


@given(TEXTS.filter(str.strip), TEXTS)
def test_levenshtein_agrees_with_the_definition(expected: str, output: str) -> None:
    one, other = " ".join(output.split()), " ".join(expected.split())
    rows = list(range(len(other) + 1))
    for i, left in enumerate(one, 1):
        previous, rows[0] = rows[0], i
        for j, right in enumerate(other, 1):
            previous, rows[j] = rows[j], min(rows[j] + 1, rows[j - 1] + 1, previous + (left != right))
    longest = max(len(one), len(other))
    assert value({"levenshtein": expected}, {}, output) == pytest.approx(
        1 - rows[-1] / longest if longest else 1
    )


@given(TEXTS.filter(str.strip), TEXTS)
def test_contains_agrees_with_python(needle: str, output: str) -> None:
    expected = " ".join(needle.split()) in " ".join(output.split())
    assert value({"contains": needle}, {}, output) == expected
    assert value({"contains_all": [needle, needle]}, {}, output) == expected
    assert value({"not_contains": [needle]}, {}, output) == (not expected)


CHEATS = {
    "empty": " ",
    "echo": "What is the capital of France?",
    "everything at once": "Berlin, London, Madrid, Paris, Rome",
    "negated": "not Paris",
    "shuffled": "siraP",
    "padded": "Paris " * 100,
}
REWARDED = {
    "equals": set(),
    "one_of": set(),
    "starts_with": {"padded"},
    "levenshtein": set(),
    "contains": {"everything at once", "negated", "padded"},
    "contains_all": {"everything at once", "negated", "padded"},
    "contains_any": {"everything at once", "negated", "padded"},
    "regex": {"everything at once", "negated", "padded"},
}


@pytest.mark.parametrize("name", REWARDED)
def test_cheats(name: str) -> None:
    """Scorers that look for a text reward whoever says everything; that is what `length` is for."""
    assert {cheat for cheat, text in CHEATS.items() if passes({name: "Paris"}, {}, text)} == REWARDED[name]


def test_every_scorer_says_what_it_means() -> None:
    def below(kind: type[Scorer]) -> list[type[Scorer]]:
        return [kind, *(each for child in kind.__subclasses__() for each in below(child))]

    named = [each for each in below(Scorer) if each.key]
    assert len(named) >= 25
    assert all(each.about and each.__doc__ for each in named if each.key != "is-json")
