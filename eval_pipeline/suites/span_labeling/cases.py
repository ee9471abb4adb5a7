"""The golden format: video prompts with the spans that a human expert marks in them."""

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import msgspec

from eval_pipeline.files import Violation
from eval_pipeline.golden import JsonCases
from eval_pipeline.metrics.text import normalize
from eval_pipeline.problems import Problems
from eval_pipeline.suite import Case, Place
from eval_pipeline.suites.span_labeling.resources import RESERVED, TAXONOMY_FILE, read_taxonomy

KINDS = {"core": 40, "technical": 20, "complex": 20, "edge-cases": 10, "adversarial": 10}
"""The kinds of prompts, one golden file each, with the share in percent that each should have."""


class Span(msgspec.Struct, frozen=True, gc=False):
    """A part of a prompt and its category; offsets count Unicode code points, `end` is exclusive."""

    text: str
    start: int
    end: int
    category: str


class GoldenEntry(msgspec.Struct, frozen=True):
    """One prompt of a golden file."""

    id: str
    prompt: str
    spans: list[Span]


class SpanInput(msgspec.Struct, frozen=True, gc=False):
    """What an engine sees."""

    prompt: str


class SpanExpected(msgspec.Struct, frozen=True):
    """What only scoring sees."""

    spans: list[Span]


SpanCase = Case[SpanInput, SpanExpected]


def check_entry(entry: GoldenEntry) -> Iterator[Violation]:
    """Spans that are not what stands at their offsets, and spans that are marked twice."""
    if not entry.prompt.strip():
        yield Violation(("prompt",), "is blank", "Give the prompt to label.")
    seen = set()
    for index, span in enumerate(entry.spans):
        stands = entry.prompt[max(span.start, 0) : max(span.end, 0)]
        if not span.text.strip():
            yield Violation(("spans", index, "text"), "is blank", "Mark some text, or remove the span.")
        elif span.start < 0 or span.end > len(entry.prompt) or stands != span.text:
            place = f"{span.start} to {span.end}: there is {stands[:80]!r}"
            message = f"{span.text[:80]!r} does not stand at {place}"
            yield Violation(("spans", index, "text"), message, _remedy(entry.prompt, span))
        key = (span.start, span.end, normalize(span.category))
        if key in seen:
            yield Violation(("spans", index), "repeats another span", "Remove one of the two.")
        seen.add(key)


def _remedy(prompt: str, span: Span) -> str:
    result = prompt.find(span.text)
    if result < 0:
        return "Copy the text from the prompt to the letter."
    return f"It first stands at {result} to {result + len(span.text)}; offsets count code points."


class SpanCases:
    """Reads prompts from JSON and JSON Lines files; the name of its file is a case's kind.

    Where the golden folder has a taxonomy, every category must be one of it.
    """

    suffixes = JsonCases.suffixes

    def read(self, path: Path, problems: Problems) -> Iterator[tuple[Case[Any, Any], Place]]:
        """The cases of one file."""
        categories = _categories(path)

        def check(entry: GoldenEntry) -> Iterable[Violation]:
            yield from check_entry(entry)
            yield from _unknown(entry, categories)

        def to_case(entry: GoldenEntry) -> SpanCase:
            return Case(entry.id, SpanInput(entry.prompt), SpanExpected(entry.spans), {"kind": path.stem})

        yield from JsonCases(GoldenEntry, to_case, check).read(path, problems)


def _categories(path: Path) -> frozenset[str]:
    """The categories of the taxonomy beside the golden files; what is wrong with it is told elsewhere."""
    for folder in (path.parent, path.parent.parent):
        file = folder / "resources" / TAXONOMY_FILE
        if file.is_file():
            return read_taxonomy(file, Problems())
    return frozenset()


def _unknown(entry: GoldenEntry, categories: frozenset[str]) -> Iterator[Violation]:
    for index, span in enumerate(entry.spans):
        name = normalize(span.category)
        if name in RESERVED or not name or (categories and name not in categories):
            listed = f"Categories: {', '.join(sorted(categories))}." if categories else "Use another name."
            yield Violation(("spans", index, "category"), f"{span.category[:80]!r} is not a category", listed)
