"""Optimization: the document's examples, what its code gets wrong, and what holds for any output."""

from __future__ import annotations

import random
import re
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from eval_pipeline.answers import Answer
from eval_pipeline.golden import ANSWERS_FILE, GoldenCase, read_cases
from eval_pipeline.language import patterns
from eval_pipeline.language.sentences import split_sentences
from eval_pipeline.problems import BadInput, Problems
from eval_pipeline.project import Project
from eval_pipeline.scoring import Scores, context_for, measured_models, score_cases, summarize
from eval_pipeline.suite import Context
from eval_pipeline.suites.optimization import SUITE
from eval_pipeline.suites.optimization.cases import (
    GoldenEntry,
    OptimizationInput,
    check_entry,
    size_of,
    to_case,
    word_count,
)
from eval_pipeline.suites.optimization.engine import Parameters, optimize
from eval_pipeline.suites.optimization.scoring import WELL_FORMED, technical_density, word_count_compliance
from eval_pipeline_tests.conftest import REPOSITORY
from eval_pipeline_tests.sources import Recorded, golden

GOLDEN = REPOSITORY / "golden" / "optimization"
ENTRY: dict[str, Any] = {
    "id": "opt",
    "input": "dog running in park",
    "expectedQualities": {"intentPreservation": {"min": 1.0}, "structuralCompleteness": {"min": 0.75}},
    "requiredElements": ["dog", "running", "park"],
    "forbiddenPatterns": ["violence", "explicit"],
    "targetModel": "sora",
}
VALID = [
    "A golden retriever sprinting through Central Park, morning light, handheld camera",
    "Medium shot of a dog running through a sunlit park, shallow depth of field",
    "Energetic canine bounding across green grass, dynamic motion blur",
]


def case(**changes: Any) -> GoldenCase:
    return golden(to_case(msgspec.convert({**ENTRY, **changes}, GoldenEntry)))


CASE = case()


@cache
def context() -> Context:
    return context_for(SUITE, GOLDEN)


def written_prompts() -> list[str]:
    """Five of the references that somebody wrote."""
    lines = (GOLDEN / ANSWERS_FILE).read_text().splitlines()[:5]
    return [msgspec.json.decode(line)["output"]["prompt"] for line in lines]


def scores_of(outputs: dict[str, Any], *cases: GoldenCase) -> Scores:
    return score_cases(SUITE, cases or (CASE,), Recorded(outputs), context())


def scored(prompt: str, one: GoldenCase = CASE) -> dict[str, float | None]:
    scores = scores_of({one.case.id: {"prompt": prompt}}, one)
    return {name: each.value for name, each in summarize(SUITE, scores, {}).metrics.items()}


@pytest.mark.parametrize("prompt", VALID)
def test_the_documents_three_valid_answers_keep_the_intent(prompt: str) -> None:
    found = scored(prompt)
    assert found["intent_preservation"] == 1.0
    assert found["structural_completeness"] == 1.0
    assert found["required_elements_present"] == 1.0


@pytest.mark.parametrize("prompt", ["A cat asleep on a sofa", "An empty park at dawn", "", "🎬"])
def test_a_lost_subject_is_a_lost_intent(prompt: str) -> None:
    found = scored(prompt)
    assert found["intent_preservation"] == 0.0
    assert found["case_pass_rate"] == 0.0


@pytest.mark.parametrize(
    "prompt",
    [
        "No dog is in the park.",
        "There is no dog running in the park.",
        "Nowhere do we see: a dog running in the park.",
        "A dog running in the park is nowhere to be seen.",
        "An empty park without a dog.",
    ],
)
def test_a_mention_that_is_denied_keeps_nothing(prompt: str) -> None:
    found = scored(prompt)
    assert found["intent_preservation"] == 0.0
    assert (found["required_elements_present"] or 0) <= 1 / 3


def test_a_lost_action_or_place_fails_the_case_though_the_subject_is_kept() -> None:
    good = optimize(OptimizationInput("dog running in park", "sora"), Parameters(), None).prompt
    assert scored(good)["case_pass_rate"] == 1.0
    other = good.replace("running in park", "sitting in a library")
    found = scored(other)
    assert found["intent_preservation"] == 1.0
    assert found["required_elements_present"] == pytest.approx(1 / 3)
    assert found["case_pass_rate"] == 0.0


def test_a_line_break_inside_a_sentence_hides_nothing() -> None:
    broken = case(input="A grey\nwolf runs\nthrough a snowy\nforest")
    assert scored("A deer.", broken)["intent_preservation"] == 0.0
    assert scored("A wolf\nruns through the forest.", broken)["intent_preservation"] == 1.0


def test_words_are_split_at_white_space() -> None:
    assert word_count("A dog – panting,\n tail/ears up") == 6
    assert word_count(" \n") == 0


def _swapped(words: list[str]) -> list[str]:
    return [word for pair in zip(words[1::2], words[::2], strict=False) for word in pair]


DISORDER: dict[str, Callable[[list[str]], list[str]]] = {
    "backwards": lambda words: words[::-1],
    "by alphabet": sorted,
    "neighbours exchanged": _swapped,
    "every second word first": lambda words: words[::2] + words[1::2],
    "longest first": lambda words: sorted(words, key=len, reverse=True),
    "shuffled": lambda words: random.Random(7).sample(words, len(words)),
}


def well_formed(prompt: str) -> float:
    found = scored(prompt)["well_formedness"]
    assert found is not None
    return found


@pytest.mark.parametrize("order", DISORDER)
def test_the_words_of_a_good_prompt_in_another_order_are_none(order: str) -> None:
    disordered = [" ".join(DISORDER[order](prompt.split())) for prompt in written_prompts()]
    assert max(map(well_formed, disordered)) < WELL_FORMED
    assert scored(written_prompts()[0])["case_pass_rate"] == 1.0
    assert scored(disordered[0])["case_pass_rate"] == 0.0


def test_sentences_in_another_order_and_fragments_hold_together() -> None:
    for prompt in written_prompts():
        assert well_formed(" ".join([*split_sentences(prompt)][::-1])) > 0.95
    assert [well_formed(prompt) for prompt in VALID] == [1.0, 1.0, 1.0]
    assert well_formed(" ") == 0.0


def test_an_input_without_a_subject_has_no_intent_to_measure() -> None:
    """The document's `every` over nothing is true: it would score 1."""
    vague = case(input="make it cinematic", expectedQualities={})
    assert scored("Anything at all", vague)["intent_preservation"] is None
    other = {"other": {"prompt": "A cat"}, "opt": {"prompt": "Anything"}}
    pooled = summarize(SUITE, scores_of(other, vague, case(id="other")), {})
    assert pooled.metrics["intent_preservation"].value == 0.0
    with_minimum = case(input="make it cinematic", expectedQualities={"intentPreservation": {"min": 0.0}})
    assert scored("Anything at all", with_minimum)["case_pass_rate"] == 0.0


def test_required_elements_are_matched_like_subjects() -> None:
    assert scored(VALID[0])["required_elements_present"] == 1.0
    assert scored("A canine asleep in a park")["required_elements_present"] == pytest.approx(2 / 3)
    assert scored(VALID[0], case(requiredElements=[]))["required_elements_present"] is None


@pytest.mark.parametrize(
    ("words", "value"),
    [
        (0, 0.2),
        (29, 0.2),
        (30, 0.5),
        (49, 0.5),
        (50, 0.8),
        (74, 0.8),
        (75, 1.0),
        (125, 1.0),
        (126, 0.8),
        (150, 0.8),
        (151, 0.5),
        (200, 0.5),
        (201, 0.2),
    ],
)
def test_word_count_compliance(words: int, value: float) -> None:
    assert word_count_compliance(words) == value


def test_an_empty_output_has_no_words() -> None:
    """Splitting an empty text at white space gives one word in the document's code."""
    assert word_count("") == 0
    found = scored("")
    assert found["word_count_compliance"] == 0.2
    assert found["structural_completeness"] == 0.0
    assert found["error_rate"] == 0.0


def test_with_140_words_everywhere_the_mean_passes_while_none_is_in_range() -> None:
    found = scored("word " * 140)
    assert found["word_count_compliance"] == 0.8
    assert found["word_count_in_range"] == 0.0


@pytest.mark.parametrize(
    ("terms", "value"), [(0, 0.3), (1, 0.7), (2, 1.0), (5, 1.0), (6, 0.7), (7, 0.7), (8, 0.3)]
)
def test_technical_density(terms: int, value: float) -> None:
    assert technical_density(terms) == value


@pytest.mark.parametrize(
    ("prompt", "density", "two"),
    [
        ("A panda walks past an unsteady company sign", 0.3, 0.0),
        ("A panda in close-up", 0.7, 0.0),
        ("A panda in close-up, golden hour, bokeh", 1.0, 1.0),
    ],
)
def test_technical_terms_stand_on_word_boundaries(prompt: str, density: float, two: float) -> None:
    found = scored(prompt)
    assert (found["technical_density"], found["technical_terms_2plus"]) == (density, two)


RUNNING = "A dog runs through a park in soft light, close-up."


@pytest.mark.parametrize(
    ("model", "prompt", "compliance"),
    [
        ("sora", f"{RUNNING} The look of the 1980s.", 1.0),
        ("sora", f"{RUNNING} 80s fashion, in her 30s.", 1.0),
        ("sora", f"{RUNNING} It lasts five seconds.", 0.8),
        ("sora", f"{RUNNING} It lasts 5s.", 0.8),
        ("sora", f"{RUNNING} A 10-second clip.", 0.8),
        ("sora", f"{RUNNING} It lasts 1.5 seconds.", 0.8),
        ("sora", f"{RUNNING} It lasts forty seconds.", 0.8),
        ("sora", f"{RUNNING} Hold for half a minute.", 0.8),
        ("sora", f"{RUNNING} It lasts seventy seconds.", 0.8),
        ("sora", f"{RUNNING} A 60s clip.", 0.8),
        ("sora", f"{RUNNING} It lasts 60 s.", 0.8),
        ("sora", f"{RUNNING} A two minute clip.", 0.8),
        ("sora", f"{RUNNING} A two-minute take.", 0.8),
        ("sora", f"{RUNNING} Two minute details.", 1.0),
        ("sora", f"{RUNNING} Past two second-hand bookshops.", 1.0),
        ("sora", f"{RUNNING} A 1960s clip.", 1.0),
        ("sora", f"{RUNNING} It lasts 5 seconds in 4K.", 0.7),
        ("veo3", RUNNING, 1.0),
        ("veo3", "A dog runs through a park.", 0.9),
        ("veo3", f"{RUNNING} With subtitles.", 0.9),
        ("runway", f"{RUNNING} No people.", 0.8),
        ("runway", f"Please generate: {RUNNING}", 0.8),
        ("kling", RUNNING, 1.0),
        ("kling", "A dog.", 0.5),
        ("luma", f"{RUNNING} {RUNNING} {RUNNING} A masterpiece.", 0.9),
        ("luma", "A dog.", 0.7),
    ],
)
def test_rules_of_target_models(model: str, prompt: str, compliance: float) -> None:
    assert scored(prompt, case(targetModel=model))["model_compliance"] == pytest.approx(compliance)


def test_every_model_has_rules_with_reasons() -> None:
    rules = context().resources.rules
    assert set(rules) >= {"sora", "veo3", "runway", "kling", "luma"}
    assert all(len(rule.reason) > 30 for each in rules.values() for rule in each)


def test_no_target_model_no_compliance() -> None:
    assert scored(RUNNING, case(targetModel=None))["model_compliance"] is None


def test_an_unknown_target_model_is_named() -> None:
    with pytest.raises(BadInput, match=r"no rules for 'sorra' \(case opt\).*kling, luma"):
        scored(RUNNING, case(targetModel="sorra"))


@pytest.mark.parametrize("hit", ["Violence!", "EXPLICIT", "non\u00adviolence"])
def test_any_forbidden_pattern_fails_the_case(hit: str) -> None:
    prompt = optimize(OptimizationInput("dog running in park", "sora"), Parameters(), None).prompt
    assert scored(prompt)["case_pass_rate"] == 1.0
    found = scored(f"{prompt} {hit}")
    assert found["forbidden_pattern_rate"] == 1.0
    assert found["case_pass_rate"] == 0.0


def test_what_went_wrong_is_told() -> None:
    scores = scores_of({"opt": {"prompt": "A cat. It lasts five seconds. Explicit violence."}})
    told = {(row["kind"], row["expected"]) for row in scores.diagnoses.to_pylist()}
    assert told >= {
        ("lost_subject", "dog"),
        ("lost_element", "park"),
        ("lacks", "environment"),
        ("breaks_model_rule", "explicit_duration"),
        ("forbidden_pattern", "explicit"),
        ("word_count", "75 to 125 words"),
        ("technical_terms", "2 to 5 terms"),
    }


@pytest.mark.parametrize(
    ("changes", "field"),
    [
        ({"input": " "}, "input"),
        ({"targetModel": " "}, "targetModel"),
        ({"requiredElements": ["dog", "?"]}, "requiredElements.1"),
        ({"forbiddenPatterns": ["(a{999}){999}"]}, "forbiddenPatterns.0"),
        ({"forbiddenPatterns": ["x", "["]}, "forbiddenPatterns.1"),
        ({"forbiddenPatterns": [""]}, "forbiddenPatterns.0"),
    ],
)
def test_contradictions_in_a_golden_entry_are_named(changes: dict[str, Any], field: str) -> None:
    found = list(check_entry(msgspec.convert({**ENTRY, **changes}, GoldenEntry)))
    assert [".".join(map(str, each.path)) for each in found] == [field]
    assert found[0].remedy


def test_a_pattern_that_takes_for_ever_is_bad_input_that_names_the_case(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(patterns, "MOST_SECONDS", 0.05)
    slow = case(forbiddenPatterns=["(a|aa){30}c"])
    with pytest.raises(BadInput, match=r"case opt: the pattern '\(a\|aa\)\{30\}c' was stopped after 0\.05 s"):
        scored("a" * 3000, slow)


def test_a_rule_that_asks_for_nothing_is_refused(tmp_path: Path) -> None:
    folder = tmp_path / "resources"
    folder.mkdir()
    (folder / "thesaurus.yaml").write_text("dog: [canine]\n")
    (folder / "models.yaml").write_text(
        'm:\n  - {id: a, penalty: 0.1, reason: " "}\n'
        '  - {id: b, penalty: 0.1, reason: r, forbids: ["(a{999}){999}"]}\n'
    )
    with pytest.raises(BadInput) as caught:
        context_for(SUITE, tmp_path)
    assert sorted(problem.field for problem in caught.value.problems) == [
        "m[0]",
        "m[0].reason",
        "m[1].forbids[0]",
    ]


@pytest.mark.parametrize(
    ("text", "size"), [("dog in park", "minimal"), ("word " * 8, "partial"), ("word " * 36, "complex")]
)
def test_sizes(text: str, size: str) -> None:
    assert size_of(text) == size


few = settings(deadline=None, max_examples=20, suppress_health_check=[HealthCheck.too_slow])
prompts = st.one_of(st.text(max_size=80), st.sampled_from([*VALID, RUNNING, "", "violence", "word " * 160]))


@few
@given(prompts)
def test_values_are_in_range(prompt: str) -> None:
    assert all(value is None or 0.0 <= value <= 1.0 for value in scored(prompt).values())


@few
@given(prompts, st.sampled_from(["timeout", "not_json", "schema", "missing"]))
def test_an_error_never_pays(prompt: str, kind: str) -> None:
    other, rest = case(id="other"), {"other": {"prompt": VALID[0]}}
    answers: list[Any] = [{"prompt": prompt}, Answer("opt", error=kind)]
    found = [
        summarize(SUITE, scores_of({**rest, "opt": answer}, CASE, other), {}).metrics for answer in answers
    ]
    for metric in SUITE.metrics:
        before, after = found[0][metric.name].value, found[1][metric.name].value
        assert after is not None
        if before is not None:
            gain = after - before if metric.direction == "higher" else before - after
            assert gain <= 1e-9, metric.name


def test_cases_in_any_order_give_the_same_numbers() -> None:
    cases = [case(id=f"c{index}") for index in range(3)]
    outputs = {f"c{index}": {"prompt": text} for index, text in enumerate(VALID)}
    forward, backward = scores_of(outputs, *cases), scores_of(outputs, *reversed(cases))
    assert forward.counts.equals(backward.counts)


def test_long_and_hostile_prompts_are_data() -> None:
    for text in ("dog " * 50_000, "{{7*7}} <script>", "\x00", "a" * 10**6):
        assert scored(text)["error_rate"] == 0.0


def test_the_models_are_measured() -> None:
    models = measured_models(SUITE, context())
    assert {name for model in models for name in model.metrics} == {
        "intent_preservation",
        "required_elements_present",
        "structural_completeness",
        "model_compliance",
        "well_formedness",
    }
    assert all(0.8 < model.accuracy < 1.0 for model in models)
    assert all(re.search(r"\d+/\d+", model.told) for model in models)


def test_the_golden_set_is_complete_and_the_engine_answers_every_case() -> None:
    problems = Problems()
    cases = list(read_cases(SUITE, Project.find().golden("optimization"), problems))
    problems.stop_if_any()
    assert len(cases) == 30
    sizes = [each.case.attributes["size"] for each in cases]
    assert [sizes.count(size) for size in ("minimal", "partial", "complex")] == [10, 10, 10]
    for each in cases:
        output = optimize(each.case.input, Parameters(), context().resources)
        assert 75 <= word_count(output.prompt) <= 125
        assert output == optimize(each.case.input, Parameters(), None)
