"""Span metrics by enumeration, straight from their definitions, apart from the code that it checks."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

IOU, DRIFT = 0.4, 2


class Mark(NamedTuple):
    start: int
    end: int
    category: str
    text: str


def overlap(first: Mark, second: Mark) -> int:
    return len(set(range(first.start, first.end)) & set(range(second.start, second.end)))


def agree(first: Mark, second: Mark) -> bool:
    shared = overlap(first, second)
    either = len(set(range(first.start, first.end)) | set(range(second.start, second.end)))
    near = abs(first.start - second.start) <= DRIFT and abs(first.end - second.end) <= DRIFT
    return shared > 0 and (shared / either >= IOU or near)


def matchings(
    gold: list[Mark], found: list[Mark], same_category: bool, taken: frozenset[int] = frozenset()
) -> Iterator[list[tuple[Mark, Mark]]]:
    """Every one-to-one matching of spans that agree."""
    if not gold:
        yield []
        return
    yield from matchings(gold[1:], found, same_category, taken)
    for index, mark in enumerate(found):
        fits = agree(gold[0], mark) and (not same_category or gold[0].category == mark.category)
        if index not in taken and fits:
            for rest in matchings(gold[1:], found, same_category, taken | {index}):
                yield [(gold[0], mark), *rest]


def quality(matching: list[tuple[Mark, Mark]]) -> tuple[int, ...]:
    return (
        len(matching),
        sum(overlap(*pair) for pair in matching),
        sum(gold.category == found.category for gold, found in matching),
        -sum(found.start for _, found in matching),
        -sum(found.end for _, found in matching),
    )


def located(span: dict[str, Any], prompt: str) -> tuple[Mark, bool]:
    """Where a span stands, and whether it was where it said."""
    start, end, text = span["start"], span["end"], span["text"]
    if text and any(at == start and at + len(text) == end for at in occurrences(text, prompt)):
        return Mark(start, end, span["category"], text), True
    places = sorted(occurrences(text, prompt), key=lambda at: (abs(at - start), at))
    if not text or not places:
        return Mark(0, 0, span["category"], text), False
    return Mark(places[0], places[0] + len(text), span["category"], text), False


def occurrences(text: str, prompt: str) -> list[int]:
    return [at for at in range(len(prompt)) if prompt[at : at + len(text)] == text]


def ratio(part: int, whole: int) -> float | None:
    return part / whole if whole else None


def expected_values(
    prompt: str, golden: list[dict[str, Any]], spans: list[dict[str, Any]]
) -> dict[str, float | None]:
    """Every metric of one case; null where it is undefined or does not apply."""
    gold = [Mark(each["start"], each["end"], each["category"], each["text"]) for each in golden]
    given = {tuple(sorted(span.items())) for span in spans}
    placed = [located(dict(span), prompt) for span in given]
    found = list({mark for mark, _ in placed})
    exact = max(len(each) for each in matchings(gold, found, True))
    matched = max(matchings(gold, found, False), key=quality)
    fragments: dict[Mark, list[Mark]] = {}
    for mark in found:
        holder = max(gold, key=lambda each: (overlap(each, mark), -each.start, -each.end), default=None)
        if holder and overlap(holder, mark) and 2 * overlap(holder, mark) >= mark.end - mark.start:
            fragments.setdefault(holder._replace(category=""), []).append(mark)
    inside = {mark for marks in fragments.values() for mark in marks}
    spurious = set(found) - {mark for _, mark in matched} - inside
    values = {
        "relaxed_f1": ratio(2 * exact, len(gold) + len(found)),
        "relaxed_precision": ratio(exact, len(found)),
        "relaxed_recall": ratio(exact, len(gold)),
        "taxonomy_accuracy": ratio(sum(a.category == b.category for a, b in matched), len(matched)),
        "fragmentation_rate": ratio(sum(len(marks) > 1 for marks in fragments.values()), len(gold)),
    }
    return {
        **(values if gold else dict.fromkeys(values)),
        "over_extraction_rate": ratio(len(spurious), len(found)),
        "misaligned_rate": ratio(sum(not right for _, right in placed), len(placed)),
        "duplicate_rate": ratio(len(spans) - len(found), len(spans)),
    }
