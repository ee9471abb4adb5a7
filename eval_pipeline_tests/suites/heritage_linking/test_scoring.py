"""Linking metrics: small tables by hand, each rule, and properties that hold for any output."""

from __future__ import annotations

import random
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from eval_pipeline.answers import Answer
from eval_pipeline.golden import GoldenCase
from eval_pipeline.scoring import score_cases, summarize
from eval_pipeline.suite import Case, Context
from eval_pipeline.suites.heritage_linking import SUITE
from eval_pipeline.suites.heritage_linking.cases import GoldLink, LinkingExpected, LinkingInput, Mention
from eval_pipeline.suites.heritage_linking.scoring import METRICS
from eval_pipeline_tests.sources import Recorded, golden, values

GOLD: dict[str, tuple[str | None, str | None]] = {
    "m1": ("K1", "V1"),
    "m2": ("K2", None),
    "m3": (None, None),
}


def text(name: str, gold: dict[str, tuple[str | None, str | None]]) -> GoldenCase:
    """A golden case: every mention has the same name, so that only its id can tell it apart."""
    links = {
        each: GoldLink("Museum", kb, viaf, None, "nil" if kb is None else "")
        for each, (kb, viaf) in gold.items()
    }
    mentions = [Mention(each, "Museum", 0) for each in gold]
    return golden(Case(name, LinkingInput("Museum", "en", mentions), LinkingExpected(links)))


def mention(name: str, *kb_ids: str, nil: bool = False, **more: Any) -> dict[str, Any]:
    """A mention of an output, with unscored candidates."""
    return {"mention_id": name, "candidates": [{"kb_id": each} for each in kb_ids], "is_nil": nil, **more}


def scored(*mentions: dict[str, Any], gold: Any = None) -> dict[str, float | None]:
    """The metrics of one text."""
    return values(SUITE, [text("t", gold or GOLD)], {"t": {"mentions": list(mentions)}})


def diagnosed(*mentions: dict[str, Any]) -> list[str]:
    scores = score_cases(SUITE, [text("t", GOLD)], Recorded({"t": {"mentions": list(mentions)}}), Context())
    return sorted(row["kind"] for row in scores.diagnoses.to_pylist())


PERFECT = (mention("m1", "K1", viaf_id="V1"), mention("m2", "K2"), mention("m3", nil=True))


def test_a_perfect_output() -> None:
    found = scored(*PERFECT)
    ones = ("hits@1", "hits@5", "hits@10", "mrr", "nil_precision", "nil_recall", "nil_f1", "kb_consistency")
    assert {found[name] for name in ones} == {1.0}
    assert found["kb_coverage"] == pytest.approx(2 / 3)
    assert found["case_pass_rate"] == 1.0
    assert diagnosed(*PERFECT) == []


def test_ranks() -> None:
    found = scored(mention("m1", "X", "K1"), mention("m2", "A", "B", "C", "D", "E", "K2"))
    assert found["hits@1"] == 0.0
    assert found["hits@5"] == 0.5
    assert found["hits@10"] == 1.0
    assert found["mrr"] == pytest.approx((1 / 2 + 1 / 6) / 2)


def test_mentions_are_joined_by_id_and_not_by_their_text() -> None:
    """Looked up by text, the last of three namesakes would stand for all of them."""
    assert scored(mention("m1", "K2"), mention("m2", "K1"))["hits@1"] == 0.0
    assert scored(mention("m2", "K2"), mention("m1", "K1"))["hits@1"] == 1.0


def test_nil_is_joined_by_id_and_not_by_position() -> None:
    """Zipped by position, a reordered output would be right about nothing."""
    found = scored(mention("m3", nil=True), mention("m1", "K1"), mention("m2", "K2"))
    assert (found["nil_precision"], found["nil_recall"]) == (1.0, 1.0)


def test_a_mention_without_prediction_scores_zero_in_hits_and_in_mrr() -> None:
    """Left out of mrr and kept in hits, it would make the two disagree."""
    found = scored(mention("m1", "K1"))
    assert found["hits@1"] == 0.5
    assert found["mrr"] == 0.5
    assert found["nil_recall"] == 0.0


def test_nil_mentions_are_no_part_of_hits() -> None:
    """Divided by all mentions, a perfect linker could not reach 1."""
    assert scored(*PERFECT)["hits@1"] == 1.0
    found = scored(mention("m3", nil=True), gold={"m3": (None, None)})
    assert found["hits@1"] is None
    assert found["nil_f1"] == 1.0


def test_candidates_are_sorted_by_score_and_ties_by_id() -> None:
    def of(*pairs: tuple[str, float]) -> float | None:
        candidates = [{"kb_id": kb_id, "score": score} for kb_id, score in pairs]
        return scored({"mention_id": "m1", "candidates": candidates, "is_nil": False})["mrr"]

    assert of(("X", 0.1), ("K1", 0.9)) == 0.5
    assert of(("X", 0.5), ("K1", 0.5)) == 0.5
    assert of(("A", 0.5), ("K1", 0.5)) == 0.25
    assert of(("K1", 0.1), ("K1", 0.9), ("X", 0.5)) == 0.5


@pytest.mark.parametrize(
    ("said", "precision", "recall", "f1"),
    [
        ({"m3": True}, 1.0, 1.0, 1.0),
        ({"m1": True, "m3": True}, 0.5, 1.0, 2 / 3),
        ({"m1": True}, 0.0, 0.0, 0.0),
        ({}, None, 0.0, 0.0),
    ],
)
def test_nil(said: dict[str, bool], precision: float | None, recall: float, f1: float) -> None:
    found = scored(*(mention(each, "K9", nil=said.get(each, False)) for each in GOLD))
    assert (found["nil_precision"], found["nil_recall"]) == (precision, recall)
    assert found["nil_f1"] == pytest.approx(f1)


def test_consistency_with_no_pair_predicted_is_undefined_and_not_one() -> None:
    """Predicting no identifier must not be a perfect score."""
    assert scored(mention("m1", "K1"), mention("m2", "K2"))["kb_consistency"] is None


@pytest.mark.parametrize(
    ("given_", "consistency", "coverage"),
    [
        (mention("m1", "K1", viaf_id="V1"), 1.0, 1 / 3),
        (mention("m1", "K1", viaf_id=" V1 "), 1.0, 1 / 3),
        (mention("m1", "K1", viaf_id="V2"), 0.0, 0.0),
        (mention("m1", "K2", viaf_id="V1"), 0.0, 0.0),
        (mention("m2", "K2", viaf_id="V2"), 0.0, 0.0),
        (mention("m3", "K1", viaf_id="V1"), 0.0, 0.0),
        (mention("m1", "K1"), None, 1 / 3),
        (mention("m1", viaf_id="V1"), None, 1 / 3),
        (mention("m1", isil_code="XX-1"), None, 1 / 3),
        (mention("m1", "K1", nil=True), None, 0.0),
        (mention("m1"), None, 0.0),
    ],
)
def test_identifiers_across_knowledge_bases(
    given_: dict[str, Any], consistency: float | None, coverage: float
) -> None:
    found = scored(given_)
    assert found["kb_consistency"] == consistency
    assert found["kb_coverage"] == pytest.approx(coverage)


def test_an_entry_twice_counts_once_and_contradicting_entries_count_as_none() -> None:
    twice = scored(mention("m1", "K1"), mention("m1", "K1"))
    assert (twice["hits@1"], twice["duplicate_rate"]) == (0.5, 0.5)
    rivals = (mention("m1", "K1"), mention("m1", "K2"))
    assert scored(*rivals)["hits@1"] == scored(*rivals[::-1])["hits@1"] == 0.0
    assert "contradicting_entries" in diagnosed(*rivals)


def test_diagnoses() -> None:
    assert diagnosed(mention("m1", "K2", viaf_id="V7"), mention("m2", nil=True), mention("m3", "K1")) == [
        "false_nil",
        "inconsistent_identifiers",
        "missed_nil",
        "wrong_link",
    ]
    assert diagnosed(*PERFECT, mention("m9", "K1")) == ["unknown_mention"]
    assert diagnosed(mention("m1", "K1", isil_code="XX-9"), *PERFECT[1:]) == ["wrong_isil"]
    assert diagnosed(*PERFECT[:2]) == ["no_prediction"]


@pytest.mark.parametrize("wrong", [mention("m3", "K1"), mention("m2", "K1"), mention("m2", "K2", nil=True)])
def test_a_text_passes_only_when_every_mention_is_right(wrong: dict[str, Any]) -> None:
    others = [each for each in PERFECT if each["mention_id"] != wrong["mention_id"]]
    assert scored(*others, wrong)["case_pass_rate"] == 0.0
    assert scored(*others)["case_pass_rate"] == 0.0


def counted(*mentions: dict[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
    answers = {"t": {"mentions": list(mentions)}} if mentions else {}
    scores = score_cases(SUITE, [text("t", GOLD)], Recorded(answers), Context())
    tables = summarize(SUITE, scores, {}).tables
    (nil,), (pairs,) = tables["nil_detection"], tables["identifier_pairs"]
    return nil, pairs


@pytest.mark.parametrize(
    ("mentions", "nil", "pairs"),
    [
        (PERFECT, (1, 0, 0, 2), (1, 0, 1, 1)),
        ((mention("m1", nil=True), mention("m2", "K2", viaf_id="V9"), mention("m3", "K1")), (0, 1, 1, 1),
         (0, 1, 1, 1)),
        ((mention("m2", "K2"),), (0, 0, 1, 2), (0, 0, 1, 2)),
        ((), (0, 2, 1, 0), (0, 3, 0, 0)),
    ],
)  # fmt: skip
def test_counts_stand_beside_rates(
    mentions: tuple[dict[str, Any], ...], nil: tuple[int, ...], pairs: tuple[int, ...]
) -> None:
    found = counted(*mentions)
    names = ("true_positives", "false_positives", "false_negatives", "true_negatives")
    assert tuple(found[0][name] for name in names) == nil
    assert tuple(found[1][name] for name in ("consistent", "inconsistent", "partial", "none")) == pairs


def test_phenomena_are_told_apart() -> None:
    scores = score_cases(
        SUITE, [text("t", GOLD), text("u", GOLD)], Recorded({"t": {"mentions": list(PERFECT)}}), Context()
    )
    assert summarize(SUITE, scores, {}).tables["phenomena"] == [
        {"phenomenon": "nil", "mentions": 2, "right": 1, "share": 0.5},
        {"phenomenon": "other", "mentions": 4, "right": 2, "share": 0.5},
    ]


@pytest.mark.parametrize(
    "output",
    [
        None,
        {"mentions": None},
        {"mentions": [{"mention_id": "m1", "candidates": []}]},
        {"mentions": [{"mention_id": "m1", "is_nil": True}]},
        {"mentions": [{"mention_id": 1, "candidates": [], "is_nil": False}]},
        {"mentions": [{"mention_id": "m1", "candidates": [{"score": 1}], "is_nil": False}]},
        Answer("t", 1, error="timeout"),
    ],
)
def test_what_breaks_the_contract_is_an_error_at_its_worst(output: Any) -> None:
    found = values(SUITE, [text("t", GOLD)], {"t": output})
    assert found["error_rate"] == 1.0
    assert {found[metric.name] for metric in METRICS if metric.direction == "higher"} == {0.0}


KB_IDS = st.sampled_from(["K1", "K2", "K3"])
CANDIDATES = st.lists(
    st.fixed_dictionaries({"kb_id": KB_IDS}, optional={"score": st.sampled_from([0.1, 0.5])}), max_size=4
)
MENTIONS = st.lists(
    st.fixed_dictionaries(
        {
            "mention_id": st.sampled_from(["m1", "m2", "m3", "m4"]),
            "candidates": CANDIDATES,
            "is_nil": st.booleans(),
        },
        optional={"viaf_id": st.sampled_from(["V1", "V2"]), "isil_code": st.just("XX-1")},
    ),
    max_size=5,
)


@settings(max_examples=30, deadline=None)
@given(MENTIONS, st.randoms(use_true_random=False))
def test_mentions_may_stand_in_any_order(mentions: list[dict[str, Any]], random_: random.Random) -> None:
    assert scored(*mentions) == scored(*random_.sample(mentions, len(mentions)))


@settings(max_examples=30, deadline=None)
@given(MENTIONS)
def test_values_lie_between_zero_and_one_or_are_undefined(mentions: list[dict[str, Any]]) -> None:
    assert all(value is None or 0 <= value <= 1 for value in scored(*mentions).values())


@settings(max_examples=30, deadline=None)
@given(MENTIONS, MENTIONS)
def test_an_error_never_pays(first: list[dict[str, Any]], second: list[dict[str, Any]]) -> None:
    cases = [text("t", GOLD), text("u", GOLD)]
    both = values(SUITE, cases, {"t": {"mentions": first}, "u": {"mentions": second}})
    broken = values(SUITE, cases, {"t": {"mentions": first}})
    for metric in METRICS:
        before, after = both[metric.name], broken[metric.name]
        if metric.direction == "higher" and before is not None:
            assert after is not None
            assert after <= before + 1e-12
