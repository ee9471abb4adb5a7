"""The golden format: a question, the passages that may answer it, the golden answer and its facts."""

from collections.abc import Iterator
from typing import Literal

import msgspec
from msgspec import UNSET, UnsetType

from eval_pipeline.files import Violation
from eval_pipeline.metrics.text import normalize
from eval_pipeline.suite import Case
from eval_pipeline.suites._heritage.attributes import Description
from eval_pipeline.suites._heritage.documents import CombinedEntry, Shape, ShapedCases, made_id
from eval_pipeline.suites.heritage_qa.lexicon import is_refusal

QUESTION_TYPES = ("factual", "comparative", "relationship", "temporal")
QuestionType = Literal["factual", "comparative", "relationship", "temporal"]


class GoldenEntry(Description, frozen=True, kw_only=True):
    """A line of a golden file, with the field names of its document."""

    id: str | None = None
    question: str
    context: list[str] | UnsetType = UNSET
    """The passages; where they are left out, the supporting facts stand for them."""
    gold_answer: str
    supporting_facts: list[str] = msgspec.field(default_factory=list)
    answer_type: QuestionType
    answerable: bool = True


class QuestionAndAnswer(msgspec.Struct, frozen=True):
    """A question of an entry for several tasks; its passage is the text of the entry."""

    question: str
    answer: str
    answer_type: QuestionType
    supporting_facts: list[str] = []
    answerable: bool = True


class AskedEntry(CombinedEntry, frozen=True, kw_only=True):
    """An entry for several tasks with its part for this one."""

    qa_pairs: list[QuestionAndAnswer]


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


def to_case(entry: GoldenEntry, file: str = "") -> QuestionCase:
    """A golden entry as a case; its id follows from the question, where it has none."""
    return Case(
        entry.id or made_id(file, entry.question),
        QuestionInput(entry.question, _passages(entry), entry.language or ""),
        QuestionExpected(entry.gold_answer, entry.supporting_facts, entry.answerable),
        {
            "question_type": entry.answer_type,
            "answerable": "yes" if entry.answerable else "no",
            **entry.attributes,
        },
    )


def _passages(entry: GoldenEntry) -> list[str]:
    return entry.supporting_facts if entry.context is UNSET else entry.context


def of_asked(entry: AskedEntry, file: str = "") -> list[GoldenEntry]:
    """The questions of an entry for several tasks, numbered."""
    name = entry.id or made_id(file, entry.text)
    return [
        msgspec.convert(
            {
                **entry.attributes,
                "id": f"{name}-q{number}",
                "question": each.question,
                "context": [entry.text],
                "gold_answer": each.answer,
                "supporting_facts": each.supporting_facts,
                "answer_type": each.answer_type,
                "answerable": each.answerable,
            },
            GoldenEntry,
        )
        for number, each in enumerate(entry.qa_pairs, 1)
    ]


def check_asked(entry: AskedEntry) -> Iterator[Violation]:
    """Contradictions inside the questions of an entry for several tasks."""
    for index, question in enumerate(of_asked(entry)):
        for each in check_entry(question):
            field, *rest = each.path
            of_pair = ("qa_pairs", index, "answer" if field == "gold_answer" else field, *rest)
            yield each._replace(path=("text",) if field == "context" else of_pair)


def check_entry(entry: GoldenEntry) -> Iterator[Violation]:
    """Contradictions inside one entry."""
    for field in ("question", "gold_answer"):
        if not normalize(getattr(entry, field)):
            yield Violation((field,), "is blank", "Write it down.")
    for field in ("context", "supporting_facts"):
        for index, text in enumerate(getattr(entry, field) or ()):
            if not normalize(text):
                yield Violation((field, index), "is blank", "Write it down, or remove it.")
    if not _passages(entry):
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


READER = ShapedCases(
    Shape("question", GoldenEntry, lambda entry, file: [to_case(entry, file)], check_entry),
    Shape("qa_pairs", AskedEntry, lambda entry, file: map(to_case, of_asked(entry, file)), check_asked),
)
