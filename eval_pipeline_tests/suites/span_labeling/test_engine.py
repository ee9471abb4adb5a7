"""What the embedded engine finds in small prompts, and what holds for any text."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from eval_pipeline import reports as shown
from eval_pipeline.golden import GoldenCase, read_cases
from eval_pipeline.problems import Problems
from eval_pipeline.prompts import Renderer, load_prompt
from eval_pipeline.scoring import case_results, context_for, score_cases, summarize
from eval_pipeline.suites.span_labeling import SUITE
from eval_pipeline.suites.span_labeling.cases import SpanInput
from eval_pipeline.suites.span_labeling.engine import Parameters, label
from eval_pipeline.suites.span_labeling.scoring import MOST_SPANS, Labels
from eval_pipeline_tests.conftest import REPOSITORY
from eval_pipeline_tests.sources import Recorded

GOLDEN = REPOSITORY / "golden" / "span_labeling"
CONTEXT = context_for(SUITE, GOLDEN)


def read(prompt: str, **chosen: Any) -> Labels:
    return label(SpanInput(prompt), Parameters(**chosen), CONTEXT.resources)


def found(prompt: str, **chosen: Any) -> list[tuple[str, str]]:
    return [(span.text, span.category) for span in read(prompt, **chosen).spans]


@pytest.mark.parametrize(
    ("prompt", "expected"),
    [
        ("4K, 24fps, 2.39:1, 8 seconds", ["resolution", "frame_rate", "aspect_ratio", "duration"]),
        (
            "720x576, 25 frames per second, 16:9 aspect ratio, 12 s",
            ["resolution", "frame_rate", "aspect_ratio", "duration"],
        ),
        (
            "slow motion, UHD, square format, five seconds",
            ["frame_rate", "resolution", "aspect_ratio", "duration"],
        ),
        ("in the 1980s", ["time"]),
        ("85mm lens, f/2.8, 35mm", ["lens", "lens", "lens"]),
        ("shot on 16mm film", ["medium"]),
        ("apartment 101 costs 20 dollars", ["location"]),
    ],
)
def test_figures_are_found_by_their_form(prompt: str, expected: list[str]) -> None:
    assert [category.rpartition(".")[2] for _, category in found(prompt)] == expected


@pytest.mark.parametrize(
    ("prompt", "expected"),
    [
        (
            "An old sailor in a blue coat",
            [("old sailor", "subject.identity"), ("blue coat", "subject.wardrobe")],
        ),
        (
            "shallow depth of field, bokeh",
            [("shallow depth of field", "camera.lens"), ("bokeh", "camera.lens")],
        ),
        ("a dog runs away", [("dog", "subject.identity"), ("runs away", "action.movement")]),
        (
            "a girl climbs up the hill",
            [("girl", "subject.identity"), ("climbs", "action.movement"), ("hill", "environment.location")],
        ),
        ("a boy opening a letter", [("boy", "subject.identity"), ("opening a letter", "action.gesture")]),
        ("Opening wide shot", [("Opening wide shot", "shot")]),
        ("heavy rain falls", [("heavy rain", "environment.weather")]),
        ("dogs bark loudly", [("dogs bark loudly", "audio")]),
        ("a pianist plays", [("pianist", "subject.identity"), ("plays", "action.gesture")]),
        ("The camera pans slowly.", [("camera pans slowly", "camera.movement")]),
        ("no people, not a close-up, without music", []),
        ('{"lighting": "candlelight"}', [("candlelight", "lighting")]),
        ("panda company", [("panda", "subject.identity")]),
    ],
)
def test_phrases_and_actions_that_a_prompt_names(prompt: str, expected: list[tuple[str, str]]) -> None:
    assert found(prompt) == expected


CHOICES: list[tuple[str, dict[str, Any], list[str]]] = [
    ("a tall woman, calm but sad", {}, ["tall woman", "calm but sad"]),
    ("a tall woman, calm but sad", {"joined": False}, ["tall woman", "calm", "sad"]),
    ("a tall woman, calm but sad", {"whole_phrases": False}, ["woman", "calm but sad"]),
    ("a man opens a door", {}, ["man", "opens a door"]),
    ("a man opens a door", {"objects": False}, ["man", "opens"]),
    ("a boy and a dog. The boy runs", {}, ["boy", "dog", "runs"]),
    ("a boy and a dog. The boy runs", {"first_mentions": False}, ["boy", "dog", "boy", "runs"]),
    ("a quixotic zeugma", {}, []),
    ("a quixotic zeugma", {"leftovers": True}, ["quixotic zeugma"]),
]


@pytest.mark.parametrize(("prompt", "chosen", "expected"), CHOICES)
def test_parameters_choose(prompt: str, chosen: dict[str, Any], expected: list[str]) -> None:
    assert [text for text, _ in found(prompt, **chosen)] == expected


def test_every_parameter_is_tested() -> None:
    assert {name for _, chosen, _ in CHOICES for name in chosen} == set(Parameters.__struct_fields__)


WORDS = st.sampled_from(
    [
        "A",
        "woman",
        "the",
        "red",
        "dress",
        "walks",
        "up",
        "down",
        "of",
        ",",
        ".",
        "4K",
        "24fps",
        "camera",
        "pans",
        "not",
        "rain",
        "falls",
        "👩🏽\u200d🚀",
        "é",
        "was",
    ]
)


@settings(max_examples=150, deadline=None)
@given(st.text() | st.lists(WORDS, max_size=25).map(" ".join), st.booleans())
def test_spans_stand_where_they_say_and_never_overlap(prompt: str, leftovers: bool) -> None:
    output = read(prompt, leftovers=leftovers)
    assert output == read(prompt, leftovers=leftovers)
    end = 0
    for span in output.spans:
        assert end <= span.start < span.end <= len(prompt)
        assert prompt[span.start : span.end] == span.text
        assert span.category in CONTEXT.resources.categories
        end = span.end


@pytest.mark.parametrize(
    "prompt", ["4K " * 10_000, "zzz " * 10_000, "9" * 50_000, "dog, " * 10_000, "(" * 200_000]
)
def test_a_very_long_prompt_is_read_and_bounded(prompt: str) -> None:
    assert len(read(prompt).spans) <= MOST_SPANS


@pytest.fixture(scope="module")
def cases() -> list[GoldenCase]:
    return list(read_cases(SUITE, GOLDEN, Problems()))


def test_it_labels_every_golden_prompt_and_knows_no_golden_answer(cases: list[GoldenCase]) -> None:
    assert SpanInput.__struct_fields__ == ("prompt",)
    outputs = {case.case.id: msgspec.to_builtins(read(case.case.input.prompt)) for case in cases}
    summary = summarize(SUITE, score_cases(SUITE, cases, Recorded(outputs), CONTEXT), {})
    assert summary.error_count == 0
    assert summary.metrics["misaligned_rate"].value == 0.0
    assert summary.metrics["duplicate_rate"].value == 0.0
    assert set(summary.groups["kind"]) == {"core", "technical", "complex", "edge-cases", "adversarial"}


def test_a_case_in_which_nothing_was_to_be_found_is_not_the_worst(cases: list[GoldenCase]) -> None:
    empty = next(each for each in cases if not each.case.expected.spans)
    full = next(each for each in cases if each.case.expected.spans)
    labelled = msgspec.to_builtins(read(full.case.input.prompt))
    invented = [{"text": empty.case.input.prompt[:4], "start": 0, "end": 4, "category": "shot"}]
    for spans, worst in (([], full), (invented, empty)):
        outputs = {empty.case.id: {"spans": spans}, full.case.id: labelled}
        scores = score_cases(SUITE, [empty, full], Recorded(outputs), CONTEXT)
        assert case_results(SUITE, scores)[0].case_id == worst.case.id


def test_hostile_spans_are_shown_as_text(cases: list[GoldenCase]) -> None:
    hostile = "<script>alert(1)</script> ![x](http://evil.example/x.png)"
    spans = [{"text": hostile, "start": 0, "end": 9, "category": hostile}]
    chosen = [case for case in cases if case.case.attributes["kind"] == "adversarial"]
    outputs = {case.case.id: {"spans": spans} for case in chosen}
    scores = score_cases(SUITE, chosen, Recorded(outputs), CONTEXT)
    summary = summarize(SUITE, scores, {})
    assert {row[""]: row["invalid"] for row in summary.tables["confusion"]}["spurious"] == 10.0
    told = "".join(
        (
            shown.worst_cases(SUITE, case_results(SUITE, scores), scores),
            shown.tables(shown.suite_tables(SUITE, summary)),
            shown.confusion_charts(SUITE, summary),
        )
    )
    assert "alert" in told
    assert "<script" not in told
    assert "![x](" not in told


def test_an_adversarial_prompt_is_never_executed_as_a_template(cases: list[GoldenCase]) -> None:
    problems = Problems()
    prompt = load_prompt(SUITE, Path(REPOSITORY / "prompts" / "span_labeling"), "label-spans-v1.1", problems)
    problems.stop_if_any()
    assert prompt is not None
    adversarial = [case.case.input for case in cases if case.case.attributes["kind"] == "adversarial"]
    with Renderer(prompt) as renderer:
        rendered = ["".join(texts) for texts in renderer.render(adversarial)]
    assert all(given.prompt in text for given, text in zip(adversarial, rendered, strict=True))
    assert any("{{7*7}}" in text for text in rendered)
    assert all("49" not in text for text in rendered)


def test_an_adversarial_prompt_changes_nothing_but_its_own_case(cases: list[GoldenCase]) -> None:
    outputs = {case.case.id: msgspec.to_builtins(read(case.case.input.prompt)) for case in cases}
    tame = [case for case in cases if case.case.attributes["kind"] != "adversarial"]
    everything = score_cases(SUITE, cases, Recorded(outputs), CONTEXT)
    without = score_cases(SUITE, tame, Recorded(outputs), CONTEXT)
    kept = everything.restricted(case.case.id for case in tame)
    assert kept.counts.equals(without.counts)
    assert kept.keyed.equals(without.keyed)
