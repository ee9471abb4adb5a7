"""Scoring 10,000 prompts of 20 spans each, beside a strict match by sets in plain Python over the same spans.

The bound that the project holds itself to is 15 times.
"""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Sequence
from functools import partial

from eval_pipeline.answers import Answer
from eval_pipeline.project import Project
from eval_pipeline.scoring import context_for
from eval_pipeline.scoring.score import BATCH
from eval_pipeline.suite import Case, Item, Items
from eval_pipeline.suites.span_labeling import SUITE
from eval_pipeline.suites.span_labeling.cases import Span, SpanExpected, SpanInput
from eval_pipeline.suites.span_labeling.scoring import Labels

PROMPTS, SPANS, ROUNDS = 10_000, 20, 5
BOUND = 15


def make_items(prompts: int, spans: int, categories: Sequence[str]) -> list[Item]:
    """Prompts with answers that are right, shifted, wrong in category, cut in two, missing or made up."""
    chance = random.Random(7)
    items = []
    for number in range(prompts):
        letters = "".join(chance.choices("abcdefghij ", k=spans * 30))
        golden: list[Span] = []
        answered: list[Span] = []
        for start in range(0, spans * 30, 30):
            end = start + chance.randint(6, 24)
            category = chance.choice(categories)
            golden.append(Span(letters[start:end], start, end, category))
            answered += _answers(chance, letters, start, end, category, categories)
        case = Case(f"case-{number}", SpanInput(letters), SpanExpected(golden))
        chance.shuffle(answered)
        items.append(Item(case, 1, Labels(answered), partial(Answer, case.id)))
    return items


def _answers(
    chance: random.Random, text: str, start: int, end: int, category: str, categories: Sequence[str]
) -> list[Span]:
    def span(first: int, last: int, name: str = category) -> Span:
        return Span(text[first:last], first, last, name)

    middle = (start + end) // 2
    kinds: list[tuple[int, list[Span]]] = [
        (14, [span(start, end)]),
        (2, [span(start + 1, end + 2)]),
        (1, [span(start, end, chance.choice(categories))]),
        (1, [span(start, middle), span(middle, end)]),
        (1, []),
        (1, [span(start, end), span(end + 2, end + 5)]),
    ]
    return chance.choices([answers for _, answers in kinds], [weight for weight, _ in kinds])[0]


def strict_matches(items: Sequence[Item]) -> int:
    """How many spans agree in everything, by sets."""
    matches = 0
    for item in items:
        golden = {(span.start, span.end, span.category) for span in item.case.expected.spans}
        answered = {(span.start, span.end, span.category) for span in item.output.spans}
        matches += len(golden & answered)
    return matches


def seconds(work: Callable[[], object]) -> float:
    """The processor time of some work."""
    started = time.process_time()
    work()
    return time.process_time() - started


def main() -> None:
    """Print what scoring costs, and how many times the strict match that is."""
    context = context_for(SUITE, Project.find().golden(SUITE.name))
    items = make_items(PROMPTS, SPANS, sorted(context.resources.categories))

    def score() -> None:
        for start in range(0, len(items), BATCH):
            SUITE.score(Items.of(items[start : start + BATCH]), context)

    times = [(seconds(lambda: strict_matches(items)), seconds(score)) for _ in range(ROUNDS)]
    plain, scored = (min(column) for column in zip(*times, strict=True))
    print(f"span_labeling on {PROMPTS:,} prompts × {SPANS} spans: {scored:.2f} s, sets {plain:.3f} s")
    print(f"  {scored / plain:.1f} ×, {scored / plain / BOUND:.0%} of the bound of {BOUND} ×")


if __name__ == "__main__":
    main()
