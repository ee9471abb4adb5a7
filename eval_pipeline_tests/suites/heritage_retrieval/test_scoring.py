"""Retrieval as a suite: what counts, what is left out, what errors cost, and what each source contributes."""

from __future__ import annotations

import random
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from eval_pipeline.answers import Answer
from eval_pipeline.golden import GoldenCase
from eval_pipeline.scoring import case_results, score_cases, summarize
from eval_pipeline.suite import Case, Context
from eval_pipeline.suites.heritage_retrieval import SUITE
from eval_pipeline.suites.heritage_retrieval.cases import RetrievalExpected, RetrievalInput
from eval_pipeline.suites.heritage_retrieval.scoring import METRICS, has_relevant
from eval_pipeline.suites.heritage_retrieval.trec import Result, best_results
from eval_pipeline_tests.sources import Recorded, golden, values

JUDGED = {"a": 3, "b": 2, "c": 1, "z": 0}


def query(name: str, judgments: dict[str, int], **attributes: str) -> GoldenCase:
    """A golden case."""
    return golden(Case(name, RetrievalInput("?", "en"), RetrievalExpected(judgments), attributes))


def results(*rows: tuple[Any, ...]) -> dict[str, Any]:
    """An output from rows of document, score and source."""
    return {"results": [dict(zip(("doc_id", "score", "source"), row, strict=False)) for row in rows]}


def scored(output: Any, judgments: dict[str, int] | None = None) -> dict[str, float | None]:
    """The metrics of one query."""
    return values(SUITE, [query("q", judgments or JUDGED)], {"q": output})


def test_the_best_order_is_perfect_and_no_other_is() -> None:
    best = scored(results(("a",), ("b",), ("c",)))
    assert (best["ndcg@10"], best["recall@10"], best["mrr"]) == (1.0, 1.0, 1.0)
    assert best["precision@10"] == pytest.approx(0.3)
    worse = scored(results(("c",), ("b",), ("a",)))["ndcg@10"]
    assert worse is not None
    assert worse < 1


def test_scores_decide_the_order_and_ties_fall_as_in_trec_eval() -> None:
    assert scored(results(("a", 0.1), ("z", 0.9)))["mrr"] == 0.5
    assert scored(results(("a", 0.5), ("z", 0.5)))["mrr"] == 0.5
    assert scored(results(("c", 0.5), ("b", 0.5), ("a", 0.5)))["ndcg@5"] == pytest.approx(
        scored(results(("c",), ("b",), ("a",)))["ndcg@5"]
    )
    assert scored(results(("z",), ("a",)))["mrr"] == 0.5


def test_duplicates_are_dropped_and_counted() -> None:
    found = scored(results(("a", 0.9), ("a", 0.8), ("a", 0.7), ("b", 0.1)))
    assert found["precision@5"] == pytest.approx(0.4)
    assert found["duplicate_rate"] == 0.5


def test_a_query_without_relevant_documents_is_left_out_and_counted() -> None:
    """Recall 1 for such a query would lift the mean."""
    cases = [query("good", JUDGED), query("empty", {"a": 0})]
    answers = {"good": results(("z",), ("a",)), "empty": results(("a",))}
    found = values(SUITE, cases, answers)
    assert found["queries_left_out"] == 1
    assert found["mrr"] == 0.5
    assert found["recall@5"] == pytest.approx(1 / 3)
    assert values(SUITE, cases, {"good": answers["good"]})["mrr"] == 0.5
    repeated = {**answers, "empty": results(("a",), ("a",), ("unseen",))}
    measured = values(SUITE, cases, repeated)
    assert (measured["case_pass_rate"], measured["judged@10"], measured["duplicate_rate"]) == (1.0, 1.0, 0.0)
    scores = score_cases(SUITE, cases, Recorded(repeated), Context())
    assert [each.case_id for each in case_results(SUITE, scores)] == ["good"]


def test_a_repeated_document_keeps_its_first_source() -> None:
    given = [Result("a", None, "z"), Result("a", None, "b"), Result("c", 1.0, "z"), Result("c", 1.0, "b")]
    assert {name: each.source for name, each in best_results(given).items()} == {"a": "z", "c": "z"}
    assert best_results([Result("a", 1.0, "low"), Result("a", 2.0, "high")])["a"].source == "high"


def test_nothing_retrieved_scores_zero() -> None:
    found = scored(results())
    assert found["ndcg@10"] == 0.0
    assert found["judged@10"] is None
    assert found["duplicate_rate"] is None


def test_results_that_nobody_judged_are_counted() -> None:
    assert scored(results(("a",), ("unseen",)))["judged@10"] == 0.5


@pytest.mark.parametrize(
    "output",
    [
        None,
        {"results": "a"},
        {"results": [{"doc_id": 7}]},
        {"results": [{"score": 1.0}]},
        {"results": [{"doc_id": "a", "score": "high"}]},
        Answer("q", 1, '{"results": [{"doc_id": "a", "score": NaN}]}'),
        Answer("q", 1, error="timeout"),
    ],
)
def test_what_breaks_the_contract_is_an_error(output: Any) -> None:
    found = scored(output)
    assert found["error_rate"] == 1.0
    worst = {metric.name: found[metric.name] for metric in METRICS if metric.population is has_relevant}
    assert worst.pop("duplicate_rate") is None
    assert set(worst.values()) == {0.0}


def test_hostile_ids_are_only_ids() -> None:
    odd = "{{ 7*7 }} <script>\u202e\U0001f600"
    assert scored(results((odd,), ("a",)), {odd: 1, "a": 3})["recall@5"] == 1.0


SOURCES = {
    "q1": results(("a", 3, "dense"), ("b", 2, "bm25"), ("z", 1, "bm25")),
    "q2": results(("z", 2), ("a", 1, "dense")),
}


def test_sources_are_analysed_over_the_results_there_are() -> None:
    """Shares of fifty places that nobody filled would make every source look small."""
    cases = [query("q1", JUDGED), query("q2", JUDGED)]
    scores = score_cases(SUITE, cases, Recorded(SOURCES), Context())
    rows = {row["source"]: row for row in summarize(SUITE, scores, {}).tables["sources"]}
    assert rows["bm25"] == {
        "source": "bm25",
        "results": 2,
        "share": pytest.approx(2 / 5),
        "top1": 0.0,
        "top5": pytest.approx(2 / 5),
        "relevant": 0.5,
    }
    assert (rows["dense"]["results"], rows["dense"]["top1"], rows["dense"]["relevant"]) == (2, 0.5, 1.0)
    assert rows["unknown"]["top1"] == 0.5


def test_the_source_of_a_repeated_document_does_not_depend_on_order() -> None:
    rows = [("a", 0.2, "bm25"), ("a", 0.9, "dense")]
    tables = [
        summarize(
            SUITE, score_cases(SUITE, [query("q", JUDGED)], Recorded({"q": results(*order)}), Context()), {}
        ).tables
        for order in (rows, rows[::-1])
    ]
    assert tables[0] == tables[1]
    assert [row["source"] for row in tables[0]["sources"]] == ["dense"]


def test_diagnoses_name_what_was_missed() -> None:
    scores = score_cases(SUITE, [query("q", JUDGED)], Recorded({"q": results(("z",), ("b",))}), Context())
    rows = [(row["kind"], row["expected"], row["got"]) for row in scores.diagnoses.to_pylist()]
    assert rows == [
        ("missed_document", "a (grade 3)", "not retrieved"),
        ("irrelevant_first", "", "z (not relevant)"),
    ]


IDS = st.sampled_from("abcxyz")
ROWS = st.lists(st.tuples(IDS, st.sampled_from([0.1, 0.2, 0.3]), st.sampled_from(["s", "t"])), max_size=8)
GATED = [
    name
    for name in (metric.name for metric in METRICS)
    if name.startswith(("ndcg", "precision", "recall", "mrr"))
]


@settings(max_examples=30, deadline=None)
@given(ROWS, st.randoms(use_true_random=False))
def test_scored_results_may_stand_in_any_order(
    rows: list[tuple[str, float, str]], random_: random.Random
) -> None:
    assert scored(results(*rows)) == scored(results(*random_.sample(rows, len(rows))))


@settings(max_examples=30, deadline=None)
@given(ROWS, ROWS)
def test_an_error_never_pays(
    first: list[tuple[str, float, str]], second: list[tuple[str, float, str]]
) -> None:
    cases = [query("p", JUDGED), query("q", {"x": 2, "a": 0})]
    both = values(SUITE, cases, {"p": results(*first), "q": results(*second)})
    broken = values(SUITE, cases, {"p": results(*first)})
    for name in GATED:
        before, after = both[name], broken[name]
        assert before is not None
        assert after is not None
        assert after <= before + 1e-12
