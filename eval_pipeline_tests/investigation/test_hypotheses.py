"""Planted causes: the first hypothesis must be the right one, and chance must not look like a cause."""

from __future__ import annotations

import random
from collections import defaultdict
from collections.abc import Callable, Sequence

import pytest

from eval_pipeline.answers import Answer
from eval_pipeline.investigation import Hypothesis, Other
from eval_pipeline_tests.investigation import planting
from eval_pipeline_tests.investigation.planting import Ground, Key, Spoil, ground_of, spoil_some

QUICK = ("grounded_qa", "heritage_ner", "heritage_retrieval", "heritage_typing", "span_labeling")
"""Suites that score in a moment."""
MIXED: Sequence[Spoil] = (
    planting.cut_off,
    planting.timeout,
    planting.other_schema,
    planting.empty,
    planting.swapped,
)

Plant = Callable[[random.Random, Ground], "tuple[set[str], list[Hypothesis]]"]
"""The causes that would be right, and what the investigation says."""


def some_cases(chance: random.Random, ground: Ground, share: float = 0.3) -> list[Key]:
    ids = [each.case.id for each in ground.cases]
    return [(case_id, 1) for case_id in chance.sample(ids, max(4, int(share * len(ids))))]


def anywhere(spoil: Spoil, *causes: str) -> Plant:
    """A mistake in cases that have nothing in common."""

    def plant(chance: random.Random, ground: Ground) -> tuple[set[str], list[Hypothesis]]:
        return {*causes}, ground.hypotheses(spoil_some(chance, ground, some_cases(chance, ground), spoil))

    return plant


def one_group(chance: random.Random, ground: Ground) -> tuple[set[str], list[Hypothesis]]:
    groups: dict[tuple[str, str], set[str]] = defaultdict(set)
    for each in ground.cases:
        for axis, value in each.case.attributes.items():
            groups[axis, value].add(each.case.id)
    fit = sorted(group for group, cases in groups.items() if 3 <= len(cases) <= len(ground.cases) / 2)
    chosen = chance.choice(fit)
    keys = [(case_id, 1) for case_id in sorted(groups[chosen])]
    same = {f"group:{axis}={value}" for (axis, value), cases in groups.items() if cases == groups[chosen]}
    return same, ground.hypotheses(spoil_some(chance, ground, keys, planting.swapped))


def long_texts(chance: random.Random, ground: Ground) -> tuple[set[str], list[Hypothesis]]:
    ordered = sorted(ground.facts.values(), key=lambda each: (each.length, each.id))
    keys = [(each.id, 1) for each in ordered[-max(4, len(ordered) // 4) :]]
    return {"length:long"}, ground.hypotheses(spoil_some(chance, ground, keys, planting.swapped))


def one_trial(chance: random.Random, ground: Ground) -> tuple[set[str], list[Hypothesis]]:
    trial = chance.randint(1, 3)
    keys = [(case_id, trial) for case_id, _ in some_cases(chance, ground, 0.5)]
    return {f"trial:{trial}"}, ground.hypotheses(spoil_some(chance, ground, keys, planting.swapped), 3)


def suspect_cases(chance: random.Random, ground: Ground) -> tuple[set[str], list[Hypothesis]]:
    """The same few cases fail whoever answers; everybody fails a few others as well."""
    ids = [each.case.id for each in ground.cases]
    suspects = chance.sample(ids, max(2, len(ids) // 12))
    wrong = spoil_some(chance, ground, [(case_id, 1) for case_id in suspects], planting.swapped)
    others = []
    for number, engine in enumerate(("one", "two", "two")):
        own = [key for key in some_cases(chance, ground, 0.1) if key[0] not in suspects]
        answers = {**wrong, **spoil_some(chance, ground, own, planting.swapped)}
        others.append(Other(f"v{number}", engine, ground.observations(answers, 1)))
    return {"golden"}, ground.hypotheses(wrong, 1, others)


PLANTS: dict[str, tuple[Plant, Sequence[str]]] = {
    "cut off": (anywhere(planting.cut_off, "cut_off"), ("decomposition", *QUICK)),
    "timeouts": (anywhere(planting.timeout, "error:timeout"), ("decomposition", *QUICK)),
    "another schema": (anywhere(planting.other_schema, "error:schema"), ("decomposition", *QUICK)),
    "one group": (one_group, ("decomposition", *QUICK)),
    "long texts": (long_texts, ("decomposition", *QUICK)),
    "one trial": (one_trial, ("decomposition", *QUICK)),
    "suspect golden cases": (suspect_cases, ("decomposition", *QUICK)),
    "reversed relationships": (anywhere(planting.reversed_links, "kind:reversed"), ("decomposition",)),
    "paraphrased quotes": (anywhere(planting.paraphrased, "kind:paraphrased_quote"), ("decomposition",)),
    "invented things": (
        anywhere(planting.invented, "kind:invented_concept", "kind:spurious", "kind:over_extracted"),
        ("decomposition", "heritage_ner", "span_labeling"),
    ),
    "wrong labels": (
        anywhere(planting.mislabelled, "kind:wrong_predicate", "kind:wrong_type", "kind:wrong_category"),
        ("decomposition", "heritage_ner", "span_labeling"),
    ),
    "an ignored end": (
        anywhere(planting.without_end, "position:end"),
        ("decomposition", "heritage_ner", "span_labeling", "review"),
    ),
}


@pytest.mark.parametrize("cause", PLANTS)
def test_a_planted_cause_is_the_first_hypothesis(cause: str) -> None:
    """In eight of ten at the very least; here all but one of twenty are asked for."""
    plant, suites = PLANTS[cause]
    right, wrong = 0, []
    for suite in suites:
        for seed in range(2):
            causes, hypotheses = plant(random.Random(f"{cause} {suite} {seed}"), ground_of(suite))
            first = hypotheses[0]
            if first.certain and causes & {first.cause, first.also}:
                right += 1
            else:
                wrong.append((suite, seed, causes, first))
    assert right >= 0.95 * (right + len(wrong)), wrong


@pytest.mark.parametrize("suite", QUICK)
def test_where_there_is_no_cause_none_is_named(suite: str) -> None:
    """Failures of all kinds, anywhere: at most one of twenty is taken for a cause."""
    ground, named = ground_of(suite), []
    for seed in range(20):
        chance = random.Random(f"nothing {suite} {seed}")
        answers: dict[Key, Answer] = {}
        for number, key in enumerate(some_cases(chance, ground)):
            answers |= spoil_some(chance, ground, [key], MIXED[number % len(MIXED)])
        named += [first for first in ground.hypotheses(answers)[:1] if first.certain]
    assert len(named) <= 1, named


def test_a_mistake_made_anywhere_is_not_said_to_be_made_somewhere() -> None:
    """A hundred times the same mistake in cases that have nothing in common."""
    somewhere = []
    for seed in range(20):
        for suite in QUICK:
            chance = random.Random(f"anywhere {suite} {seed}")
            ground = ground_of(suite)
            answers = spoil_some(chance, ground, some_cases(chance, ground), planting.timeout)
            first = ground.hypotheses(answers)[0]
            if (first.cause, first.also) != ("error:timeout", ""):
                somewhere.append((suite, seed, first))
    assert len(somewhere) <= 8, somewhere


def test_without_a_failure_there_is_no_hypothesis() -> None:
    assert ground_of("heritage_typing").hypotheses({}) == []


def test_what_is_wrong_in_one_place_for_several_reasons_is_told_together() -> None:
    """Long texts time out: the error comes first, and where it happens is said with it."""
    ground = ground_of("span_labeling")
    ordered = sorted(ground.facts.values(), key=lambda each: (each.length, each.id))
    keys = [(each.id, 1) for each in ordered[-25:]]
    first = ground.hypotheses(spoil_some(random.Random(1), ground, keys, planting.timeout))[0]
    assert (first.cause, first.also, first.explained, first.certain) == (
        "error:timeout",
        "length:long",
        25,
        True,
    )
    assert "25 of 25 failing answers" in first.evidence


def test_one_engine_alone_cannot_make_a_golden_case_suspect() -> None:
    ground = ground_of("heritage_typing")
    chance = random.Random(2)
    wrong = spoil_some(chance, ground, some_cases(chance, ground, 0.2), planting.swapped)
    others = [Other(f"v{number}", "", ground.observations(wrong, 1)) for number in range(3)]
    (golden,) = [each for each in ground.hypotheses(wrong, 1, others) if each.cause == "golden"]
    assert not golden.certain
    assert 0.9 * len(wrong) <= golden.explained <= len(wrong)  # some were given a type that is right
    assert golden.evidence[-1].startswith("all were asked of one engine")
