"""Entity metrics: worked examples, what the corrections mean, oracles, and properties of any output."""

from __future__ import annotations

import random
import unicodedata
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from eval_pipeline.answers import Answer
from eval_pipeline.golden import GoldenCase
from eval_pipeline.metrics.text import words
from eval_pipeline.scoring import score_cases, summarize
from eval_pipeline.suite import Context
from eval_pipeline.suites._heritage.vocabulary import ENTITY_TYPES
from eval_pipeline.suites.heritage_ner import SUITE
from eval_pipeline.suites.heritage_ner.cases import Entity, ner_case
from eval_pipeline_tests.sources import Recorded, golden, values

MUSEUM, ARCHIVE, LIBRARY, PLACE, TIME = "GRP.HER.MUS", "GRP.HER.ARC", "GRP.HER.LIB", "TOP", "TMP"
TEXT = "Het Rijke Huis in Delft opende in 1800 en bleef open."
#       0123456789...   4–14 name, 18–23 Delft, 34–38 1800

Marked = tuple[int, int, str]
GOLD: list[Marked] = [(4, 14, MUSEUM), (18, 23, PLACE), (34, 38, TIME)]


def case(marked: list[Marked], text: str = TEXT, case_id: str = "case", **attributes: str) -> GoldenCase:
    return golden(
        ner_case(case_id, text, [Entity(text[s:e], kind, s, e) for s, e, kind in marked], attributes)
    )


def output(marked: list[Marked], text: str = TEXT) -> dict[str, Any]:
    return {"entities": [{"text": text[s:e], "type": kind, "start": s, "end": e} for s, e, kind in marked]}


def scored(gold: list[Marked], predicted: list[Marked], text: str = TEXT) -> dict[str, float | None]:
    return values(SUITE, [case(gold, text)], {"case": output(predicted, text)})


@pytest.mark.parametrize(
    ("predicted", "expected"),
    [
        (GOLD, {"strict_f1": 1.0, "partial_f1": 1.0, "token_f1": 1.0, "case_pass_rate": 1.0}),
        ([], {"strict_precision": None, "strict_recall": 0.0, "strict_f1": 0.0, "duplicate_rate": None}),
        (
            GOLD[:2],
            {"strict_precision": 1.0, "strict_recall": 2 / 3, "strict_f1": 0.8, "strict_recall_macro": 2 / 3},
        ),
        # The boundary is wrong: not strict, but partial; two of three tokens.
        (
            [(0, 14, MUSEUM), *GOLD[1:]],
            {"strict_f1": 2 / 3, "partial_f1": 1.0, "token_precision": 4 / 5, "token_recall": 1.0},
        ),
        # The type is wrong: neither.
        ([(4, 14, ARCHIVE), *GOLD[1:]], {"strict_f1": 2 / 3, "partial_f1": 2 / 3, "token_recall": 0.5}),
        # Of an unknown type: a wrong prediction, not an error.
        ([(4, 14, "PERSON"), *GOLD[1:]], {"strict_precision": 2 / 3, "error_rate": 0.0}),
        ([*GOLD, *GOLD[:1]], {"strict_precision": 1.0, "duplicate_rate": 0.25}),
        # Offsets beyond the text, or the wrong way round.
        ([*GOLD, (40, 4000, PLACE)], {"strict_precision": 0.75, "strict_recall": 1.0}),
        ([*GOLD, (23, 18, PLACE)], {"strict_precision": 0.75, "partial_precision": 0.75}),
    ],
)
def test_small_outputs(predicted: list[Marked], expected: dict[str, float | None]) -> None:
    found = scored(GOLD, predicted)
    assert {name: found[name] for name in expected} == pytest.approx(expected)


def test_partial_matching_takes_a_maximum_not_the_first_in_the_list() -> None:
    """A long prediction overlaps both; taken first, it leaves the short one without a partner."""
    text = "aaaa bbbb"
    gold = [(0, 4, PLACE), (5, 9, PLACE)]
    for predicted in ([(0, 6, PLACE), (0, 4, PLACE)], [(0, 4, PLACE), (0, 6, PLACE)]):
        assert scored(gold, predicted, text)["partial_f1"] == 1.0


def test_nothing_is_matched_across_documents() -> None:
    """The document's runner pools all entities: offsets of one text then meet those of another."""
    first, second = case(GOLD, case_id="first"), case([], case_id="second")
    found = values(SUITE, [first, second], {"first": output([]), "second": output(GOLD)})
    assert found["strict_f1"] == found["partial_f1"] == found["token_f1"] == 0.0


def test_offsets_beyond_a_text_do_not_reach_into_the_next() -> None:
    first, second = case([], case_id="first"), case(GOLD, case_id="second")
    beyond = {"entities": [{"text": "", "type": PLACE, "start": len(TEXT), "end": len(TEXT) + 30}]}
    found = values(SUITE, [first, second], {"first": beyond, "second": output([])})
    assert found["partial_recall"] == found["token_recall"] == 0.0
    assert found["partial_precision"] == 0.0
    assert found["token_precision"] is None


def test_a_flood_of_spans_is_scored_in_bounds() -> None:
    text = "word " * 2000
    flood = [{"text": "", "type": MUSEUM, "start": start, "end": len(text) - start} for start in range(4500)]
    gold = [(start, start + 4, MUSEUM) for start in range(0, 500, 5)]
    found = values(SUITE, [case(gold, text)], {"case": {"entities": flood}})
    assert found["token_recall"] == found["partial_recall"] == 1.0
    assert found["token_precision"] == pytest.approx(100 / 2000)


def test_tokens_stand_where_they_stand_in_the_text() -> None:
    """Counting word lengths plus one loses the place at every double space and line break."""
    text = "Museum   Oost\n\n\nin  Delft"
    start = text.index("Delft")
    found = scored([(start, start + 5, PLACE)], [(start, start + 5, PLACE)], text)
    assert found["token_f1"] == 1.0
    # A token that a span only cuts into is in the span.
    assert scored([(0, 6, MUSEUM)], [(2, 4, MUSEUM)], text)["token_f1"] == 1.0


def test_composed_and_decomposed_accents_have_the_same_tokens() -> None:
    """A combining mark is no letter: without NFC, "Musée Ömer" falls into four words when decomposed."""
    for form in ("NFC", "NFD"):
        text = unicodedata.normalize(form, "Le Musée Ömer, à Liège")
        place = text.index("Li")
        found = scored([(place, len(text), PLACE)], [(text.index("Mus"), len(text), PLACE)], text)
        assert found["token_recall"] == 1.0
        assert found["token_precision"] == pytest.approx(1 / 4)


def test_the_case_of_types_is_folded() -> None:
    gold = case([(18, 23, PLACE)])
    answer = {
        "entities": [{"text": "Delft", "type": kind, "start": 18, "end": 23} for kind in ("top", "Top")]
    }
    found = values(SUITE, [gold], {"case": answer})
    assert found["strict_f1"] == found["token_f1"] == 1.0
    assert found["duplicate_rate"] == 0.5
    assert ner_case("x", TEXT, [Entity("Delft", "top", 18, 23)], {}).expected.entities[0].type == "TOP"


def test_macro_averages_cover_the_types_that_occur() -> None:
    """Types without gold are left out; the document averages over whatever was predicted too."""
    found = scored(GOLD, [*GOLD, (0, 3, ARCHIVE), (15, 17, LIBRARY)])
    assert found["strict_f1_macro"] == found["token_recall_macro"] == 1.0
    assert found["strict_precision"] == pytest.approx(3 / 5)


def test_the_ratio_of_a_type_without_gold_is_null_not_infinite() -> None:
    scores = score_cases(SUITE, [case(GOLD)], Recorded({"case": output([*GOLD, (0, 3, ARCHIVE)])}), Context())
    rows = {row["type"]: row for row in summarize(SUITE, scores, {}).tables["per_type"]}
    assert rows[ARCHIVE] | {"ratio": None, "over_prediction": 1, "gold": 0, "predicted": 1} == rows[ARCHIVE]
    assert rows[MUSEUM]["ratio"] == rows[MUSEUM]["strict_f1"] == 1.0


WRONG: list[Marked] = [(0, 14, MUSEUM), (18, 23, TIME), (42, 47, PLACE)]
"""A boundary, a type, and something that is nothing; the year is missed."""


def tables_of(predicted: list[Marked] | None) -> dict[str, Any]:
    answers = {} if predicted is None else {"case": output(predicted)}
    return summarize(SUITE, score_cases(SUITE, [case(GOLD)], Recorded(answers), Context()), {}).tables


def test_counts_stand_beside_the_rates_of_every_matching() -> None:
    rows = {row["type"]: row for row in tables_of(WRONG)["matches"]}
    counted = {
        kind: tuple(row[f"{mode}_{count}"] for mode in ("strict", "partial") for count in ("tp", "fp", "fn"))
        for kind, row in rows.items()
    }
    assert counted == {
        MUSEUM: (0, 1, 1, 1, 0, 0),
        PLACE: (0, 1, 1, 0, 1, 1),
        TIME: (0, 1, 1, 0, 1, 1),
        "all": (0, 3, 3, 1, 2, 2),
    }
    assert (rows[MUSEUM]["token_tp"], rows[MUSEUM]["token_fp"], rows[MUSEUM]["token_fn"]) == (2, 1, 0)


def test_types_are_confused_where_entities_overlap() -> None:
    rows = {row[""]: row for row in tables_of([*WRONG, (19, 20, "colour")])["confusion"]}
    assert rows[MUSEUM][MUSEUM] == 1
    assert rows[PLACE] | {TIME: 1, PLACE: 0, "missed": 0} == rows[PLACE]
    assert rows[TIME] | {TIME: 0, "missed": 1} == rows[TIME]
    assert rows["spurious"] | {PLACE: 1, "other": 1, "missed": 0} == rows["spurious"]


def test_without_an_output_everything_was_missed() -> None:
    tables = tables_of(None)
    assert {row[""]: row["missed"] for row in tables["confusion"]} == {MUSEUM: 1, PLACE: 1, TIME: 1}
    whole = next(row for row in tables["matches"] if row["type"] == "all")
    assert (whole["strict_tp"], whole["strict_fp"], whole["strict_fn"]) == (0, 3, 3)


def test_undefined_where_there_is_no_gold() -> None:
    found = scored([], [])
    assert found["strict_f1"] is found["strict_precision"] is found["token_f1_macro"] is None
    assert scored([], [(0, 3, PLACE)])["strict_precision"] == 0.0


def test_diagnoses_say_what_went_wrong() -> None:
    predicted = [(0, 14, MUSEUM), (18, 23, TIME), (42, 47, PLACE)]
    scores = score_cases(SUITE, [case(GOLD)], Recorded({"case": output(predicted)}), Context())
    kinds = sorted((row["kind"], row["expected"], row["got"]) for row in scores.diagnoses.to_pylist())
    assert kinds == [
        ("missed", "TMP '1800' 34–38", ""),
        ("spurious", "", "TOP 'bleef' 42–47"),
        ("wrong_boundary", "GRP.HER.MUS 'Rijke Huis' 4–14", "GRP.HER.MUS 'Het Rijke Huis' 0–14"),
        ("wrong_type", "TOP 'Delft' 18–23", "TMP 'Delft' 18–23"),
    ]


@pytest.mark.parametrize(
    "bad",
    [
        "no JSON",
        '{"entities": [{"text": "x", "type": "TOP", "start": -1, "end": 4}]}',
        '{"entities": [{"text": "x", "type": "TOP", "start": 1, "end": 99999999999999999999999}]}',
        '{"entities": [{"text": "x", "type": "TOP", "start": 1.5, "end": 2}]}',
        '{"entities": null}',
        '{"entities": [' + ", ".join(['{"text": "", "type": "", "start": 0, "end": 9}'] * 5001) + "]}",
    ],
)
def test_unusable_outputs_are_errors_at_their_worst(bad: str) -> None:
    both = [case(GOLD, case_id="good"), case(GOLD, case_id="bad")]
    found = values(SUITE, both, {"good": output(GOLD), "bad": Answer("bad", text=bad)})
    assert found["error_rate"] == 0.5
    rates = ("strict_f1", "strict_precision", "partial_recall", "token_precision", "token_f1_macro")
    assert [found[name] for name in rates] == [0.5] * 5


_marked = st.lists(
    st.tuples(st.integers(0, 45), st.integers(1, 9), st.sampled_from([MUSEUM, PLACE, "odd"])), max_size=8
).map(lambda found: sorted({(start, min(start + length, len(TEXT)), kind) for start, length, kind in found}))
_gold = _marked.map(lambda found: [each for each in found if each[2] in ENTITY_TYPES])
_sets = st.lists(st.tuples(_gold, _marked), min_size=1, max_size=4)


@settings(max_examples=25, deadline=None)
@given(_sets, st.randoms(use_true_random=False))
def test_any_output_gives_rates_or_null_whatever_the_order(
    documents: list[tuple[list[Marked], list[Marked]]], order: random.Random
) -> None:
    def run(mix: bool) -> dict[str, float | None]:
        def mixed(found: list[Any]) -> list[Any]:
            return order.sample(found, len(found)) if mix else found

        cases = [case(mixed(gold), case_id=f"c{n}") for n, (gold, _) in enumerate(documents)]
        outputs = {f"c{n}": output(mixed(predicted)) for n, (_, predicted) in enumerate(documents)}
        return values(SUITE, mixed(cases), outputs)

    found = run(mix=False)
    assert run(mix=True) == found
    assert all(value is None or 0.0 <= value <= 1.0 for value in found.values())
    for rate in ("precision", "recall", "f1"):
        strict, partial = found[f"strict_{rate}"], found[f"partial_{rate}"]
        assert (strict is None) == (partial is None)
        assert strict is None or partial is None or strict <= partial + 1e-12


@settings(max_examples=20, deadline=None)
@given(_sets)
def test_an_error_never_pays(documents: list[tuple[list[Marked], list[Marked]]]) -> None:
    cases = [case(gold, case_id=f"c{n}") for n, (gold, _) in enumerate(documents)]
    outputs: dict[str, Any] = {f"c{n}": output(predicted) for n, (_, predicted) in enumerate(documents)}
    outputs["c0"] = output(documents[0][0])
    before = values(SUITE, cases, outputs)
    after = values(SUITE, cases, {**outputs, "c0": Answer("c0", error="timeout")})
    for name in ("strict_f1", "partial_f1", "token_f1", "strict_f1_macro", "strict_precision"):
        one, other = before[name], after[name]
        assert one is None or (other is not None and other <= one + 1e-12)


def _apart(found: list[Marked]) -> list[Marked]:
    """Entities that do not overlap, as nervaluate supposes."""
    kept: list[Marked] = []
    for each in found:
        if not kept or kept[-1][1] <= each[0]:
            kept.append(each)
    return kept


@settings(max_examples=25, deadline=None)
@given(_sets.map(lambda sets: [(_apart(gold), _apart(predicted)) for gold, predicted in sets]))
def test_strict_rates_equal_those_of_nervaluate(documents: list[tuple[list[Marked], list[Marked]]]) -> None:
    from nervaluate import Evaluator

    def dicts(found: list[Marked]) -> list[dict[str, Any]]:
        return [{"label": kind, "start": start, "end": end} for start, end, kind in found]

    known = [(gold, [each for each in predicted if each[2] in ENTITY_TYPES]) for gold, predicted in documents]
    cases = [case(gold, case_id=f"c{n}") for n, (gold, _) in enumerate(known)]
    ours = values(SUITE, cases, {f"c{n}": output(predicted) for n, (_, predicted) in enumerate(known)})
    theirs = Evaluator(
        [dicts(gold) for gold, _ in known],
        [dicts(predicted) for _, predicted in known],
        tags=list(ENTITY_TYPES),
        loader="dict",
    ).evaluate()["overall"]["strict"]
    for rate in ("precision", "recall", "f1"):
        assert (ours[f"strict_{rate}"] or 0.0) == pytest.approx(getattr(theirs, rate))


@settings(max_examples=20, deadline=None)
@given(_gold.map(_apart), _gold.map(_apart))
def test_token_rates_equal_those_of_scikit_learn(gold: list[Marked], predicted: list[Marked]) -> None:
    from sklearn.metrics import precision_recall_fscore_support

    def labels(found: list[Marked]) -> list[tuple[int, str]]:
        return [
            (number, kind)
            for number, word in enumerate(words(TEXT))
            for kind in (MUSEUM, PLACE)
            if any(each[0] < word.end and word.start < each[1] and each[2] == kind for each in found)
        ]

    pairs = [(number, kind) for number in range(len(words(TEXT))) for kind in (MUSEUM, PLACE)]
    true = [pair in labels(gold) for pair in pairs]
    claimed = [pair in labels(predicted) for pair in pairs]
    precision, recall, f1, _ = precision_recall_fscore_support(
        true, claimed, average="binary", zero_division=0
    )
    found = scored(gold, predicted)
    for name, value in (("precision", precision), ("recall", recall), ("f1", f1)):
        assert (found[f"token_{name}"] or 0.0) == pytest.approx(value)


def test_a_split_can_be_scored_alone() -> None:
    cases = [case(GOLD, case_id="a", split="train"), case(GOLD, case_id="b", split="test")]
    from eval_pipeline.suites._heritage.attributes import Settings

    answers = Recorded({"a": output([]), "b": output(GOLD)})
    scores = score_cases(SUITE, cases, answers, Context(settings=Settings("test")))
    summary = summarize(SUITE, scores, {})
    assert (summary.cases, summary.metrics["strict_f1"].value) == (1, 1.0)


def test_a_split_without_cases_is_bad_input() -> None:
    from eval_pipeline.problems import BadInput
    from eval_pipeline.suites._heritage.attributes import Settings

    with pytest.raises(BadInput, match="select no case"):
        score_cases(SUITE, [case(GOLD)], Recorded({}), Context(settings=Settings("dev")))


def entity(start: int, end: int, kind: str = PLACE) -> dict[str, Any]:
    return {"text": "", "type": kind, "start": start, "end": end}


@pytest.mark.parametrize(
    "invented",
    [
        [entity(100, 110), entity(200, 210), entity(300, 310)],
        [entity(18, 70), entity(18, 71), entity(18, 72)],
        [entity(9, 3), entity(9, 4), entity(9, 5)],
        [entity(2**53, 2**53), entity(2**53 - 1, 2**53), entity(2**52, 0)],
    ],
)
def test_entities_outside_of_the_text_are_as_many_as_were_given(invented: list[dict[str, Any]]) -> None:
    """Cut to the text they would all be one and the same, and three inventions would cost as much as one."""
    delft = entity(18, 23)
    for entities in ([delft, *invented], [*reversed(invented), delft]):
        metrics = values(SUITE, [case([(18, 23, PLACE)])], {"case": {"entities": entities}})
        assert metrics["strict_precision"] == 0.25
        assert metrics["duplicate_rate"] == 0.0
    twice = values(SUITE, [case([(18, 23, PLACE)])], {"case": {"entities": [delft, *invented, *invented]}})
    assert twice["strict_precision"] == 0.25
    assert twice["duplicate_rate"] == pytest.approx(3 / 7)
