"""The golden format: a document to review, and the errors that were planted in it."""

from collections import Counter
from collections.abc import Iterator
from typing import Literal, get_args

import msgspec

from eval_pipeline.files import Violation
from eval_pipeline.metrics.text import normalize
from eval_pipeline.suite import Case
from eval_pipeline.suites.review.places import line_range

Severity = Literal["CRITICAL", "IMPORTANT", "MINOR"]
Category = Literal[
    "SCOPE", "ASSUME", "SKIP", "SHALLOW", "CONFLICT", "INTEGRATE", "EDGE", "DEPEND", "PERF", "SECURE"
]
Kind = Literal["design", "code", "plan"]

SEVERITIES: tuple[str, ...] = get_args(Severity)
CATEGORIES: tuple[str, ...] = get_args(Category)
KINDS: tuple[str, ...] = get_args(Kind)
WEIGHTS = {"CRITICAL": 3, "IMPORTANT": 2, "MINOR": 1}


class ExpectedError(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """An error that is known to be in the document."""

    id: str
    severity: Severity
    category: Category
    text: str
    quote: str | None = None
    location: str | None = None

    @property
    def weight(self) -> int:
        """What finding it is worth, in points."""
        return WEIGHTS[self.severity]


class GoldenTask(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A golden entry: lines of a document, and its errors."""

    id: str
    title: str
    kind: Kind
    document: list[str]
    expected_errors: list[ExpectedError]


class ReviewInput(msgspec.Struct, frozen=True):
    """What an engine sees."""

    title: str
    kind: str
    document: str


class ReviewExpected(msgspec.Struct, frozen=True):
    """What only scoring sees."""

    errors: list[ExpectedError]


class Prepared(msgspec.Struct, frozen=True):
    """What a template renders: the document as it is, and with a number before each line."""

    title: str
    kind: str
    document: str
    numbered: str


ReviewCase = Case[ReviewInput, ReviewExpected]


def to_case(task: GoldenTask) -> ReviewCase:
    """A golden entry as a case."""
    return Case(
        task.id,
        ReviewInput(task.title, task.kind, "\n".join(task.document)),
        ReviewExpected(task.expected_errors),
        {"kind": task.kind},
    )


def prepare(given: ReviewInput, parameters: object, resources: object) -> Prepared:
    """Number the lines, so that findings can name them."""
    lines = given.document.split("\n")
    numbered = "\n".join(f"{number:>3}  {line}" for number, line in enumerate(lines, start=1))
    return Prepared(given.title, given.kind, given.document, numbered)


def check_task(task: GoldenTask) -> Iterator[Violation]:
    """What cannot be right in one golden entry."""
    for index, line in enumerate(task.document):
        if "\n" in line:
            yield Violation(("document", index), "holds a line break", "Make an entry of every line.")
    repeated = [
        id_ for id_, times in Counter(error.id for error in task.expected_errors).items() if times > 1
    ]
    for id_ in repeated:
        yield Violation(("expected_errors",), f"{id_!r} is the id of two errors", "Give each its own.")
    for index, error in enumerate(task.expected_errors):
        for message, remedy in _doubts(task, error):
            yield Violation(("expected_errors", index), message, remedy)


def _doubts(task: GoldenTask, error: ExpectedError) -> Iterator[tuple[str, str]]:
    if not error.id.strip():
        yield "has a blank id", "Number the errors: E1, E2, …"
    if not (normalize(error.quote or "") or normalize(error.location or "")):
        yield "has neither quote nor location", "Say where the error shows: findings are matched by it."
        return
    lines = line_range(error.location or "")
    if error.location is not None and (lines is None or lines[1] > len(task.document)):
        yield f"{error.location!r} names no lines of the document", "Write 12, or 12-14, counted from 1."
        return
    part = task.document[lines[0] - 1 : lines[1]] if lines else task.document
    if error.quote and normalize(error.quote) not in normalize("\n".join(part)):
        yield f"{error.quote!r} does not stand there", "Copy the words from the document, and check the line."
