"""Rankings: their order, the measures of retrieval by hand, and pytrec_eval-terrier as an oracle."""

from __future__ import annotations

import math
import random

import numpy as np
import pytest
import pytrec_eval
from hypothesis import given, settings
from hypothesis import strategies as st

from eval_pipeline.metrics.ranking import Hit, Ties, hits, ranked, reciprocal_rank, retrieval_measures

DEPTHS = (5, 10, 20)
Scores = list[float | None]


@pytest.mark.parametrize(
    ("ids", "scores", "ties", "expected"),
    [
        (["a", "b", "c"], [0.1, 0.3, 0.2], "ascending", ["b", "c", "a"]),
        (["a", "b", "c"], [0.5, 0.5, 0.5], "ascending", ["a", "b", "c"]),
        (["a", "b", "c"], [0.5, 0.5, 0.5], "descending", ["c", "b", "a"]),
        (["b", "c", "a"], [None, None, None], "descending", ["b", "c", "a"]),
        (["b", "c", "a", "b"], [None, None, None, None], "ascending", ["b", "c", "a"]),
        (["a", "b", "a"], [0.1, 0.3, 0.5], "ascending", ["a", "b"]),
        (["x", "a", "y", "b"], [None, 0.1, None, 0.2], "ascending", ["b", "a", "x", "y"]),
        (["x", "a", "x"], [None, 0.1, 0.2], "ascending", ["x", "a"]),
        ([], [], "ascending", []),
        (["a", "b"], [-0.0, 0.0], "descending", ["b", "a"]),
    ],
)
def test_order(ids: list[str], scores: Scores, ties: Ties, expected: list[str]) -> None:
    assert ranked(ids, scores, ties) == expected


def test_reciprocal_rank() -> None:
    assert reciprocal_rank(["a", "b"], "b") == 0.5
    assert reciprocal_rank(["a", "b"], "c") == 0.0


def measured(ids: list[str], judged: dict[str, int]) -> dict[str, float]:
    """The measures of one query whose results stand in their order."""
    values = retrieval_measures([hits(ids, [None] * len(ids), judged)], [judged], DEPTHS)
    return {name: float(value[0]) for name, value in values.items()}


def test_a_worked_example() -> None:
    """Grades 3, 0, 1 are retrieved; one of grade 2 is not."""
    found = measured(["a", "b", "c"], {"a": 3, "b": 0, "c": 1, "d": 2})
    ideal = 7 + 3 / math.log2(3) + 1 / 2
    assert found["ndcg@5"] == pytest.approx((7 + 1 / 2) / ideal)
    assert found["precision@5"] == pytest.approx(2 / 5)
    assert found["recall@5"] == pytest.approx(2 / 3)
    assert found["mrr"] == 1.0


def test_the_ideal_comes_from_all_judged_documents_not_only_the_retrieved_ones() -> None:
    """An ideal taken from the results alone calls one of ten relevant documents a perfect ranking."""
    judged = {f"d{number}": 1 for number in range(10)}
    ideal = sum(1 / math.log2(rank + 1) for rank in range(1, 11))
    assert measured(["d0"], judged)["ndcg@10"] == pytest.approx(1 / ideal)


def test_precision_divides_by_k_however_few_were_retrieved() -> None:
    assert measured(["a"], {"a": 1})["precision@10"] == pytest.approx(0.1)


def test_recall_without_relevant_documents_is_undefined_and_not_one() -> None:
    found = measured(["a"], {"a": 0, "b": -1})
    assert all(math.isnan(value) for value in found.values())


def test_a_grade_below_zero_gains_nothing() -> None:
    assert measured(["junk", "a"], {"junk": -2, "a": 1}) == measured(["other", "a"], {"junk": 0, "a": 1})


def test_nothing_retrieved_scores_zero_and_no_query_gives_no_value() -> None:
    assert set(measured([], {"a": 1}).values()) == {0.0}
    assert all(values.shape == (0,) for values in retrieval_measures([], [], DEPTHS).values())


IDS = st.sampled_from([f"d{number}" for number in range(12)])
SCORES = st.sampled_from([0.0, 0.25, 0.5])
RESULTS = st.lists(st.tuples(IDS, st.none() | SCORES), max_size=25) | st.lists(
    st.tuples(IDS, SCORES), unique_by=lambda pair: pair[0]
)
JUDGED = st.dictionaries(IDS, st.integers(-2, 3), max_size=10)


@settings(deadline=None)
@given(RESULTS, JUDGED)
def test_hits_are_where_the_ranking_has_them(
    results: list[tuple[str, float | None]], judged: dict[str, int]
) -> None:
    ids, scores = [each for each, _ in results], [score for _, score in results]
    order = ranked(ids, scores, "descending")
    wanted = [Hit(rank, judged[each]) for rank, each in enumerate(order, 1) if judged.get(each, 0) >= 1]
    assert hits(ids, scores, judged) == wanted


@settings(deadline=None)
@given(RESULTS, JUDGED, st.randoms(use_true_random=False))
def test_scored_results_may_stand_in_any_order(
    results: list[tuple[str, float | None]], judged: dict[str, int], random_: random.Random
) -> None:
    scored = [(each, score) for each, score in results if score is not None]
    shuffled = random_.sample(scored, len(scored))
    first, second = (
        hits([each for each, _ in pairs], [score for _, score in pairs], judged)
        for pairs in (scored, shuffled)
    )
    assert first == second


@settings(deadline=None)
@given(st.lists(st.tuples(RESULTS, JUDGED), max_size=5))
def test_measures_lie_between_zero_and_one_or_are_undefined(
    queries: list[tuple[list[tuple[str, float | None]], dict[str, int]]],
) -> None:
    judgments = [judged for _, judged in queries]
    found = [hits([i for i, _ in results], [s for _, s in results], judged) for results, judged in queries]
    undefined = [not any(grade >= 1 for grade in judged.values()) for judged in judgments]
    for values in retrieval_measures(found, judgments, DEPTHS).values():
        assert np.isnan(values).tolist() == undefined
        assert np.all((values >= 0) & (values <= 1 + 1e-12) | np.isnan(values))


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 2**32))
def test_values_are_those_of_pytrec_eval(seed: int) -> None:
    """Binary grades, so that both mean the same by gain; few distinct scores, so that ties abound."""
    random_ = random.Random(seed)
    run: dict[str, dict[str, float]] = {}
    judgments: dict[str, dict[str, int]] = {}
    for number in range(5):
        documents = [f"é{each}" if each % 7 == 0 else f"d{each}" for each in range(40)]
        found = random_.sample(documents, random_.randrange(1, 40))
        run[f"q{number}"] = {each: random_.randrange(6) / 4 for each in found}
        judged = {each: random_.randrange(2) for each in random_.sample(documents, 12)}
        judgments[f"q{number}"] = {**judged, documents[0]: 1}
    names = {f"{name}.5,10,20" for name in ("ndcg_cut", "P", "recall")} | {"recip_rank"}
    oracle = pytrec_eval.RelevanceEvaluator(judgments, names).evaluate(run)
    measures = retrieval_measures(
        [hits(list(run[query]), list(run[query].values()), judgments[query]) for query in run],
        [judgments[query] for query in run],
        DEPTHS,
    )
    pairs = {"mrr": "recip_rank"} | {
        f"{ours}@{depth}": f"{theirs}_{depth}"
        for ours, theirs in (("ndcg", "ndcg_cut"), ("precision", "P"), ("recall", "recall"))
        for depth in DEPTHS
    }
    for ours, theirs in pairs.items():
        assert measures[ours].tolist() == pytest.approx([oracle[query][theirs] for query in run])
