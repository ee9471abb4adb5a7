"""The embedded engine: a checklist of concerns, each with methods that look for tell-tale words.

No model reads anything. A method is a pattern that a line must show, and what must not stand in the same line
or anywhere in the document; the finding quotes the line and names its number. It knows the words that errors
often come with, and nothing of what a document means: the floor that a model must beat.
"""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Annotated, Literal

import msgspec

from eval_pipeline.files import Violation, read_yaml
from eval_pipeline.language.patterns import BadPattern, compile_bounded, found
from eval_pipeline.metrics.text import word_count
from eval_pipeline.problems import bad_value, without_problems
from eval_pipeline.suites.review.cases import Category, Prepared
from eval_pipeline.suites.review.findings import Concern, Depth, Finding, Findings, Spent

CHECKLIST_FILE = "checklist.yaml"


class Method(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One thing to look for."""

    name: str
    category: Category
    depth: Depth
    says: str
    find: str
    also: str | None = None
    """What the same line must show, too."""
    unless: str | None = None
    """What excuses a line that shows `find`."""
    absent: str | None = None
    """What must not stand anywhere in the document."""
    eager: bool = False
    """Whether it is a mere hint, that is often wrong."""

    def lines(self, lines: Sequence[str], whole: str, *, excuses: bool) -> Iterator[int]:
        """The numbers of the lines that show it."""
        if self.absent and found(self.absent, whole):
            return
        for number, line in enumerate(lines, start=1):
            shows = found(self.find, line) and (self.also is None or found(self.also, line))
            if shows and not (excuses and self.unless and found(self.unless, line)):
                yield number


class ChecklistConcern(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A question that reviewers ask, and how they look for the answer."""

    name: str
    methods: list[Method]


Checklist = Mapping[str, ChecklistConcern]


class Parameters(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What a prompt version of this engine chooses."""

    layers: tuple[Literal["A", "B", "C"], ...] = ("A", "B", "C")
    """Which layers of concerns are asked."""
    excuses: bool = True
    """Whether a line that shows an error is excused by what else stands in it."""
    eager: bool = False
    """Whether mere hints are reported, too."""
    most_per_method: Annotated[int, msgspec.Meta(ge=1, le=100)] = 1
    """How many findings one method may bring."""


def load_checklist(folder: Path) -> Checklist:
    """The concerns by id."""
    concerns, file = dict[Concern, ChecklistConcern], folder / CHECKLIST_FILE
    return without_problems(lambda problems: read_yaml(file, concerns, problems, _check))


def _check(checklist: Mapping[str, ChecklistConcern]) -> Iterator[Violation]:
    for concern, entry in checklist.items():
        for index, method in enumerate(entry.methods):
            for field in ("find", "also", "unless", "absent"):
                pattern = getattr(method, field)
                try:
                    if pattern is not None:
                        compile_bounded(pattern)
                except BadPattern as bad:
                    message, _, remedy = str(bad).partition(". ")
                    yield Violation((concern, "methods", index, field), message, remedy)


def review(given: Prepared, parameters: Parameters, checklist: Checklist | None) -> Findings:
    """What the checklist finds, which methods were applied, and how many words were read and written.

    There is no model and so no token; words stand for tokens, each method reading the document once.
    """
    if checklist is None:
        raise bad_value("resources", f"{CHECKLIST_FILE} is missing", "Add it to the golden resources.")
    asked = {
        concern: [method for method in entry.methods if parameters.eager or not method.eager]
        for concern, entry in checklist.items()
        if concern[0] in parameters.layers
    }
    findings = [
        finding
        for concern, methods in asked.items()
        for method in methods
        for finding in _found(given.document, concern, method, parameters)
    ]
    read = sum(len(methods) for methods in asked.values()) * word_count(given.document)
    written = sum(word_count(finding.text) for finding in findings)
    listed = sum(
        word_count(f"{method.name} {method.says}") for methods in asked.values() for method in methods
    )
    applied = {concern: [method.name for method in methods] for concern, methods in asked.items()}
    return Findings(findings, applied, Spent(read + written, listed))


def _found(document: str, concern: str, method: Method, parameters: Parameters) -> Iterator[Finding]:
    lines = document.split("\n")
    numbers = method.lines(lines, document, excuses=parameters.excuses)
    for number, _ in zip(numbers, range(parameters.most_per_method), strict=False):
        yield Finding(
            id=f"{concern}-{method.name}-{number}",
            concern=concern,
            method=method.name,
            category=method.category,
            depth=method.depth,
            text=method.says,
            quote=lines[number - 1].strip(),
            location=str(number),
        )
