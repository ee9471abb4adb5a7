"""Scoring entities of 10,000 texts, beside nervaluate on the same entities in the same process.

The promise is strict scoring, overall and by type, at least 20 times as fast. nervaluate has no way to ask
for strict scores alone; the second line strips it down to them, and the third compares all that either
of them counts: strict, partial, tokens and diagnoses here; four schemes and indices there.
"""

from __future__ import annotations

import random
import time
from collections.abc import Callable
from functools import partial
from typing import Any

from nervaluate import Evaluator

from eval_pipeline.answers import Answer
from eval_pipeline.suite import Context, Item
from eval_pipeline.suites._heritage.vocabulary import ENTITY_TYPES
from eval_pipeline.suites.heritage_ner.cases import Entity, ner_case
from eval_pipeline.suites.heritage_ner.matching import Integers, Layout, strict_tallies
from eval_pipeline.suites.heritage_ner.scoring import Extraction, score

DOCUMENTS = 10_000
WORDS = 40
PROMISED = 20


def generate(count: int, seed: int = 7) -> list[Item]:
    """Texts with entities, and predictions that are right, shifted, of another type, missing or invented."""
    source = random.Random(seed)
    items = []
    for number in range(count):
        words = [f"word{source.randrange(1000)}" for _ in range(WORDS)]
        starts = [sum(len(word) + 1 for word in words[:place]) for place in range(WORDS)]
        text = " ".join(words)
        gold, predicted = [], []
        for place in range(source.randrange(4), WORDS - 4, 6):
            kind, start = source.choice(list(ENTITY_TYPES)), starts[place]
            end = starts[place + source.randint(1, 3)] - 1
            chance = source.random()
            if chance < 0.9:
                gold.append(Entity(text[start:end], kind, start, end))
            if chance > 0.2:
                kind = kind if chance < 0.8 else source.choice(list(ENTITY_TYPES))
                start = start if chance > 0.3 else starts[place + 1]
                end = max(end, start + 3)
                predicted.append(Entity(text[start:end], kind, start, end))
        case = ner_case(f"case-{number}", text, gold, {})
        items.append(Item(case, 1, Extraction(predicted), partial(Answer, case.id)))
    return items


def as_dicts(entities: list[Entity]) -> list[dict[str, Any]]:
    """Entities as nervaluate takes them."""
    return [{"label": each.type, "start": each.start, "end": each.end} for each in entities]


def best_of(times: int, work: Callable[[], Any]) -> tuple[float, Any]:
    """The shortest time of some attempts, and what came out."""
    seconds, result = [], None
    for _ in range(times):
        started = time.perf_counter()
        result = work()
        seconds.append(time.perf_counter() - started)
    return min(seconds), result


def theirs(items: list[Item], strict_only: bool) -> dict[str, Any]:
    """What nervaluate counts."""
    true = [as_dicts(item.case.expected.entities) for item in items]
    predicted = [as_dicts(item.output.entities) for item in items]
    evaluator = Evaluator(true, predicted, tags=list(ENTITY_TYPES), loader="dict")
    if strict_only:
        evaluator.strategies = {"strict": evaluator.strategies["strict"]}
    found: dict[str, Any] = evaluator.evaluate()
    return found


def main() -> None:
    """Print how many times as fast scoring is."""
    items = generate(DOCUMENTS)
    expected = [item.case.expected.entities for item in items]
    outputs = [item.output.entities for item in items]
    lengths = [len(item.case.input.text) for item in items]

    def strictly() -> dict[str, Integers]:
        layout = Layout(lengths)
        return strict_tallies(layout, layout.spans(expected), layout.spans(outputs))

    ours, tallies = best_of(5, strictly)
    alone, found = best_of(2, lambda: theirs(items, strict_only=True))
    all_of_it, _ = best_of(2, lambda: theirs(items, strict_only=False))
    assert int(tallies["strict"].sum()) == found["overall"]["strict"].correct
    print(f"strict entities of {DOCUMENTS:,} texts: {ours:.3f} s, nervaluate {all_of_it:.2f} s")
    print(f"  {all_of_it / ours:.0f} × as fast; promised: {PROMISED} ×")
    print(f"  {alone / ours:.0f} × as fast as its strict scheme alone ({alone:.2f} s)")
    everything, _ = best_of(3, lambda: score(items, Context()))
    print(f"  all counts and diagnoses: {everything:.3f} s, {all_of_it / everything:.1f} × as fast")


if __name__ == "__main__":
    main()
