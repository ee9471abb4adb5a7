"""Span metrics: worked examples, an oracle by enumeration, and properties that hold for any output."""

from __future__ import annotations

import random
import unicodedata
from functools import partial
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from eval_pipeline.answers import Answer
from eval_pipeline.golden import GoldenCase
from eval_pipeline.scoring import Scores, score_cases, summarize
from eval_pipeline.suite import Case, Context, Item, Items
from eval_pipeline.suites.span_labeling import SUITE
from eval_pipeline.suites.span_labeling.cases import Span, SpanExpected, SpanInput
from eval_pipeline.suites.span_labeling.reading import nearest
from eval_pipeline.suites.span_labeling.scoring import Labels, Settings, problem_categories
from eval_pipeline_tests.sources import Recorded, golden, values
from eval_pipeline_tests.suites.span_labeling.oracle import expected_values

PROMPT = "A woman with soft highlights on the contours of her red dress walks through a misty forest."
WHO, HOW, WEAR, MOVE, WHERE = (
    "subject.identity",
    "lighting",
    "subject.wardrobe",
    "action.movement",
    "environment.location",
)


def span(text: str, category: str, prompt: str = PROMPT, at: int | None = None) -> dict[str, Any]:
    """A span at the first place of its text, or where it is said to be."""
    start = prompt.index(text) if at is None else at
    return {"text": text, "start": start, "end": start + len(text), "category": category}


def case_of(spans: list[dict[str, Any]], prompt: str = PROMPT, name: str = "case") -> GoldenCase:
    marked = [Span(**each) for each in spans]
    return golden(Case(name, SpanInput(prompt), SpanExpected(marked), {"kind": "core"}))


GOLD = [
    span("woman", WHO),
    span("soft highlights on the contours", HOW),
    span("red dress", WEAR),
    span("walks", MOVE),
    span("misty forest", WHERE),
]
CASE = case_of(GOLD)


def scored(spans: list[dict[str, Any]], case: GoldenCase = CASE) -> dict[str, float | None]:
    return values(SUITE, [case], {case.case.id: {"spans": spans}})


def scores_of(spans: list[dict[str, Any]], case: GoldenCase = CASE, context: Context | None = None) -> Scores:
    return score_cases(SUITE, [case], Recorded({case.case.id: {"spans": spans}}), context or Context())


def cells(
    spans: list[dict[str, Any]], case: GoldenCase = CASE, table: str = "confusion"
) -> dict[tuple[str, str], float]:
    rows = scores_of(spans, case).keyed.to_pylist()
    return {(row["row_key"], row["column_key"]): row["value"] for row in rows if row["table"] == table}


def test_the_golden_spans_themselves_score_one() -> None:
    found = scored(GOLD)
    good = ("relaxed_f1", "relaxed_precision", "relaxed_recall", "taxonomy_accuracy", "case_pass_rate")
    bad = ("fragmentation_rate", "over_extraction_rate", "misaligned_rate", "duplicate_rate", "error_rate")
    assert {name: found[name] for name in (*good, *bad)} == {
        **dict.fromkeys(good, 1.0),
        **dict.fromkeys(bad, 0.0),
    }


def test_soft_highlights_match_soft_highlights_on_the_contours() -> None:
    """The pair that the document calls acceptable has an IoU of 0.48: a threshold of 0.5 would reject it."""
    case, output = case_of([GOLD[1]]), [span("soft highlights", HOW)]
    assert len("soft highlights") / len("soft highlights on the contours") == pytest.approx(0.48, abs=0.005)
    assert scored(output, case)["relaxed_f1"] == 1.0
    strict = summarize(SUITE, scores_of(output, case, Context(settings=Settings(minimum_iou=0.5))), {})
    assert strict.metrics["relaxed_f1"].value == 0.0


@pytest.mark.parametrize(
    ("start", "end", "matches"),
    [(0, 4, True), (2, 6, True), (1, 3, True), (3, 7, False), (2, 7, False), (4, 8, False)],
)
def test_a_drift_of_two_characters_does_not_matter(start: int, end: int, matches: bool) -> None:
    """On a span of four letters, a shift by two has an IoU of only 0.33. Touching is not overlapping."""
    prompt = "fogs are here"
    case = case_of([span("fogs", "environment.weather", prompt)], prompt)
    drifted = {"text": prompt[start:end], "start": start, "end": end, "category": "environment.weather"}
    assert scored([drifted], case)["relaxed_recall"] == float(matches)


def test_the_category_matters_more_than_the_boundaries() -> None:
    found = scored([span("soft highlights", HOW), span("woman", WEAR)])
    assert found["relaxed_precision"] == 0.5
    assert found["taxonomy_accuracy"] == 0.5
    assert found["over_extraction_rate"] == 0.0


def test_a_neighbour_that_touches_is_no_fragment() -> None:
    """Counting any overlap would call "red dress" broken where a neighbour reaches into it by a letter."""
    neighbour = span("highlights on the contours of her r", HOW)
    found = scored([neighbour, span("red dress", WEAR)])
    assert found["fragmentation_rate"] == 0.0


def test_two_halves_are_a_fragmented_span_and_no_over_extraction() -> None:
    found = scored([span("soft highlights", HOW), span("contours", HOW), span("on the", HOW)])
    assert found["fragmentation_rate"] == pytest.approx(1 / 5)
    assert found["over_extraction_rate"] == 0.0
    assert found["relaxed_precision"] == pytest.approx(1 / 3)


def test_what_stands_nowhere_near_a_golden_span_is_over_extracted() -> None:
    assert scored([span("woman", WHO), span("through a", MOVE)])["over_extraction_rate"] == 0.5


def test_the_best_matching_is_not_the_first() -> None:
    """Greedy matching in list order gives the first golden span the only partner of the second."""
    prompt = "0123456789"
    case = case_of([span("01234567", WHO, prompt), span("0123", WHO, prompt)], prompt)
    output = [span("012345", WHO, prompt), span("01234567", WHO, prompt)]
    assert scored(output, case)["relaxed_recall"] == 1.0
    assert scored(output[::-1], case)["relaxed_recall"] == 1.0


def test_ties_in_overlap_go_to_the_same_category() -> None:
    output = [span("red dress", WHO), span("red dress", WEAR)]
    assert cells(output)[WEAR, WEAR] == 1.0
    assert cells(output)["spurious", WHO] == 1.0
    assert scored(output)["taxonomy_accuracy"] == 1.0


LETTERS = "abcdefghijklmnop"


@pytest.mark.parametrize(
    ("gold", "output", "name", "value"),
    [
        # More in common beats the same category.
        (("abcdefghij", "a"), [("abcdefgh", "b"), ("abcdef", "a")], "taxonomy_accuracy", 0.0),
        # With as much in common, the one that starts first is matched; the other is its fragment.
        (("efghij", "a"), [("efghij", "b"), ("abcdefghijklm", "b")], "over_extraction_rate", 0.0),
        # With the same start, the one that ends first; the longer one lies less than half inside.
        (("abcdef", "a"), [("abcdef", "b"), ("abcdefghijklm", "b")], "over_extraction_rate", 0.5),
        # Half inside is a fragment, less is not.
        (("abcdefghij", "a"), [("hijklm", "a")], "over_extraction_rate", 0.0),
        (("abcdefghij", "a"), [("hijklmn", "a")], "over_extraction_rate", 1.0),
    ],
)
def test_which_of_several_partners_is_taken(
    gold: tuple[str, str], output: list[tuple[str, str]], name: str, value: float
) -> None:
    case = case_of([span(*gold, LETTERS)], LETTERS)
    for order in (output, output[::-1]):
        assert scored([span(*each, LETTERS) for each in order], case)[name] == value


def test_the_confusion_matrix_has_a_place_for_missed_spurious_and_invalid() -> None:
    output = [
        span("woman", WEAR),
        span("red dress", "garments"),
        span("walks", MOVE),
        span("through a", MOVE),
    ]
    assert cells(output) == {
        (WHO, WEAR): 1.0,
        (WEAR, "invalid"): 1.0,
        (MOVE, MOVE): 1.0,
        (HOW, "missed"): 1.0,
        (WHERE, "missed"): 1.0,
        ("spurious", MOVE): 1.0,
    }
    rows = summarize(SUITE, scores_of(output), {}).tables["confusion"]
    assert [row[""] for row in rows] == [MOVE, WHERE, HOW, WHO, WEAR, "spurious"]
    assert list(rows[0]) == ["", MOVE, WEAR, "invalid", "missed"]
    assert rows[-1] == {"": "spurious", MOVE: 1, WEAR: 0, "invalid": 0, "missed": 0}


def test_a_category_is_compared_after_normalization() -> None:
    assert scored([{**GOLD[0], "category": " Subject.Identity\u00a0"}])["relaxed_precision"] == 1.0


@pytest.mark.parametrize(
    ("start", "end", "place"),
    [(0, 3, 4), (9, 12, 12), (8, 11, 4), (-5, -2, 4), (10**30, 10**30 + 3, 20), (4, 9**99, 4)],
)
def test_a_misaligned_span_is_relocated_to_the_nearest_occurrence(start: int, end: int, place: int) -> None:
    prompt = "the red and red and red"
    case = case_of([{**span("red", WEAR, prompt), "start": place, "end": place + 3}], prompt)
    found = scored([{"text": "red", "start": start, "end": end, "category": WEAR}], case)
    assert found["relaxed_recall"] == 1.0
    assert found["misaligned_rate"] == 1.0


@pytest.mark.parametrize("text", ["blue", "", "Red", "red  and"])
def test_a_text_that_stands_nowhere_is_spurious(text: str) -> None:
    prompt = "the red and red"
    case = case_of([span("red", WEAR, prompt)], prompt)
    found = scored([{"text": text, "start": 0, "end": 3, "category": WEAR}], case)
    assert (found["relaxed_precision"], found["over_extraction_rate"], found["misaligned_rate"]) == (
        0.0,
        1.0,
        1.0,
    )


def test_a_blank_text_stands_nowhere_even_over_blanks() -> None:
    case = case_of([span("red", WEAR, "the red")], "the red")
    found = scored([{"text": "", "start": 3, "end": 4, "category": WEAR}], case)
    assert (found["over_extraction_rate"], found["misaligned_rate"]) == (1.0, 1.0)


def test_spelling_apart_the_text_is_compared_as_everywhere() -> None:
    prompt = "A RED\u00a0dress"
    case = case_of([span("RED\u00a0dress", WEAR, prompt)], prompt)
    found = scored([{"text": "red dress", "start": 2, "end": 11, "category": WEAR}], case)
    assert (found["relaxed_f1"], found["misaligned_rate"]) == (1.0, 0.0)


def test_exact_duplicates_are_merged_and_counted() -> None:
    once, thrice = scored(GOLD), scored(GOLD * 3)
    assert thrice["duplicate_rate"] == pytest.approx(2 / 3)
    assert {**thrice, "duplicate_rate": 0.0} == once


def test_offsets_count_code_points() -> None:
    """An emoji with a joiner, a flag and a combining accent are several code points and more bytes."""
    prompt = "👩🏽‍🚀✨ cafe\u0301 🇫🇷 astronaut"
    start = prompt.index("astronaut")
    assert start == len("👩🏽‍🚀✨ cafe\u0301 🇫🇷 ") == 15
    assert len(prompt.encode("utf-16-le")) // 2 > len(prompt) > len(unicodedata.normalize("NFC", prompt))
    case = case_of([span("astronaut", WHO, prompt), span("cafe\u0301", WHERE, prompt)], prompt)
    found = scored([span("astronaut", WHO, prompt), span("cafe\u0301", WHERE, prompt)], case)
    assert (found["relaxed_f1"], found["misaligned_rate"]) == (1.0, 0.0)
    utf16 = {"text": "astronaut", "start": start + 5, "end": start + 14, "category": WHO}
    assert scored([utf16], case)["misaligned_rate"] == 1.0


def test_signs_and_problem_categories_name_what_the_mean_hides() -> None:
    """Eight of ten is fine, seven of ten is a warning, six of ten is a problem."""
    prompt = " ".join(f"w{number:03}" for number in range(60))
    gold = [
        span(f"w{10 * row + column:03}", category, prompt)
        for row, category in enumerate(("style.fine", "style.fair", "style.poor"))
        for column in range(10)
    ]
    kept = [each for index, each in enumerate(gold) if index % 10 < (8, 7, 6)[index // 10]]
    extra = [
        span(f"w{30 + 10 * row + column:03}", category, prompt)
        for row, (category, more) in enumerate((("style.fine", 2), ("style.fair", 3), ("style.poor", 4)))
        for column in range(more)
    ]
    case = case_of(gold, prompt)
    summary = summarize(SUITE, scores_of([*kept, *extra], case), {})
    rows = {row["category"]: row for row in summary.tables["categories"]}
    assert {name: (row["f1"], row["sign"], row["support"]) for name, row in rows.items()} == {
        "style.fine": (pytest.approx(0.8), "✓", 10),
        "style.fair": (pytest.approx(0.7), "⚠", 10),
        "style.poor": (pytest.approx(0.6), "✗", 10),
    }
    assert summary.problems == ("style.poor = 60.0 %",)
    assert problem_categories({"categories": list(reversed(summary.tables["categories"]))}) == [
        "style.poor = 60.0 %"
    ]


def test_nothing_predicted_is_undefined_or_zero_and_passes_nowhere() -> None:
    found = scored([])
    undefined = ("relaxed_precision", "taxonomy_accuracy", "over_extraction_rate", "misaligned_rate")
    assert [found[name] for name in undefined] == [None] * 4
    assert (found["relaxed_f1"], found["relaxed_recall"], found["case_pass_rate"]) == (0.0, 0.0, 0.0)


def test_a_prompt_with_nothing_to_find_passes_when_nothing_is_found() -> None:
    bare = case_of([], "make it nicer please")
    assert scored([], bare)["case_pass_rate"] == 1.0
    assert scored([], bare)["relaxed_f1"] is None
    assert scored([span("nicer", HOW, "make it nicer please")], bare)["over_extraction_rate"] == 1.0


CATEGORIES = st.sampled_from(["a", "b", "c"])
PROMPTS = st.text(alphabet="xy", min_size=1, max_size=12)


@st.composite
def small_cases(draw: st.DrawFn) -> tuple[str, list[dict[str, Any]], list[dict[str, Any]]]:
    """A short prompt with a few golden and predicted spans, some of which are not where they say."""
    prompt = draw(PROMPTS)

    def drawn(count: int) -> list[dict[str, Any]]:
        found = []
        for _ in range(draw(st.integers(0, count))):
            start = draw(st.integers(0, len(prompt) - 1))
            end = draw(st.integers(start + 1, len(prompt)))
            found.append(
                {"text": prompt[start:end], "start": start, "end": end, "category": draw(CATEGORIES)}
            )
        return found

    golden_spans = [dict(each) for each in {tuple(sorted(span.items())) for span in drawn(4)}]
    predicted = drawn(4)
    for each in predicted:
        shift = draw(st.sampled_from([0, 0, 0, -3, 2, 50]))
        each["start"], each["end"] = each["start"] + shift, each["end"] + shift
        each["text"] = draw(st.sampled_from([each["text"], each["text"], "zz", ""]))
    return prompt, golden_spans, predicted


@pytest.mark.slow
@settings(max_examples=200, deadline=None)
@given(small_cases(), st.randoms(use_true_random=False))
def test_every_metric_equals_the_oracle_in_any_order_and_is_in_range(
    drawn: tuple[str, list[dict[str, Any]], list[dict[str, Any]]], chance: random.Random
) -> None:
    prompt, gold, predicted = drawn
    found = scored(predicted, case_of(gold, prompt))
    oracle = expected_values(prompt, gold, predicted)
    assert {name: found[name] for name in oracle} == pytest.approx(oracle, nan_ok=True)
    assert all(value is None or 0 <= value <= 1 for value in found.values())
    shuffled = case_of(chance.sample(gold, len(gold)), prompt), chance.sample(predicted, len(predicted))
    assert scored(shuffled[1], shuffled[0]) == found
    assert cells(shuffled[1], shuffled[0]) == cells(predicted, case_of(gold, prompt))


@settings(max_examples=60, deadline=None)
@given(st.lists(small_cases(), min_size=2, max_size=4))
def test_nothing_is_matched_across_cases(
    drawn: list[tuple[str, list[dict[str, Any]], list[dict[str, Any]]]],
) -> None:
    """Scored together or apart, every case has the same counts."""
    items = [
        Item(
            case_of(gold, prompt, f"case-{number}").case,
            1,
            Labels([Span(**each) for each in predicted]),
            partial(Answer, f"case-{number}"),
        )
        for number, (prompt, gold, predicted) in enumerate(drawn)
    ]
    together = SUITE.score(Items.of(items), Context())
    for number, item in enumerate(items):
        apart = SUITE.score(Items.of([item]), Context())
        assert {name: column[0] for name, column in apart.counts.items()} == {
            name: column[number] for name, column in together.counts.items()
        }
        assert [row for _, row in apart.keyed] == [row for index, row in together.keyed if index == number]


@settings(max_examples=80, deadline=None)
@given(small_cases(), st.sampled_from(["timeout", "not_json", "schema", "missing"]))
def test_an_error_never_pays(
    drawn: tuple[str, list[dict[str, Any]], list[dict[str, Any]]], kind: str
) -> None:
    """Beside any other case, replacing a perfect output by an error improves no metric."""
    prompt, gold, predicted = drawn
    cases = [CASE, case_of(gold, prompt, "other")]
    with_answer = values(SUITE, cases, {"case": {"spans": GOLD}, "other": {"spans": predicted}})
    with_error = values(SUITE, cases, {"case": Answer("case", error=kind), "other": {"spans": predicted}})
    for metric in SUITE.metrics:
        before, after = with_answer[metric.name], with_error[metric.name]
        assert before is not None
        assert after is not None
        assert (after - before if metric.direction == "higher" else before - after) <= 1e-9, metric.name


def test_a_run_of_errors_has_the_worst_value_everywhere() -> None:
    found = values(SUITE, [CASE], {})
    assert {metric.name: found[metric.name] for metric in SUITE.metrics} == {
        metric.name: 0.0 if metric.direction == "higher" else 1.0 for metric in SUITE.metrics
    }
    scores = score_cases(SUITE, [CASE], Recorded({}), Context())
    tables = summarize(SUITE, scores, {}).tables
    assert {row["f1"] for row in tables["categories"]} == {0.0}
    assert all(row["error"] == 1.0 for row in tables["confusion"])


def test_an_error_on_a_prompt_with_nothing_to_find_counts_as_a_wrong_span() -> None:
    bare = case_of([], "make it nicer please", "bare")
    found = values(SUITE, [CASE, bare], {"case": {"spans": GOLD}})
    assert found["relaxed_precision"] == pytest.approx(5 / 6)
    assert found["over_extraction_rate"] == pytest.approx(1 / 6)


def test_thousands_of_spans_at_one_place_and_a_million_characters_are_no_trouble() -> None:
    prompt = "fog " * 250_000 + "red dress"
    case = case_of([span("red dress", WEAR, prompt)], prompt)
    crowd = [{"text": "fog", "start": -number, "end": 5, "category": f"c{number}"} for number in range(1999)]
    found = scored([*crowd, span("red dress", WEAR, prompt)], case)
    assert found["relaxed_recall"] == 1.0
    assert found["over_extraction_rate"] == pytest.approx(1999 / 2000)
    too_many = values(SUITE, [case], {"case": {"spans": [GOLD[0]] * 2001}})
    assert too_many["error_rate"] == 1.0


@given(st.text(alphabet="ab", max_size=8), st.text(alphabet="ab", max_size=3), st.integers(-3, 12))
def test_the_nearest_occurrence_is_nearest(prompt: str, text: str, start: int) -> None:
    places = [at for at in range(len(prompt)) if text and prompt[at : at + len(text)] == text]
    assert nearest(text, prompt, start) == min(places, key=lambda at: (abs(at - start), at), default=-1)
