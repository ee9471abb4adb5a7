"""Whether a claim states what its question asks for: no cut numbers, and every part of the question."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from eval_pipeline.suites.grounded_qa.cases import GroundedExpected
from eval_pipeline.suites.grounded_qa.claims import states


def expected(*substrings: str, **more: Any) -> GroundedExpected:
    return msgspec.convert(
        {"answerable": True, "gold_claim_substr": list(substrings), **more}, GroundedExpected
    )


@pytest.mark.parametrize(
    ("substring", "claim", "stated"),
    [
        ("9 euros", "it costs 9 euros", True),
        ("9 euros", "it costs 19 euros", False),
        ("9 euros", "it costs 1.9 euros", False),
        ("9 euros", "it costs 1,9 euros", False),
        ("9 euros", "19 euros, or 9 euros with a card", True),
        ("900 euros", "it costs 1 900 euros", False),
        ("costs 12", "it costs 120 euros", False),
        ("costs 12", "it costs 12.5 euros", False),
        ("costs 12", "it costs 12, all told", True),
        ("costs 12", "it costs 12.", True),
        ("six pods", "it holds six pods", True),
        ("six pods", "it holds thirty-six pods", False),
        ("six pods", "it holds twenty six pods", False),
        ("six pods", "it holds a hundred and six pods", False),
        ("holds six", "it holds sixteen pods", False),
        ("holds six", "it holds six hundred pods", False),
        ("one year", "in week thirty one year begins", False),
        ("two years", "between one and two years", True),
        ("the tenth", "in the tenth week", True),
        ("plain words", "some plain words here", True),
        ("６ pods", "6 pods fit", True),
        ("9  EUROS", "it costs 9\n euros", True),
    ],
)
def test_a_match_never_cuts_a_number(substring: str, claim: str, stated: bool) -> None:
    assert states(claim, expected(substring)) is stated


def test_one_of_each_part_must_be_there() -> None:
    parts = expected(all_of=[["30 days", "thirty days"], ["14 days", "two weeks"]])
    assert states("a garden within thirty days, pods within 14 days", parts)
    assert not states("a garden within thirty days", parts)
    assert not states("pods within two weeks, or 14 days", parts)
    # Beside parts, one of the plain substrings is wanted as before.
    both = expected("of delivery", all_of=[["30 days"], ["14 days"]])
    assert not states("30 days and 14 days", both)
    assert states("30 days and 14 days of delivery", both)


def test_any_claim_will_do_where_nothing_is_asked_for() -> None:
    assert states("whatever", expected())


PASSAGES = [
    "A Nook holds six pods. No alerts are sent before seven, and blank pods without seeds cost 9 euros."
]


@pytest.mark.parametrize(
    ("substring", "claim", "stated"),
    [
        ("six pods", "a nook holds six pods", True),
        ("six pods", "six pods", True),
        ("six pods", "not six pods", False),
        ("six pods", "a nook does not hold six pods", False),
        ("six pods", "a nook doesn't hold six pods", False),
        ("six pods", "a nook never holds six pods", False),
        ("six pods", "it is false that a nook, however small, holds six pods", False),
        ("six pods", "that it holds six pods is not true", False),
        ("six pods", "it holds neither a lamp nor six pods", False),
        # A denial of something else, or of nothing, does not touch it.
        ("six pods", "no, a nook holds six pods", True),
        ("six pods", "a nook holds no more than six pods", True),
        ("six pods", "a nook holds not only soil but six pods", True),
        ("six pods", "if it is not full, a nook holds six pods", True),
        ("six pods", "a nook holds six pods without soil", True),
        ("six pods", "it is not false that a nook holds six pods", True),
        # Said once plainly, it is said.
        ("six pods", "a nook holds six pods and not, as some say, six pods and a half", True),
        # What the passage denies may be denied, by whoever denies the same.
        ("before seven", "no alerts are sent before seven", True),
        ("before seven", "alerts are not sent before seven", True),
        ("before seven", "before seven", True),
        ("before seven", "not before seven", False),
        ("9 euros", "blank pods cost 9 euros", True),
        ("9 euros", "blank pods do not cost 9 euros", False),
        # Words that no passage has may be another way to say what one denies.
        ("silent until 7", "alerts are not silent until 7", True),
    ],
)
def test_a_denial_turns_the_answer_around_unless_the_passage_denies(
    substring: str, claim: str, stated: bool
) -> None:
    assert states(claim, expected(substring), PASSAGES) is stated
    # Without the passages nobody can tell: a substring is a substring.
    assert states(claim, expected(substring))


@given(st.integers(0, 10**6), st.integers(0, 10**6))
def test_only_the_number_itself_states_it(wanted: int, given_number: int) -> None:
    said = expected(f"{wanted} euros")
    assert states(f"it costs {given_number} euros.", said) is (wanted == given_number)
