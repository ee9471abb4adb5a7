"""What each step of the blind protocol shows and asks, on the screen and in a file alike."""

from collections.abc import Iterator, Mapping
from typing import NamedTuple

from eval_pipeline.language.word_lists import line_lists
from eval_pipeline.suites.review.cases import CATEGORIES, ExpectedError
from eval_pipeline.suites.review.findings import Finding
from eval_pipeline.suites.review.ledger import Row, Step
from eval_pipeline.suites.review.matching import CREDITS
from eval_pipeline.suites.review.places import line_range
from eval_pipeline.suites.review.protocol import NONE, Session, TaskReview

_DEFINED = line_lists(__package__, "data/definitions.txt")
DEFINITIONS = {word: " ".join(lines) for word, lines in _DEFINED.items()}
LINES_AROUND = 1
MOST_LINES = 12


class Question(NamedTuple):
    """Something that a step asks about each of its subjects."""

    name: str
    text: str
    choices: tuple[str, ...] = ()
    """What may be answered; words of one's own where it is empty."""


_WHICH_ERROR = Question("error", "Which error")
_RULING = (
    Question("ruling", "Your ruling", ("full", "partial", "bonus_valid", "false_positive")),
    _WHICH_ERROR,
    Question("reason", "The reason"),
)
QUESTIONS: Mapping[Step, tuple[Question, ...]] = {
    "findings": (
        Question("category", "What error is it (NONE if it is no error)", (*CATEGORIES, NONE)),
        Question("error", "In your own words"),
        Question("evidence", "What is the evidence"),
        Question("confidence", "How sure are you", ("HIGH", "MEDIUM", "LOW")),
    ),
    "predict": (
        Question("prediction", "Will the workflow have found it", ("YES", "MAYBE", "NO")),
        Question("why", "Why, or why not"),
    ),
    "adjudicate": _RULING,
    "second": _RULING,
    "settle": _RULING,
    "bias": (Question("comment", "Your comment"),),
}


def definitions(step: Step) -> list[str]:
    """The meaning of every word that a step lets people choose."""
    words = [word for question in QUESTIONS[step] for word in question.choices]
    return [f"{word}: {DEFINITIONS[word]}" for word in words]


def asked(step: Step, task: TaskReview, given: Mapping[str, str]) -> Iterator[Question]:
    """The questions on one subject, one by one: what comes may depend on what was answered."""
    for question in QUESTIONS[step]:
        if question is not _WHICH_ERROR:
            yield question
        elif given.get("ruling") in CREDITS:
            yield question._replace(choices=tuple(error.id for error in task.errors))


class Presented(NamedTuple):
    """What a person sees of a subject, and what is recorded with the answers."""

    lines: list[str]
    recorded: dict[str, str]


def present(
    session: Session, step: Step, task: TaskReview, subject: str, *, quotes_only: bool = False
) -> Presented:
    """What a step shows of one subject, and nothing that would tell more than the step allows."""
    if step == "findings":
        finding = task.findings[subject]
        hidden = quotes_only and bool(finding.quote or finding.location)
        lines = list(_finding_lines(task, finding, words=not hidden))
        return Presented(lines, {"shown": "quote" if hidden else "words"})
    if step == "predict":
        return Presented([_error_line(next(each for each in task.errors if each.id == subject))], {})
    if step == "bias":
        flags = session.bias(task)
        lines = [f"BIAS, {flag.kind}: {flag.told}" for flag in flags] or ["No sign of bias."]
        told = "; ".join(f"{flag.kind}: {flag.told}" for flag in flags)
        return Presented(lines, {"flags": str(len(flags)), "told": told})
    why = session.undecided(task).get(subject, "")
    lines = [*_finding_lines(task, task.findings[subject])]
    lines += [f"Open because: {why}"] if why and step == "adjudicate" else []
    if step == "settle":
        lines += [ruling_line(row) for row in session.disputes(task)[subject]]
    return Presented([*lines, *map(_error_line, task.errors)], {})


def _finding_lines(task: TaskReview, finding: Finding, *, words: bool = True) -> Iterator[str]:
    if words:
        yield f"Finding: {finding.text}"
    if finding.quote:
        yield f"Quote:   {finding.quote}"
    lines = task.golden.case.input.document.split("\n")
    if place := line_range(finding.location or ""):
        first, last = max(place[0] - LINES_AROUND, 1), min(place[1] + LINES_AROUND, len(lines))
        for number in range(first, min(last, first + MOST_LINES) + 1):
            yield f"  {number:>3}  {lines[number - 1]}"


def _error_line(error: ExpectedError) -> str:
    where = f" (line {error.location})" if error.location else ""
    return f"  {error.id} {error.severity} {error.category}{where}: {error.text}"


def ruling_line(row: Row) -> str:
    """What somebody ruled, and why."""
    about = f" {row.answers['error']}" if row.answers["error"] else ""
    return f"{row.author} ruled {row.answers['ruling']}{about}: {row.answers['reason']}"
