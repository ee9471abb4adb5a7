"""grounded_qa metrics: the worked example, an oracle, every correction, and what holds for any trace."""

from __future__ import annotations

import random
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from eval_pipeline.scoring import score_cases
from eval_pipeline.suite import Context
from eval_pipeline.suites.grounded_qa import SUITE
from eval_pipeline.suites.grounded_qa.scoring import Settings, is_near_refusal
from eval_pipeline_tests.sources import Recorded, golden
from eval_pipeline_tests.suites.grounded_qa.examples import (
    GOLD,
    REFUSED,
    TRACES,
    case,
    document_score,
    metrics,
)

GATED = {"precision": 1, "chr": 1, "under_refusal": -1, "over_refusal": -1, "recall@k": 1, "error_rate": -1}


def gold(qid: str, answerable: bool = True, **changes: Any) -> dict[str, Any]:
    base: dict[str, Any] = {"qid": qid, "question": "Why?", "answerable": answerable}
    known = {"gold_claim_substr": ["because of rain"], "gold_citations": ["p1"]} if answerable else {}
    return {**base, **known, **changes}


def trace(qid: str, claim: Any, cited: Any = ("p1",), retrieved: Any = ("p1", "p2")) -> dict[str, Any]:
    return {"qid": qid, "retrieved_ids": retrieved, "answer_json": {"claim": claim, "citations": cited}}


RIGHT = "It is because of rain."


def test_the_worked_example() -> None:
    found = metrics(GOLD, TRACES)
    assert {name: found[name] for name in GATED} == {
        "precision": 1.0,
        "chr": 1.0,
        "under_refusal": 0.0,
        "over_refusal": 0.0,
        "recall@k": 1.0,
        "error_rate": 0.0,
    }
    assert (found["answered"], found["refused"], found["accuracy"]) == (2, 1, 1.0)
    assert metrics(GOLD, TRACES, k=1)["recall@k"] == 0.5


IDS = [f"p{number}" for number in range(6)]
CLEAN_GOLD = st.fixed_dictionaries(
    {
        "answerable": st.booleans(),
        "gold_claim_substr": st.lists(
            st.sampled_from(["because of rain", "Of Snow", "hail storms"]), max_size=2
        ),
        "gold_citations": st.lists(st.sampled_from(IDS), min_size=1, max_size=3, unique=True),
    }
)
CLEAN_TRACE = st.fixed_dictionaries(
    {
        "claim": st.sampled_from(
            [RIGHT, "Because of snow", "HAIL STORMS did it", "not in context", "Maybe."]
        ),
        "citations": st.lists(st.sampled_from(IDS), max_size=3, unique=True),
        "retrieved": st.lists(st.sampled_from(IDS), max_size=6, unique=True),
    }
)


@given(st.lists(st.tuples(CLEAN_GOLD, CLEAN_TRACE), min_size=1, max_size=15), st.integers(1, 7))
def test_equals_the_documents_scorer_on_clean_traces(pairs: list[Any], k: int) -> None:
    entries, traces = [], []
    for number, (entry, answer) in enumerate(pairs):
        known = entry if entry["answerable"] else {**entry, "gold_citations": [], "gold_claim_substr": []}
        entries.append({"qid": str(number), "question": "Why?", **known})
        traces.append(trace(str(number), answer["claim"], answer["citations"], answer["retrieved"]))
    expected, found = document_score(entries, traces, k), metrics(entries, traces, k)
    for name in ("answered", "refused", "answerable", "unanswerable"):
        assert found[name] == expected[name]
    answerable, unanswerable = expected["answerable"], expected["unanswerable"]
    if answerable and expected["answered"]:
        assert found["precision"] == pytest.approx(expected["precision"])
        assert found["chr"] == pytest.approx(expected["chr"])
    for name, population in (("under_refusal", unanswerable), ("over_refusal", answerable)):
        assert found[name] == (pytest.approx(expected[name]) if population else None)
    assert found["recall@k"] == (pytest.approx(expected["recall@k"]) if answerable else None)


@pytest.mark.parametrize(
    "broken",
    [
        [],
        [{"qid": "a", "retrieved_ids": ["p1"], "answer_json": None}],
        [{"qid": "a", "retrieved_ids": ["p1"], "answer_json": [RIGHT]}],
        [{"qid": "a", "retrieved_ids": ["p1"], "answer_json": RIGHT}],
        [{"qid": "a", "retrieved_ids": ["p1"], "answer_json": {"citations": ["p1"]}}],
        [trace("a", " \u00a0\n")],
        [trace("a", None)],
        [trace("a", 17)],
        [trace("a", RIGHT, cited="p1")],
        [trace("a", RIGHT, retrieved=["p1", 2])],
        [{**trace("a", RIGHT), "error": "timeout"}],
    ],
)
@pytest.mark.parametrize("answerable", [True, False])
def test_no_usable_answer_is_an_error_and_neither_answered_nor_refused(
    broken: list[Any], answerable: bool
) -> None:
    """The document's scorer counts a missing trace as an answer, and a blank claim as well."""
    found = metrics([gold("a", answerable), gold("b"), gold("c", False)], [*broken, trace("b", RIGHT)])
    assert (found["answered"], found["refused"]) == (1, 0)
    assert found["error_rate"] == pytest.approx(2 / 3)
    assert found["precision"] == found["chr"] == pytest.approx(1 / 3)
    assert found["over_refusal"] == (0.5 if answerable else 0.0)
    assert found["under_refusal"] == 1.0


def test_refusing_everything_has_no_precision() -> None:
    """The document's scorer gives precision 1.0 and chr 1.0 for it."""
    traces = [{"qid": "a", "answer_json": REFUSED}, {"qid": "b", "answer_json": REFUSED}]
    assert document_score([gold("a")], traces, 5)["precision"] == 1.0
    found = metrics([gold("a"), gold("b", False)], traces)
    assert (found["precision"], found["chr"]) == (None, None)
    assert (found["over_refusal"], found["under_refusal"]) == (1.0, 0.0)


def test_chr_is_over_all_shipped_answers() -> None:
    found = metrics([gold("a"), gold("b", False)], [trace("a", RIGHT), trace("b", "A guess.", [])])
    assert found["chr"] == 0.5


def test_a_citation_cannot_hit_where_there_is_no_gold_citation() -> None:
    """The document's scorer calls it a hit when nothing is cited."""
    found = metrics([gold("a", False), gold("b")], [trace("a", "A guess.", []), trace("b", RIGHT)])
    assert found["chr"] == 0.5


def test_a_citation_that_was_not_retrieved_spoils_the_hit() -> None:
    assert metrics([gold("a")], [trace("a", RIGHT, ["p1", "p9"])])["chr"] == 0.0
    assert metrics([gold("a")], [trace("a", RIGHT, ["p1"], [])])["chr"] == 0.0


def test_the_answer_itself_cannot_say_what_was_retrieved() -> None:
    given_ = trace("a", RIGHT, ["p1"], ["p2"])
    given_["answer_json"]["retrieved_ids"] = ["p1"]
    assert metrics([gold("a")], [given_])["chr"] == 0.0


@pytest.mark.parametrize(
    ("claim", "refused", "near"),
    [
        ("not in context", 1, 0),
        ("  Not  In Context\n", 1, 0),
        ("ｎｏｔ in context", 1, 0),
        ("Not in context.", 0, 1),
        ("The answer is not in the provided context.", 0, 1),
        ("I don’t know.", 0, 1),
        ("Sorry, I cannot answer that from these passages.", 0, 1),
        ("N/A", 0, 1),
        ("No information available.", 0, 1),
        ("It is because of rain.", 0, 0),
        ("The price is not in euros but in kroner.", 0, 0),
        ("Support answers by chat.", 0, 0),
    ],
)
def test_near_refusals_are_shipped_and_counted(claim: str, refused: int, near: int) -> None:
    found = metrics([gold("u", False)], [trace("u", claim, [])])
    assert (found["refused"], found["near_refusals"]) == (refused, near)
    assert found["under_refusal"] == 1 - refused


@pytest.mark.parametrize(
    ("claim", "substrings", "right"),
    [
        ("Because  of\tRAIN", ["because of rain"], True),
        ("die STRASSE ist lang", ["Straße"], True),
        ("cafe\u0301 culture", ["caf\u00e9 culture"], True),
        ("because of snow", ["because of rain", "of snow"], True),
        ("anything", [], True),
        ("becauseofrain", ["because of rain"], False),
    ],
)
def test_containment_compares_normalized_text(claim: str, substrings: list[str], right: bool) -> None:
    found = metrics([gold("a", gold_claim_substr=substrings)], [trace("a", claim)])
    assert found["precision"] == float(right)


def test_recall_wants_all_gold_citations_among_the_first_k_distinct() -> None:
    entry = gold("a", gold_citations=["p1", "p3"])
    given_ = [trace("a", RIGHT, ["p1"], ["p1", "p1", "p2", "p3", "p4"])]
    found = metrics([entry], given_, k=3)
    assert (found["recall@k"], found["citation_recall@k"]) == (1.0, 1.0)
    found = metrics([entry], given_, k=2)
    assert (found["recall@k"], found["citation_recall@k"]) == (0.0, 0.5)
    assert found["duplicate_rate"] == pytest.approx(1 / 6)


def test_citing_everything_has_a_perfect_chr_and_shows_in_citation_precision() -> None:
    ids = ["p1", "p2", "p3", "p4", "p4"]
    found = metrics([gold("a")], [trace("a", RIGHT, ids, ids)])
    assert (found["chr"], found["citation_precision"]) == (1.0, 0.25)


def test_diagnoses_say_what_was_wrong() -> None:
    answers = {
        "a": {"claim": "Because of snow.", "citations": ["p9"], "retrieved_ids": ["p2"]},
        "b": {**REFUSED, "retrieved_ids": ["p1"]},
        "c": {"claim": "not in context.", "citations": [], "retrieved_ids": []},
    }
    cases = [golden(case(entry)) for entry in (gold("a"), gold("b"), gold("c", False))]
    scores = score_cases(SUITE, cases, Recorded(answers), Context(Settings()))
    told = {(row["case_id"], row["kind"]): row["got"] for row in scores.diagnoses.to_pylist()}
    assert told == {
        ("a", "not_retrieved"): "p2",
        ("a", "incorrect"): "Because of snow.",
        ("a", "citation_miss"): "p9 (not retrieved)",
        ("b", "over_refusal"): "not in context",
        ("c", "under_refusal"): "not in context.",
        ("c", "citation_miss"): "nothing",
        ("c", "near_refusal"): "not in context.",
    }


ANY_TRACE = st.fixed_dictionaries(
    {
        "retrieved_ids": st.lists(st.sampled_from(IDS), max_size=8),
        "answer_json": st.none()
        | st.fixed_dictionaries(
            {
                "claim": st.sampled_from([RIGHT, "not in context", "Not in context.", "Guess", ""])
                | st.text(),
                "citations": st.lists(st.sampled_from([*IDS, "😀", "p9"]), max_size=4) | st.none(),
            }
        ),
    }
)
ANY_SET = st.lists(st.tuples(st.booleans(), ANY_TRACE), min_size=1, max_size=8).map(
    lambda pairs: (
        [gold(str(number), answerable) for number, (answerable, _) in enumerate(pairs)],
        [{"qid": str(number), **each} for number, (_, each) in enumerate(pairs)],
    )
)


@given(ANY_SET, st.integers(1, 6), st.randoms(use_true_random=False))
def test_values_are_in_range_or_null_and_order_never_matters(
    given_: Any, k: int, shuffler: random.Random
) -> None:
    entries, traces = given_
    found = metrics(entries, traces, k)
    rates = [name for name in found if SUITE.metrics and name not in COUNTS]
    assert all(found[name] is None or 0.0 <= found[name] <= 1.0 for name in rates)  # type: ignore[operator]
    shuffled = [{**each, "qid": each["qid"]} for each in traces]
    for each in shuffled:
        if each["answer_json"] and each["answer_json"]["citations"]:
            cited = list(each["answer_json"]["citations"])
            shuffler.shuffle(cited)
            each["answer_json"] = {**each["answer_json"], "citations": cited}
    shuffler.shuffle(shuffled)
    assert metrics(shuffler.sample(entries, len(entries)), shuffled, k) == found


COUNTS = ("answered", "refused", "near_refusals", "answerable", "unanswerable")


@given(ANY_SET, st.data())
def test_an_error_never_pays(given_: Any, data: st.DataObject) -> None:
    entries, traces = given_
    lost = data.draw(st.sampled_from(traces))
    before = metrics(entries, traces)
    after = metrics(entries, [each for each in traces if each is not lost])
    for name, sign in GATED.items():
        # An undefined value fails its gate; nothing can be worse.
        if before[name] is not None and after[name] is not None:
            assert sign * after[name] <= sign * before[name] + 1e-12  # type: ignore[operator]


def test_errors_alone_fail_every_gate() -> None:
    found = metrics([gold("a"), gold("b", False)], [])
    assert [found[name] for name in GATED] == [0.0, 0.0, 1.0, 1.0, 0.0, 1.0]


@given(st.text(max_size=3000))
def test_any_text_can_be_looked_at(text: str) -> None:
    assert is_near_refusal(text.lower()) in (True, False)


def test_hostile_text_takes_no_time() -> None:
    for text in (
        "the answer is not " * 50_000,
        "i don't know " * 50_000,
        "no information in " + "x " * 100_000,
    ):
        assert not is_near_refusal(text)


def test_shipping_every_passage_shows_in_citations_and_length() -> None:
    """All passages at once hold every gold substring and cite every gold passage."""
    passages = [f"passage {number} says nothing about it at all, and takes many words" for number in range(8)]
    everything = " ".join([*passages, RIGHT])
    cited = [f"p{number}" for number in range(1, 9)]
    found = metrics([gold("a"), gold("b")], [trace(each, everything, cited, cited) for each in "ab"])
    assert found["precision"] == found["chr"] == 1.0
    assert found["citation_precision"] == 1 / 8
    assert found["long_claim_rate"] == 1.0
    honest = metrics([gold("a"), gold("b")], [trace("a", RIGHT), trace("b", RIGHT)])
    assert (honest["citation_precision"], honest["long_claim_rate"]) == (1.0, 0.0)
    assert metrics([gold("a"), gold("b")], [trace("a", RIGHT)])["long_claim_rate"] == 0.5


def test_half_an_answer_is_none() -> None:
    parts = gold("a", gold_claim_substr=[], all_of=[["thirty days"], ["two weeks"]])
    del parts["gold_claim_substr"]
    assert metrics([parts], [trace("a", "Within thirty days.")])["precision"] == 0.0
    assert metrics([parts], [trace("a", "Within thirty days, pods within two weeks.")])["precision"] == 1.0


@pytest.mark.parametrize(
    ("claim", "cited", "passes"),
    [
        (RIGHT, ["p1"], True),
        # A second passage beside the gold one is no shotgun; half of all that was retrieved is.
        (RIGHT, ["p1", "p2"], True),
        (RIGHT, ["p1", "p2", "p3"], False),
        (f"{'It rains a lot. ' * 10}{RIGHT}", ["p1"], True),
        (f"{'It rains a lot. ' * 30}{RIGHT}", ["p1"], False),
    ],
)
def test_a_case_passes_with_a_sentence_and_its_evidence(claim: str, cited: list[str], passes: bool) -> None:
    found = metrics([gold("a")], [trace("a", claim, cited, [f"p{number}" for number in range(1, 9)])])
    assert found["accuracy"] == 1.0
    assert found["case_pass_rate"] == float(passes)
