"""The golden format: a prompt, a span in it, and what good alternatives to the span are like."""

from collections.abc import Iterator

import msgspec

from eval_pipeline.files import Violation
from eval_pipeline.metrics.minima import Minimum
from eval_pipeline.metrics.text import normalize
from eval_pipeline.suite import Case
from eval_pipeline.suites._video.category_classifier import parent


class Qualities(msgspec.Struct, frozen=True, rename="camel", forbid_unknown_fields=True):
    """What a case expects of its suggestions; a quality that is not named has no minimum."""

    category_coherence: Minimum | None = None
    diversity: Minimum | None = None
    non_repetition: Minimum | None = None
    syntactic_validity: Minimum | None = None
    length_appropriateness: Minimum | None = None
    length_in_range: Minimum | None = None


class GoldenSpan(msgspec.Struct, frozen=True):
    """The span that a person highlighted; `start` is needed only where its text occurs more than once."""

    text: str
    category: str
    start: int | None = None


class GoldenEntry(msgspec.Struct, frozen=True, rename="camel"):
    """A golden entry, with the field names of its document."""

    id: str
    prompt: str
    span: GoldenSpan
    expected_qualities: Qualities
    forbidden_outputs: list[str] = []
    allowed_categories: list[str] = []
    why_lower: str = ""
    """Why the case expects less than the document does."""


class SuggestionInput(msgspec.Struct, frozen=True):
    """What an engine sees."""

    prompt: str
    span: str
    start: int
    category: str


class SuggestionExpected(msgspec.Struct, frozen=True):
    """What only scoring sees."""

    qualities: Qualities
    forbidden_outputs: list[str]
    allowed_categories: list[str]
    why_lower: str = ""


SuggestionCase = Case[SuggestionInput, SuggestionExpected]


def to_case(entry: GoldenEntry) -> SuggestionCase:
    """A golden entry as a case."""
    span = entry.span
    start = entry.prompt.find(span.text) if span.start is None else span.start
    return Case(
        entry.id,
        SuggestionInput(entry.prompt, span.text, start, span.category),
        SuggestionExpected(
            entry.expected_qualities, entry.forbidden_outputs, entry.allowed_categories, entry.why_lower
        ),
        {"category": span.category, "parent": parent(span.category)},
    )


def check_entry(entry: GoldenEntry) -> Iterator[Violation]:
    """What cannot be right in one golden entry."""
    span = entry.span
    if not normalize(span.text):
        yield Violation(("span", "text"), "is blank", "Name the words that alternatives are wanted for.")
    else:
        yield from _check_place(entry)
    if not parent(span.category).strip():
        yield Violation(("span", "category"), "is blank", "Name a category such as subject.wardrobe.")
    for field, values in (
        ("forbiddenOutputs", entry.forbidden_outputs),
        ("allowedCategories", entry.allowed_categories),
    ):
        for index, value in enumerate(values):
            if not normalize(value):
                yield Violation((field, index), "is blank", "Fill it, or remove the entry.")


def _check_place(entry: GoldenEntry) -> Iterator[Violation]:
    span = entry.span
    if span.start is not None:
        if span.start < 0 or entry.prompt[span.start : span.start + len(span.text)] != span.text:
            yield Violation(
                ("span", "start"), f"{span.text!r} does not stand there", "Count in characters, from 0."
            )
        return
    occurrences = entry.prompt.count(span.text)
    if occurrences != 1:
        times = f"stands in the prompt {occurrences} times" if occurrences else "does not stand in the prompt"
        remedy = "Say which: add start." if occurrences else "Copy it from there."
        yield Violation(("span", "text"), f"{span.text!r} {times}", remedy)
