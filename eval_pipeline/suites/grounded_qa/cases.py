"""The golden format: a question, whether the corpus answers it, and what a right answer states and cites."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import msgspec
from msgspec import UNSET, UnsetType

from eval_pipeline.documents import Violation
from eval_pipeline.metrics.text import normalize
from eval_pipeline.suite import Case

SHORTEST_SUBSTRING = 5

ANSWERABLE = {"answerability": "answerable"}
UNANSWERABLE = {"answerability": "unanswerable"}


class GoldEntry(msgspec.Struct, frozen=True):
    """A line of the gold file, with the field names of its document."""

    qid: str
    question: str
    answerable: bool
    gold_claim_substr: list[str] | UnsetType = UNSET
    gold_citations: list[str] | UnsetType = UNSET
    constraints: list[str] = []


class GroundedInput(msgspec.Struct, frozen=True):
    """What an engine sees."""

    question: str


class GroundedExpected(msgspec.Struct, frozen=True):
    """What only scoring sees."""

    answerable: bool
    claim_substrings: list[str]
    """A right claim holds one of them; none means that any claim will do."""
    citations: list[str]
    constraints: list[str] = []


GroundedCase = Case[GroundedInput, GroundedExpected]


def to_case(entry: GoldEntry) -> GroundedCase:
    """A golden entry as a case: what engines may see, apart from what they may not."""
    return Case(
        entry.qid,
        GroundedInput(entry.question),
        GroundedExpected(
            entry.answerable,
            entry.gold_claim_substr or [],
            entry.gold_citations or [],
            entry.constraints,
        ),
        ANSWERABLE if entry.answerable else UNANSWERABLE,
    )


def check_entry(entry: GoldEntry) -> Iterable[Violation]:
    """Contradictions inside one golden entry."""
    return () if _in_order(entry) else _violations(entry)


def _in_order(entry: GoldEntry) -> bool:
    """Whether a quick look finds nothing wrong, as with nearly every entry."""
    substrings, citations = entry.gold_claim_substr, entry.gold_citations
    if entry.answerable and (substrings is UNSET or not citations):
        return False
    return (
        bool(entry.question.strip())
        and all(
            text.isascii() and len(" ".join(text.split())) >= SHORTEST_SUBSTRING for text in substrings or ()
        )
        and all(citation.strip() for citation in citations or ())
    )


def _violations(entry: GoldEntry) -> Iterator[Violation]:
    if not normalize(entry.question):
        yield Violation(("question",), "is blank", "Ask something.")
    if entry.answerable and entry.gold_claim_substr is UNSET:
        remedy = "List what a right claim must hold; [] says that any claim will do."
        yield Violation(("gold_claim_substr",), "is missing", remedy)
    for index, text in enumerate(entry.gold_claim_substr or ()):
        if len(normalize(text)) < SHORTEST_SUBSTRING:
            yield Violation(
                ("gold_claim_substr", index),
                f"{text!r} has fewer than {SHORTEST_SUBSTRING} characters and can never match",
                "Write a longer part of the claim.",
            )
    if entry.answerable and not entry.gold_citations:
        remedy = "Name at least one passage that holds the answer, or say answerable: false."
        yield Violation(("gold_citations",), "is empty though the question is answerable", remedy)
    for index, citation in enumerate(entry.gold_citations or ()):
        if not citation.strip():
            yield Violation(("gold_citations", index), "is blank", "Name a passage, or remove the entry.")
