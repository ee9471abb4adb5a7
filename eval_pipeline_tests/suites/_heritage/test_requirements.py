"""Guards against templates: texts that are alike are named, and no shipped golden set has any."""

from __future__ import annotations

from collections import Counter
from itertools import combinations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from eval_pipeline.golden import GoldenSet
from eval_pipeline.loading import family
from eval_pipeline.problems import Problems
from eval_pipeline.project import Project
from eval_pipeline.suite import Overview
from eval_pipeline.suites import find_suite
from eval_pipeline.suites._heritage.requirements import MOST_ALIKE, alike, variety

PROJECT = Project.find()
NINE = "one two three four five six seven eight nine"


def dice(first: str, second: str) -> float:
    """As it is defined, pair by pair."""
    one, other = Counter(first.split()), Counter(second.split())
    return 2 * (one & other).total() / (one.total() + other.total())


@given(
    st.lists(st.lists(st.sampled_from("abcdef"), min_size=1, max_size=12).map(" ".join), max_size=12),
    st.sampled_from([0.5, 0.7, 0.9]),
)
def test_no_pair_that_is_alike_is_overlooked(texts: list[str], least: float) -> None:
    named = {str(place): text for place, text in enumerate(texts)}
    wanted = {pair for pair in combinations(named, 2) if dice(*(named[each] for each in pair)) > least}
    assert {(first, second) for first, second, _ in alike(named, least)} == wanted


@pytest.mark.parametrize(
    ("second", "is_alike"),
    [
        (NINE, True),
        (NINE.upper().replace(" ", ", "), True),
        (f"{NINE} ten", True),
        (f"{NINE} ten eleven", False),
        (f"{NINE} {NINE}", False),
    ],
)
def test_texts_are_alike_by_words_each_as_often_as_it_stands(second: str, is_alike: bool) -> None:
    overview = Overview(["a", "b"], ["a", "b"], {"hard": ["", "ocr"]}, {"text": [NINE, second]})
    requirement = variety()
    assert bool(requirement.shortfalls(overview)) == is_alike
    assert requirement.facts is not None
    lengths, openings, hard = requirement.facts(overview)
    assert lengths.startswith("9 to ")
    assert openings == "1 opening of 3 words in 2 texts; most often “one two three” 2"
    assert hard == "1 of 2 texts hard on purpose; most often ocr 1"


@pytest.mark.parametrize("name", family(PROJECT, "heritage"))
def test_no_two_texts_of_a_shipped_golden_set_are_alike(name: str) -> None:
    suite = find_suite(PROJECT, name)
    problems = Problems()
    golden = GoldenSet(suite, PROJECT.golden(name), problems)
    assert not problems
    texts = {each.case.id: suite.measure(each.case)["text"] for each in golden.read()}  # type: ignore[misc]
    assert len(texts) > 10
    assert alike(texts, MOST_ALIKE) == []
    assert "variety" in {requirement.name for requirement in suite.requirements}
