"""What files of results hold, whatever program wrote them: a row for each case and trial, with its scores."""

from __future__ import annotations

import hashlib
import math
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from pathlib import Path
from typing import Any

import msgspec

from eval_pipeline.answers import FIRST_TRIAL, LARGEST_TRIAL
from eval_pipeline.files.words import did_you_mean
from eval_pipeline.problems import Problems, shown_path

NO_MODEL = "no model named"
USUAL = "score"
"""The metric that is meant where nobody says which."""
MEASURES = frozenset({"latency_ms", "cost_usd", "tokens"})
"""Numbers that are compared only where somebody asks for them."""
MOST_NAMED = 20
LONGEST_ID, LONGEST_BEGINNING = 100, 80
LONGEST_TEXT = 500
LARGEST_SCORE = 1e15

_NUMBER = re.compile(r"[-+]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][-+]?\d+)?", re.ASCII)
_WORDS = {
    **dict.fromkeys(("C", "true", "True", "TRUE", "yes", "pass"), 1.0),
    **dict.fromkeys(("I", "false", "False", "FALSE", "no", "fail"), 0.0),
}
_NOTHING = frozenset({"", "null", "none", "None", "nan", "NaN"})


class Unusable(Enum):
    """What stands in place of a score that is none."""

    TEXT = "is a text, not a number"
    LARGE = "is too large for a score"
    OTHER = "is neither a number nor true or false"


Score = float | None | Unusable
"""A number; None where there is none, which counts as an error of the case."""


class Row(msgspec.Struct, gc=False):
    """How one case fared in one trial."""

    case_id: str
    trial: int
    scores: dict[str, Score]
    error: str = ""
    """Why there is no result; blank where there is one."""
    place: int = 0
    """The line that it stands on; 0 where it has none of its own."""
    passed: bool | None = None
    """Whether the case passed, where a file says so."""
    input_hash: str = ""
    """What tells whether two cases of one name ask the same; blank where nobody knows."""
    input: str = ""
    expected: str = ""
    output: str = ""


@dataclass(frozen=True)
class Results:
    """The rows of a file, or of a part of it where it holds several evaluations."""

    path: Path
    kind: str
    """What wrote it."""
    rows: Sequence[Row]
    model: str = NO_MODEL
    created: str = ""
    notes: tuple[str, ...] = ()
    part: str = ""
    """Which of several evaluations in the file it is; blank where there is one."""

    @property
    def label(self) -> str:
        """What it is called in a comparison."""
        return f"{shown_path(self.path)}{f', {self.part}' if self.part else ''}"

    @property
    def columns(self) -> list[str]:
        """Everything that any row has a score of."""
        return list(dict.fromkeys(name for row in self.rows for name in row.scores))

    @property
    def metrics(self) -> list[str]:
        """The columns that hold numbers and nothing else."""
        numbers = {name for row in self.rows for name, score in row.scores.items() if score is not None}
        texts = {name for row in self.rows for name, score in row.scores.items() if _is_unusable(score)}
        return [name for name in self.columns if name in numbers - texts]


def _is_unusable(score: Score) -> bool:
    return isinstance(score, Unusable)


def as_score(value: Any) -> Score:
    """A value as a score: true and C are 1, false and I are 0; what is no finite number is none."""
    if isinstance(value, int | float):
        try:
            number = float(value)
        except OverflowError:
            return Unusable.LARGE
        if math.isfinite(number):
            return number if abs(number) <= LARGEST_SCORE else Unusable.LARGE
        return None
    if isinstance(value, str):
        text = value.strip()
        if text in _WORDS:
            return _WORDS[text]
        if _NUMBER.fullmatch(text):
            return as_score(float(text))
        return None if text in _NOTHING else Unusable.TEXT
    return None if value is None else Unusable.OTHER


def as_trial(value: Any) -> int | None:
    """The number of a trial; None where it is none."""
    if value is None or value == "":
        return FIRST_TRIAL
    text = str(value)
    known = not isinstance(value, bool) and text.isascii() and text.isdigit() and len(text) < 12
    return int(text) if known and int(text) <= LARGEST_TRIAL else None


def as_id(value: Any) -> str:
    """A case id on one line and of readable length; where that changes it, a hash keeps it apart."""
    text = value if isinstance(value, str) else str(value)
    flat = " ".join(text.split())
    if flat == text and len(text) <= LONGEST_ID:
        return text
    mark = hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:8]
    return f"{flat[:LONGEST_BEGINNING]} #{mark}"


def as_text(value: Any) -> str:
    """The beginning of what was asked, expected or answered."""
    if value is None:
        return ""
    text = value if isinstance(value, str) else msgspec.json.encode(value).decode()
    return text[:LONGEST_TEXT]


def choose_part(
    parts: Sequence[Results], asked: str | None, option: str, problems: Problems
) -> Results | None:
    """The part that is asked for by its name, or by a piece of it that no other has."""
    names = [each.part for each in parts]
    if asked is None:
        if len(parts) == 1:
            return parts[0]
        message = f"{shown_path(parts[0].path)} holds {len(parts)} evaluations"
        problems.add("input", message, f"Choose one: {listed(names)}.", field=option)
        return None
    meant = [each for each in parts if each.part == asked] or [each for each in parts if asked in each.part]
    if len(meant) == 1:
        return meant[0]
    message = f"{asked!r} names {len(meant) or 'none'} of the evaluations in {shown_path(parts[0].path)}"
    problems.add("input", message, f"There are: {listed(names)}.", field=option)
    return None


def choose_metric(sides: Sequence[Results], asked: str | None, problems: Problems) -> str | None:
    """The metric that is asked for; else `score`, or the only one that both sides have."""
    if asked is not None:
        for each in sides:
            if asked not in each.columns:
                remedy = f"{did_you_mean(asked, each.columns)}There are: {listed(each.columns)}."
                problems.add(each.path, f"has no {asked!r}", remedy, field="--metric")
        return asked
    first, *others = (each.metrics for each in sides)
    shared = [name for name in first if all(name in each for each in others)]
    usual = [name for name in shared if name not in MEASURES]
    if USUAL in usual or len(usual) == 1:
        return USUAL if USUAL in usual else usual[0]
    if usual:
        remedy = f"Choose one: {listed(usual)}."
        problems.add("input", "the files hold several scores", remedy, field="--metric")
        return None
    held = "; ".join(f"{shown_path(each.path)}: {listed(each.columns) or 'nothing'}" for each in sides)
    remedy = f"Name a column of numbers that both have. There are: {held}."
    problems.add("input", "the files share no score", remedy, field="--metric")
    return None


def check_rows(results: Results, metric: str, problems: Problems) -> None:
    """Name the rows that repeat a case and trial, or whose score is none."""
    seen: set[tuple[str, int]] = set()
    for row in results.rows:
        score = row.scores.get(metric)
        if isinstance(score, Unusable) and not row.error:
            remedy = "Write a number, true or false; leave out what is missing."
            message = f"{row.case_id}: {score.value}"
            problems.add(results.path, message, remedy, line=row.place, field=as_id(metric))
        if (row.case_id, row.trial) in seen:
            message = f"case {row.case_id} is there twice in trial {row.trial}"
            remedy = "Number repetitions by a field trial (or epoch), or remove one."
            problems.add(results.path, message, remedy, line=row.place)
        seen.add((row.case_id, row.trial))


def listed(names: Iterable[str]) -> str:
    """Names in quotes, as many as a person reads."""
    every = list(names)
    more = f" and {len(every) - MOST_NAMED:,} more" if len(every) > MOST_NAMED else ""
    return ", ".join(repr(as_id(each)) for each in every[:MOST_NAMED]) + more


def scores_of(values: Mapping[str, Any]) -> dict[str, Score]:
    """Values by name as scores."""
    return {name: as_score(value) for name, value in values.items()}
