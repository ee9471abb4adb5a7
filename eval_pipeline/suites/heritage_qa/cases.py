"""The golden format: a question, the passages that may answer it, the golden answer and its facts."""

from collections.abc import Iterator
from typing import Literal

import msgspec

from eval_pipeline.files import Violation
from eval_pipeline.metrics.text import normalize
from eval_pipeline.suite import Case
from eval_pipeline.suites._heritage.attributes import Description
from eval_pipeline.suites.heritage_qa.lexicon import is_refusal

QUESTION_TYPES = ("factual", "comparative", "relationship", "temporal")
QuestionType = Literal["factual", "comparative", "relationship", "temporal"]


class GoldenEntry(Description, frozen=True, kw_only=True):
    """A line of a golden file, with the field names of its document."""

    id: str
    question: str
    context: list[str]
    gold_answer: str
    supporting_facts: list[str] = msgspec.field(default_factory=list)
    answer_type: QuestionType
    answerable: bool = True


class QuestionInput(msgspec.Struct, frozen=True):
    """What an engine sees."""

    question: str
    context: list[str]
    language: str
    """The language of the question, as a code; blank where it is not stated."""


class QuestionExpected(msgspec.Struct, frozen=True):
    """What only scoring sees."""

    answer: str
    facts: list[str]
    answerable: bool


QuestionCase = Case[QuestionInput, QuestionExpected]


def to_case(entry: GoldenEntry) -> QuestionCase:
    """A golden entry as a case."""
    return Case(
        entry.id,
        QuestionInput(entry.question, entry.context, entry.language or ""),
        QuestionExpected(entry.gold_answer, entry.supporting_facts, entry.answerable),
        {
            "question_type": entry.answer_type,
            "answerable": "yes" if entry.answerable else "no",
            **entry.attributes,
        },
    )


def check_entry(entry: GoldenEntry) -> Iterator[Violation]:
    """Contradictions inside one entry."""
    for field in ("question", "gold_answer"):
        if not normalize(getattr(entry, field)):
            yield Violation((field,), "is blank", "Write it down.")
    for field in ("context", "supporting_facts"):
        for index, text in enumerate(getattr(entry, field)):
            if not normalize(text):
                yield Violation((field, index), "is blank", "Write it down, or remove it.")
    if not entry.context:
        yield Violation(("context",), "is empty", "Give at least one passage.")
    refuses = is_refusal(entry.gold_answer)
    if entry.answerable and refuses:
        yield Violation(("gold_answer",), "refuses an answerable question", "Answer it.")
    if entry.answerable and not entry.supporting_facts:
        yield Violation(("supporting_facts",), "is empty", "Name the facts that the answer rests on.")
    if not entry.answerable and not refuses:
        remedy = "Refuse it as the suite's refusals do, in the language of the question."
        yield Violation(("gold_answer",), "answers an unanswerable question", remedy)
    if not entry.answerable and entry.supporting_facts:
        remedy = "Remove them, or make the question answerable."
        yield Violation(("supporting_facts",), "support an unanswerable question", remedy)
