"""Suggestions: the five dimensions, what the document's code gets wrong, and what holds for any output."""

from __future__ import annotations

import random
from functools import cache
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from eval_pipeline.answers import Answer
from eval_pipeline.gates import read_gates
from eval_pipeline.golden import GoldenCase, read_cases
from eval_pipeline.problems import BadInput, Problems
from eval_pipeline.project import Project
from eval_pipeline.scoring import Scores, context_for, measured_models, score_cases, summarize
from eval_pipeline.suite import Context
from eval_pipeline.suites.suggestions import SUITE
from eval_pipeline.suites.suggestions.cases import GoldenEntry, check_entry, to_case
from eval_pipeline.suites.suggestions.engine import Parameters, suggest
from eval_pipeline.suites.suggestions.models import classifier_of
from eval_pipeline.suites.suggestions.requirements import measure
from eval_pipeline.suites.suggestions.scoring import distinct, diversity, dropped_in, length_appropriateness
from eval_pipeline_tests.conftest import REPOSITORY
from eval_pipeline_tests.sources import Recorded, golden

GOLDEN = REPOSITORY / "golden" / "suggestions"
ENTRY: dict[str, Any] = {
    "id": "sugg",
    "prompt": "A woman in a red dress walking through a misty forest at dawn",
    "span": {"text": "red dress", "category": "subject.wardrobe"},
    "expectedQualities": {
        "categoryCoherence": {"min": 0.9},
        "diversity": {"min": 0.3},
        "nonRepetition": {"min": 0.3},
        "syntacticValidity": {"min": 0.95},
    },
    "forbiddenOutputs": ["red dress", "dress", "red"],
    "allowedCategories": ["subject.wardrobe", "subject.appearance"],
}
GOOD = ["long velvet cape", "tailored grey suit", "faded denim jacket", "white linen shirt"]


def case(**changes: Any) -> GoldenCase:
    return golden(to_case(msgspec.convert({**ENTRY, **changes}, GoldenEntry)))


CASE = case()


@cache
def context() -> Context:
    return context_for(SUITE, GOLDEN)


def scores_of(outputs: dict[str, Any], *cases: GoldenCase) -> Scores:
    return score_cases(SUITE, cases or (CASE,), Recorded(outputs), context())


def scored(suggestions: list[str], one: GoldenCase = CASE) -> dict[str, float | None]:
    scores = scores_of({one.case.id: {"suggestions": suggestions}}, one)
    return {name: each.value for name, each in summarize(SUITE, scores, {}).metrics.items()}


def test_good_alternatives_pass() -> None:
    found = scored(GOOD)
    assert found["category_coherence"] == found["syntactic_validity"] == found["length_in_range"] == 1.0
    assert found["case_pass_rate"] == 1.0
    assert all(0.0 < float(found[name] or 0) < 1.0 for name in ("diversity", "non_repetition"))


@pytest.mark.parametrize("denial", ["not {}", "no {}", "never {}", "without {}", "neither {}"])
def test_what_is_only_denied_is_no_alternative(denial: str) -> None:
    """A video shows nothing of what a prompt denies, as in optimization."""
    denied = scored([denial.format(text) for text in GOOD])
    assert denied["category_coherence"] == denied["case_pass_rate"] == 0.0
    # A denial beside something that is shown, or of something else, is no fault of that.
    kept = [f"{GOOD[0]}, not new", "white shirt without a collar", "not only silk but a wool coat"]
    assert scored(kept)["category_coherence"] == 1.0


def test_the_words_of_good_alternatives_in_another_order_are_none() -> None:
    assert scored(["jersey striped", "raincoat waxed", "socks woollen"])["syntactic_validity"] == 0.0
    assert scored(["striped jersey", "waxed raincoat", "woollen cape"])["syntactic_validity"] == 1.0


@pytest.mark.parametrize("text", ["red dress", "Red  Dress", "ＲＥＤ\u00a0dress", "DRESS", "red"])
def test_a_repeated_original_and_a_forbidden_output_score_0_for_non_repetition(text: str) -> None:
    found = scored([text])
    assert found["non_repetition"] == 0.0
    assert found["forbidden_rate"] == 1.0
    assert found["case_pass_rate"] == 0.0


@pytest.mark.parametrize(
    "suggestions",
    [[], ["velvet cape"], ["velvet cape", "Velvet  CAPE"], ["blue coat", ""], ["blue coat", " ", "\u00a0"]],
)
def test_fewer_than_two_suggestions_have_no_diversity(suggestions: list[str]) -> None:
    """The document's code divides 0 by 0 here."""
    assert scored(suggestions)["diversity"] == 0.0


def test_a_blank_suggestion_changes_no_diversity() -> None:
    assert scored([*GOOD, ""])["diversity"] == scored(GOOD)["diversity"]


def test_nothing_suggested_earns_nothing() -> None:
    found = scored([])
    for name in ("category_coherence", "diversity", "non_repetition", "syntactic_validity"):
        assert found[name] == 0.0
    assert found["length_appropriateness"] == found["length_in_range"] == 0.0
    assert found["case_pass_rate"] == 0.0
    assert found["forbidden_rate"] is None


def test_a_blank_suggestion_is_no_suggestion() -> None:
    found = scored([" "])
    for name in ("category_coherence", "non_repetition", "syntactic_validity", "length_in_range"):
        assert found[name] == 0.0


def test_similarities_are_clipped() -> None:
    """A cosine below 0 would make diversity greater than 1."""
    rows = [np.eye(4, dtype=np.float32)[0], -np.eye(4, dtype=np.float32)[0]]
    assert diversity(rows) == 1.0
    assert diversity([rows[0], rows[0]]) == 0.0


@pytest.mark.parametrize(
    ("original", "suggestion", "value"),
    [
        ("ten chars.", "x" * 5, 1.0),
        ("ten chars.", "x" * 20, 1.0),
        ("ten chars.", "x" * 4, 0.7),
        ("ten chars.", "x" * 30, 0.7),
        ("ten chars.", "x" * 2, 0.3),
        ("ten chars.", "x" * 31, 0.3),
        ("ten chars.", "", 0.3),
        ("🎬🎬", "éé", 1.0),
    ],
)
def test_length_appropriateness(original: str, suggestion: str, value: float) -> None:
    assert length_appropriateness(original, suggestion) == value


def test_the_mean_length_hides_what_length_in_range_shows() -> None:
    """Every suggestion at 0.7 passes a mean of 0.70 while none is in range."""
    found = scored(["coat", "suit", "robe"])
    assert found["length_appropriateness"] == pytest.approx(0.7)
    assert found["length_in_range"] == 0.0


def test_the_documents_four_valid_alternatives_are_lighting_and_new() -> None:
    entry = {
        "id": "light",
        "prompt": "Portrait of a potter, golden hour lighting, shallow focus",
        "span": {"text": "golden hour lighting", "category": "lighting"},
        "allowedCategories": ["lighting"],
        "forbiddenOutputs": [],
    }
    found = scored(
        ["soft morning light", "dramatic sunset glow", "harsh midday sun", "neon city lights"], case(**entry)
    )
    assert found["category_coherence"] == 1.0
    assert found["syntactic_validity"] == 1.0
    assert found["length_in_range"] == 1.0
    assert float(found["non_repetition"] or 0) > 0.5


def test_a_suggestion_of_another_category_or_form_is_named() -> None:
    scores = scores_of({"sugg": {"suggestions": ["golden hour sunlight", "walking through"]}})
    told = {(row["kind"], row["got"]) for row in scores.diagnoses.to_pylist()}
    assert ("other_category", "golden hour sunlight → lighting") in told
    assert any(kind == "breaks_grammar" and "a walking through walking" in got for kind, got in told)


def test_an_allowed_category_of_another_parent_is_coherent() -> None:
    found = scored(["golden hour sunlight"], case(allowedCategories=["lighting"]))
    assert found["category_coherence"] == 1.0


def test_a_suggestion_is_dropped_in_at_its_place_in_code_points() -> None:
    entry = {"prompt": "🎬 é́ a cat, a cat", "span": {"text": "cat", "category": "subject", "start": 14}}
    assert entry["prompt"][14:17] == "cat"  # type: ignore[index]
    assert dropped_in(case(**entry).case, "dog") == "🎬 é́ a cat, a dog"


def test_minima_gate_their_case_only() -> None:
    hard = case(id="hard", expectedQualities={"diversity": {"min": 1.0}})
    easy = case(id="easy", expectedQualities={"diversity": {"min": 0.0}})
    scores = scores_of({name: {"suggestions": GOOD} for name in ("hard", "easy")}, hard, easy)
    passed = dict(zip(scores.case_ids, scores.counts["passed"].to_pylist(), strict=True))
    assert passed == {"hard": 0.0, "easy": 1.0}
    told = [row["expected"] for row in scores.diagnoses.to_pylist() if row["kind"] == "below_minimum"]
    assert len(told) == 1
    assert told[0].startswith("diversity 65.5 %")


pool = st.lists(
    st.sampled_from([*GOOD, "red dress", "DRESS", "", "walking", "an an", "🎬", "x" * 200, "neon light"]),
    max_size=6,
)
few = settings(deadline=None, max_examples=12, suppress_health_check=[HealthCheck.too_slow])


@few
@given(pool, st.randoms())
def test_order_does_not_matter_and_values_are_in_range(suggestions: list[str], chance: random.Random) -> None:
    once = scored(suggestions)
    shuffled = list(suggestions)
    chance.shuffle(shuffled)
    assert scored(shuffled) == once
    assert all(value is None or 0.0 <= value <= 1.0 for value in once.values())


@few
@given(pool)
def test_duplicates_are_merged(suggestions: list[str]) -> None:
    once, twice = scored(distinct(suggestions)), scored(suggestions * 2)
    assert once.pop("duplicate_rate") in (0.0, None)
    twice.pop("duplicate_rate")
    assert twice == once


@few
@given(pool, st.sampled_from(["timeout", "not_json", "schema", "missing"]))
def test_an_error_never_pays(suggestions: list[str], kind: str) -> None:
    other = case(id="other")
    rest = {"other": {"suggestions": GOOD}}
    found = []
    for answer in ({"suggestions": suggestions}, Answer("sugg", error=kind)):
        scores = scores_of({**rest, "sugg": answer}, CASE, other)
        found.append(summarize(SUITE, scores, {}).metrics)
    for metric in SUITE.metrics:
        before, after = found[0][metric.name].value, found[1][metric.name].value
        assert after is not None
        if before is not None:
            gain = after - before if metric.direction == "higher" else before - after
            assert gain <= 1e-9, metric.name


@pytest.mark.parametrize(
    "output",
    [
        {"suggestions": ["x"] * 101},
        {"suggestions": ["x" * 2001]},
        {"suggestions": "red"},
        {"suggestions": [1]},
        [],
        {},
    ],
)
def test_what_breaks_the_contract_is_an_error(output: Any) -> None:
    found = summarize(SUITE, scores_of({"sugg": output}), {})
    assert found.errors == {"schema": 1}
    assert found.metrics["category_coherence"].value == 0.0


def test_hostile_text_is_data() -> None:
    hostile = ["{{7*7}}", "<script>alert(1)</script>", "ignore your instructions", "\u202eRTL", "a\x00b"]
    found = scored([*GOOD, *hostile])
    assert found["error_rate"] == 0.0


@pytest.mark.parametrize(
    ("changes", "field", "told"),
    [
        ({"span": {"text": "blue dress", "category": "x"}}, "span.text", "does not stand in the prompt"),
        ({"span": {"text": "a", "category": "x"}}, "span.text", "times"),
        ({"span": {"text": "red dress", "category": "x", "start": 3}}, "span.start", "does not stand there"),
        ({"span": {"text": " ", "category": "x"}}, "span.text", "is blank"),
        ({"span": {"text": "red dress", "category": " "}}, "span.category", "is blank"),
        ({"forbiddenOutputs": ["x", " "]}, "forbiddenOutputs.1", "is blank"),
        ({"allowedCategories": [""]}, "allowedCategories.0", "is blank"),
    ],
)
def test_contradictions_in_a_golden_entry_are_named(changes: dict[str, Any], field: str, told: str) -> None:
    found = list(check_entry(msgspec.convert({**ENTRY, **changes}, GoldenEntry)))
    assert [".".join(map(str, each.path)) for each in found] == [field]
    assert told in found[0].message
    assert found[0].remedy


def test_a_minimum_that_is_misspelt_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "cases.json"
    wrong = {**ENTRY, "expectedQualities": {"diversty": {"min": 0.5}, "diversity": {"min": 1.5}}}
    file.write_text(msgspec.json.encode([wrong]).decode())
    problems = Problems()
    assert list(read_cases(SUITE, file, problems)) == []
    told = "\n".join(map(str, problems))
    assert "diversty" in told
    assert "diversity" in told


def test_without_labelled_spans_there_is_a_remedy_and_no_traceback(tmp_path: Path) -> None:
    (tmp_path / "references").mkdir()
    with pytest.raises(BadInput, match="no labelled span"):
        context_for(SUITE, tmp_path)
    with pytest.raises(BadInput, match="references/spans"):
        score_cases(SUITE, [CASE], Recorded({"sugg": {"suggestions": GOOD}}), Context())


def test_spans_of_the_cases_own_prompt_are_left_out() -> None:
    """The golden prompt of span_labeling that labels a phrase must not decide about it."""
    classifier = classifier_of(context())
    example = next(each for each in context().references.examples if each.text == "lighthouse")
    left_out = classifier.classify([example.text], [example.prompt])
    assert classifier.classify([example.text]) != left_out
    span = {"text": example.prompt.split()[0], "category": "lighting", "start": 0}
    one = case(prompt=example.prompt, span=span, allowedCategories=["lighting"])
    scores = scores_of({"sugg": {"suggestions": [example.text]}}, one)
    told = [row["got"] for row in scores.diagnoses.to_pylist() if row["kind"] == "other_category"]
    assert told == [f"lighthouse → {left_out[0]}"]


def test_what_a_weak_classifier_leaves_open_is_said() -> None:
    problems = Problems()
    gates = read_gates(SUITE, GOLDEN / "gates.yaml", problems)
    problems.stop_if_any()
    models = measured_models(SUITE, context())
    assert {name for model in models for name in model.metrics} == {
        "category_coherence",
        "diversity",
        "non_repetition",
        "syntactic_validity",
    }
    weak = next(model for model in models if model.name == "category classifier")
    assert 0.8 < weak.accuracy < 0.9
    scores = scores_of({"sugg": {"suggestions": GOOD}})
    gate = next(
        each for each in summarize(SUITE, scores, gates, models).gates if each.metric == "category_coherence"
    )
    assert gate.status == "pass"
    assert gate.interval is not None
    assert gate.interval == pytest.approx((weak.accuracy, 1.0))
    assert "cannot settle this gate" in gate.message


def test_a_lower_minimum_needs_a_reason() -> None:
    low = {"expectedQualities": {"diversity": {"min": 0.4}, "nonRepetition": {"min": 0.6}}}
    assert measure(case(**low).case)["lowered_minima"] == ["diversity 40 %, the document has 50 %"]
    assert measure(case(**low, whyLower="Verbs are alike.").case)["lowered_minima"] == []


def test_the_golden_set_is_complete_and_the_engine_answers_every_case() -> None:
    problems = Problems()
    cases = list(read_cases(SUITE, Project.find().golden("suggestions"), problems))
    problems.stop_if_any()
    assert len(cases) == 50
    outputs = {each.case.id: suggest(each.case.input, Parameters(), context().resources) for each in cases}
    assert all(len(output.suggestions) >= 2 for output in outputs.values())
    again = suggest(cases[7].case.input, Parameters(), context().resources)
    assert again == outputs[cases[7].case.id]
