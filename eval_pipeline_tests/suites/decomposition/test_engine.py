"""What the embedded engine finds in small sentences, and what holds for any text."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from eval_pipeline.language.sentences import LONGEST_SENTENCE
from eval_pipeline.suites.decomposition.cases import DecompositionInput
from eval_pipeline.suites.decomposition.engine import Parameters, decompose
from eval_pipeline.suites.decomposition.scoring import Decomposition

EVERYTHING: dict[str, Any] = {"minimum_mentions": 1, "minimum_score": 0.0}
"""Makes every candidate a concept, so that a sentence is enough of a text."""
WEATHER = "Rain and hail and rain. Drought causes famine."
ROBOTS = "Machine learning (ML) needs statistics. Robots use ML."


def read(text: str, **chosen: Any) -> Decomposition:
    return decompose(DecompositionInput("A topic", text), Parameters(**{**EVERYTHING, **chosen}), None)


def labels(text: str, **chosen: Any) -> list[str]:
    return [concept.label for concept in read(text, **chosen).concepts]


def statements(text: str, **chosen: Any) -> list[str]:
    return [f"{each.source} {each.predicate} {each.target}" for each in read(text, **chosen).relationships]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Drought causes famine.", ["drought", "famine"]),
        ("Severe drought causes famine.", ["drought", "famine"]),
        ("Soil erosion causes famine.", ["soil erosion", "famine"]),
        ("In 2020 the European Union regulates banks.", ["European Union", "banks"]),
        ("A bank fears inflation. Banks need trust. Banks fear losses.", ["banks", "inflation", "trust"]),
        ("The process has an effect.", []),
        (ROBOTS, ["machine learning", "statistics", "robots"]),
        ("Sharks, also known as selachians, need oxygen.", ["sharks", "oxygen"]),
    ],
)
def test_concepts_that_a_text_names(text: str, expected: list[str]) -> None:
    assert labels(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("A shark is a predator.", ["shark IS_A predator"]),
        ("Sharks are predators.", ["sharks IS_A predators"]),
        ("Photosynthesis is a kind of biosynthesis.", ["photosynthesis IS_A biosynthesis"]),
        (
            "Farmers fear predators such as sharks and wolves.",
            ["sharks IS_A predators", "wolves IS_A predators"],
        ),
        ("The euro, a currency, lowers inflation.", ["euro IS_A currency", "euro RELATES_TO inflation"]),
        ("Wolves and other predators need prey.", ["wolves IS_A predators", "wolves REQUIRES prey"]),
        ("Drought causes famine.", ["drought CAUSES famine"]),
        ("Drought leads to famine.", ["drought CAUSES famine"]),
        ("Famine results from drought.", ["drought CAUSES famine"]),
        ("Irrigation prevents famine.", ["irrigation RELATES_TO famine"]),
        ("Famine is reduced by irrigation.", ["irrigation RELATES_TO famine"]),
        ("The main cause of famine is drought.", ["drought CAUSES famine"]),
        ("Photosynthesis requires sunlight.", ["photosynthesis REQUIRES sunlight"]),
        ("Photosynthesis depends on sunlight.", ["photosynthesis REQUIRES sunlight"]),
        ("Sunlight is essential for photosynthesis.", ["photosynthesis REQUIRES sunlight"]),
        ("Germination precedes flowering.", ["germination PRECEDES flowering"]),
        ("Flowering follows germination.", ["germination PRECEDES flowering"]),
        ("Regulators supervise banks.", ["regulators RELATES_TO banks"]),
        # A passive reverses what its verb states.
        ("Famine is caused by drought.", ["drought CAUSES famine"]),
        ("Banks are supervised by regulators.", ["regulators RELATES_TO banks"]),
        ("Germination is followed by flowering.", ["germination PRECEDES flowering"]),
        ("Sunlight is required for photosynthesis.", ["photosynthesis REQUIRES sunlight"]),
        # Series, relative clauses, pronouns and other names reach across a clause and a text.
        (
            "Drought causes famine, migration and poverty.",
            ["drought CAUSES famine", "drought CAUSES migration", "drought CAUSES poverty"],
        ),
        ("Drought and erosion cause famine.", ["drought CAUSES famine", "erosion CAUSES famine"]),
        (
            "Drought, which causes famine, threatens farmers.",
            ["drought CAUSES famine", "drought RELATES_TO farmers"],
        ),
        ("Drought is severe. It causes famine.", ["drought CAUSES famine"]),
        (ROBOTS, ["machine learning REQUIRES statistics", "robots RELATES_TO machine learning"]),
        ("Drought affects famine. Drought causes famine.", ["drought CAUSES famine"]),
    ],
)
def test_relationships_that_a_text_states(text: str, expected: list[str]) -> None:
    assert statements(text) == expected


@pytest.mark.parametrize(
    "text",
    [
        "Drought does not cause famine.",
        "Drought never causes famine.",
        "Drought cannot cause famine.",
        "Drought no longer causes famine.",
        "Drought is not caused by famine.",
        "Drought is not a famine.",
    ],
)
def test_a_negated_sentence_names_concepts_and_states_nothing(text: str) -> None:
    assert sorted(labels(text)) == ["drought", "famine"]
    assert statements(text) == []


# Scores in WEATHER: rain 2 mentions; drought and famine 1 mention + role_weight; hail 1 mention.
CHOICES: list[tuple[str, dict[str, Any], list[str]]] = [
    (WEATHER, {}, ["rain", "drought", "famine", "hail"]),
    (WEATHER, {"max_concepts": 2}, ["rain", "drought"]),
    (WEATHER, {"minimum_mentions": 2}, ["rain"]),
    (WEATHER, {"minimum_score": 1.5}, ["rain", "drought", "famine"]),
    (WEATHER, {"role_weight": 2.0}, ["drought", "famine", "rain", "hail"]),
    (ROBOTS, {"minimum_mentions": 2}, ["machine learning"]),
    (ROBOTS, {"aliases": False, "minimum_mentions": 2}, []),
]
REPORTED: list[tuple[str, dict[str, Any], list[str]]] = [
    ("Drought causes famine.", {"predicates": ("IS_A",)}, []),
    ("Drought causes famine.", {"predicates": ("CAUSES",)}, ["drought CAUSES famine"]),
    ("Drought receives famine.", {"unstated": "none"}, []),
    ("Drought receives famine.", {"unstated": "verbs"}, ["drought RELATES_TO famine"]),
    ("Drought and famine.", {"unstated": "verbs"}, []),
    ("Drought and famine.", {"unstated": "sentences"}, ["drought RELATES_TO famine"]),
]


@pytest.mark.parametrize(("text", "chosen", "expected"), CHOICES)
def test_parameters_choose_concepts(text: str, chosen: dict[str, Any], expected: list[str]) -> None:
    assert labels(text, **chosen) == expected


@pytest.mark.parametrize(("text", "chosen", "expected"), REPORTED)
def test_parameters_choose_relationships(text: str, chosen: dict[str, Any], expected: list[str]) -> None:
    assert statements(text, **chosen) == expected


def test_concepts_quote_the_sentence_that_introduces_them_unless_told_not_to() -> None:
    text = ' Drought, e.g.\n  this one,  causes famine!  "Famine" worsens\tpoverty.\n\n'
    first, second = "Drought, e.g.\n  this one,  causes famine!", '"Famine" worsens\tpoverty.'
    quotes = {concept.label: concept.source_quote for concept in read(text).concepts}
    assert quotes == {"drought": first, "famine": first, "poverty": second}
    assert {concept.source_quote for concept in read(text, quotes="none").concepts} == {None}


def test_better_candidates_have_more_confidence() -> None:
    stated = [concept.confidence or 0.0 for concept in read(WEATHER).concepts]
    assert stated == sorted(stated, reverse=True)
    assert 0 < stated[-1] < stated[0] < 1


def test_every_parameter_is_tested() -> None:
    tested = {name for _, chosen, _ in (*CHOICES, *REPORTED) for name in chosen}
    assert {*tested, "quotes"} == set(Parameters.__struct_fields__)


def test_a_sentence_without_end_is_quoted_in_part() -> None:
    text = "drought and " * LONGEST_SENTENCE
    (concept,) = read(text).concepts
    assert concept.source_quote is not None
    assert text.startswith(concept.source_quote)
    assert len(concept.source_quote) <= LONGEST_SENTENCE


@pytest.mark.parametrize("text", ["", " \n\t", "...", "?!", "It is."])
def test_a_text_without_content_gives_nothing(text: str) -> None:
    assert read(text) == Decomposition([], [])


def test_the_topic_and_the_text_are_all_it_needs() -> None:
    assert DecompositionInput.__struct_fields__ == ("topic", "source_text")
    given_more = decompose(DecompositionInput("A topic", WEATHER), Parameters(**EVERYTHING), object())
    assert given_more == read(WEATHER)


ENGLISH = (
    "Drought famine Banks ML (ML) a the is are not by cause caused which such as of kind and or it , ; . \n\n"
)
ENGLISH_TEXTS = st.lists(st.sampled_from(ENGLISH.split(" ")), max_size=30).map(" ".join)


@settings(deadline=None)
@given(st.text() | ENGLISH_TEXTS)
def test_any_text_is_read_the_same_twice_and_within_itself(text: str) -> None:
    output = read(text, unstated="sentences")
    found = [concept.label for concept in output.concepts]
    assert output == read(text, unstated="sentences")
    assert len(found) == len(set(found))
    assert all(concept.source_quote and concept.source_quote in text for concept in output.concepts)
    assert all({each.source, each.target} <= set(found) for each in output.relationships)
    assert all(each.source != each.target for each in output.relationships)
