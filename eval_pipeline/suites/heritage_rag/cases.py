"""The golden format: a question over a corpus, the golden answer, and the passages that hold its facts."""

from collections.abc import Collection, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import msgspec

from eval_pipeline.files import WHOLE, Part, Violation
from eval_pipeline.golden import JsonCases
from eval_pipeline.problems import BadInput, Problems
from eval_pipeline.suite import Case
from eval_pipeline.suites._heritage.attributes import Description
from eval_pipeline.suites.heritage_qa import cases as questions
from eval_pipeline.suites.heritage_qa.cases import QuestionCase, QuestionExpected, QuestionInput, QuestionType
from eval_pipeline.suites.heritage_retrieval.engine.corpus import PASSAGES_FILE, load_corpus

RESOURCES = "resources"


class GoldenEntry(Description, frozen=True, kw_only=True):
    """A line of a golden file: a question as in heritage_qa, with passages of the corpus for its context."""

    id: str
    question: str
    gold_answer: str
    supporting_facts: list[str] = msgspec.field(default_factory=list)
    supporting_passages: list[list[str]] = msgspec.field(default_factory=list)
    """For each fact, the passages that hold it: one of them is enough."""
    answer_type: QuestionType
    answerable: bool = True


class RagInput(msgspec.Struct, frozen=True):
    """What an engine sees; passages come with what is retrieved."""

    question: str
    language: str = ""


class RagExpected(msgspec.Struct, frozen=True):
    """What only scoring sees."""

    answer: str
    facts: list[str]
    passages: list[list[str]]
    answerable: bool


class RagAnswer(msgspec.Struct, frozen=True):
    """The output contract: an answer, and what was retrieved for it."""

    answer: str
    retrieved_ids: list[str] | None = None
    """The ids of the passages, best first; carried over from retrieval where the engine answers only."""


RagCase = Case[RagInput, RagExpected]


def to_case(entry: GoldenEntry) -> RagCase:
    """A golden entry as a case: what engines may see, apart from what they may not."""
    return Case(
        entry.id,
        RagInput(entry.question, entry.language or ""),
        RagExpected(entry.gold_answer, entry.supporting_facts, entry.supporting_passages, entry.answerable),
        {
            "question_type": entry.answer_type,
            "answerable": "yes" if entry.answerable else "no",
            **entry.attributes,
        },
    )


def as_question(case: RagCase, passages: list[str]) -> QuestionCase:
    """The case as one of heritage_qa, with what was retrieved as its context."""
    expected = case.expected
    return Case(
        case.id,
        QuestionInput(case.input.question, passages, case.input.language),
        QuestionExpected(expected.answer, expected.facts, expected.answerable),
        case.attributes,
    )


class CorpusCases(JsonCases[GoldenEntry]):
    """Reads questions, and looks up the passages that they name in the corpus of their golden folder."""

    def __init__(self) -> None:
        super().__init__(GoldenEntry, to_case, check_entry)

    def read_blocks(
        self, path: Path, problems: Problems, part: Part = WHOLE
    ) -> Iterator[tuple[list[Case[Any, Any]], Sequence[int]]]:
        """The cases of one file with their lines, many at a time."""
        checked = JsonCases(GoldenEntry, to_case, partial(check_entry, known=_passages_beside(path)))
        return checked.read_blocks(path, problems, part)


def _passages_beside(path: Path) -> Collection[str] | None:
    """The ids of the corpus of the golden folder that a file lies in; none of a corpus that is not there."""
    for folder in path.resolve().parents:
        if (folder / RESOURCES / PASSAGES_FILE).is_file():
            try:
                return load_corpus(folder / RESOURCES).passages.keys()
            except BadInput:  # whoever loads the corpus names what is wrong with it
                return None
    return None


def check_entry(entry: GoldenEntry, known: Collection[str] | None = None) -> Iterator[Violation]:
    """Contradictions inside one entry: those of the question, and facts that no passage is named for.

    `known` are the ids of the corpus, where there is one: every passage that is named must be in it.
    """
    asked = questions.GoldenEntry(
        id=entry.id,
        question=entry.question,
        context=["what is retrieved"],
        gold_answer=entry.gold_answer,
        supporting_facts=entry.supporting_facts,
        answer_type=entry.answer_type,
        answerable=entry.answerable,
    )
    yield from questions.check_entry(asked)
    facts, named = len(entry.supporting_facts), len(entry.supporting_passages)
    if facts != named:
        remedy = "List, for each fact in turn, the ids of the passages that hold it."
        yield Violation(("supporting_passages",), f"has {named} entries for {facts} facts", remedy)
    for index, ids in enumerate(entry.supporting_passages):
        if not ids or not all(each.strip() for each in ids):
            remedy = "Name at least one passage that holds the fact."
            yield Violation(("supporting_passages", index), "is empty or has a blank id", remedy)
            continue
        for place, name in enumerate(ids):
            if known is not None and name not in known:
                remedy = f"Name a doc_id of {RESOURCES}/{PASSAGES_FILE}, or add the passage there."
                message = f"{name!r} is no passage of the corpus"
                yield Violation(("supporting_passages", index, place), message, remedy)
