"""What a suite's diagnoses mean to somebody who investigates a failure. No number rests on it.

A suite says it in a module `diagnoses` of its own, as `VOCABULARY`, which nothing that scores imports.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, NamedTuple

from eval_pipeline.suite.case import Case

Role = Literal[
    "missed",
    "unlinked",
    "refused",
    "invented",
    "forbidden",
    "mislabelled",
    "reversed",
    "unquoted",
    "paraphrased",
    "made_up",
    "form",
    "alias",
    "note",
]
"""What a diagnosis is an instance of. `unlinked` is a missed connection between things; `made_up` a quote
that stands nowhere; `alias` an answer that the golden set may lack; a `note` is no mistake."""


class Kind(NamedTuple):
    """One kind of diagnosis."""

    role: Role
    words: str
    """What happened, as the subject of a sentence: "concepts that were missed"."""
    fix: str = ""
    """What usually helps."""
    brings: tuple[str, ...] = ()
    """Kinds that come along by themselves: a reversed relationship is a missed one, too."""


class Wanted(NamedTuple):
    """Something that is to be found in a case's text."""

    name: str
    """As diagnoses have it."""
    forms: Sequence[str]
    """How it may be written in the text."""
    start: int | None = None
    """Where it begins there, if the golden set says so; else it is looked for."""
    label: str = ""
    """Its type or category, if it has one."""


@dataclass(frozen=True)
class DiagnosisVocabulary:
    """What a suite knows of its diagnoses."""

    kinds: Mapping[str, Kind] = field(default_factory=dict)
    wanted: Callable[[Case[Any, Any]], Sequence[Wanted]] | None = None
    """Case → what is to be found in its text, where that is the task."""
    text: Callable[[Any], str] | None = None
    """Input → the text that answers are found in; by default all its texts together."""
