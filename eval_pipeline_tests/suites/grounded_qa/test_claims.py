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


@given(st.integers(0, 10**6), st.integers(0, 10**6))
def test_only_the_number_itself_states_it(wanted: int, given_number: int) -> None:
    said = expected(f"{wanted} euros")
    assert states(f"it costs {given_number} euros.", said) is (wanted == given_number)
