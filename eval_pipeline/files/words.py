"""What is wrong with a value, in plain words: a message, and a remedy."""

import datetime
from collections.abc import Collection, Iterable
from difflib import get_close_matches
from typing import Any

from eval_pipeline.files.violations import CLOSE

TEXT, WHOLE_NUMBER, NUMBER = "a text", "a whole number", "a number"
TRUE_OR_FALSE, LIST, FIELDS = "true or false", "a list", "a set of fields"

Words = tuple[str, str]
"""A message and a remedy."""

_KINDS = ((str, TEXT), (int, WHOLE_NUMBER), (float, NUMBER), (dict, FIELDS), (list, LIST))
_LIMITS = {
    ">=": ("is less than {}", "Write {} or more."),
    ">": ("is not more than {}", "Write more than {}."),
    "<=": ("is more than {}", "Write {} or less."),
    "<": ("is not less than {}", "Write less than {}."),
}
_LENGTHS = {
    ">=": ("has fewer than {} {}", "Write at least {}."),
    "<=": ("has more than {} {}", "Write at most {}."),
}


def wrong_kind(value: Any, wanted: str) -> Words:
    """For a value of another kind than the one that is wanted. The value itself may be a secret."""
    remedy = {FIELDS: "Write name: value on lines below it."}.get(wanted, f"Write {wanted}.")
    if wanted == TEXT and isinstance(value, bool | int | float | datetime.date):
        remedy = "Put it in quotes."
    elif wanted in (NUMBER, WHOLE_NUMBER, TRUE_OR_FALSE) and isinstance(value, str):
        remedy = f"Write {wanted}, without quotes."
    return f"is {kind_of(value)}, not {wanted}", remedy


def kind_of(value: Any) -> str:
    """What a plain value is."""
    if value is None or isinstance(value, bool):
        return "empty" if value is None else str(value).lower()
    return next((words for kind, words in _KINDS if isinstance(value, kind)), "something else")


def beyond(sign: str, limit: Any) -> Words:
    """For a number that is not `>= limit`, or what else the sign says."""
    message, remedy = _LIMITS[sign]
    shown = str(limit).removesuffix(".0")
    return message.format(shown), remedy.format(shown)


def wrong_length(sign: str, limit: Any, things: str) -> Words:
    """For a text or a list of another length."""
    message, remedy = _LENGTHS[sign]
    return message.format(limit, things), remedy.format(limit)


def not_a_choice(value: Any, choices: Iterable[Any], what: str = "choice", several: str = "Choices") -> Words:
    """For a value that is none of a few."""
    known = [str(choice) for choice in choices]
    said = f"{str(value)[:100]!r} is not" if isinstance(value, str) else f"is {kind_of(value)}, not"
    return f"{said} a {what}", f"{did_you_mean(value, known)}{several}: {', '.join(known)}."


def did_you_mean(value: Any, known: Collection[str]) -> str:
    """The one that is probably meant, as a question; blank where none is near."""
    near = get_close_matches(value, known, 1, CLOSE) if isinstance(value, str) else []
    return f"Did you mean {near[0]}? " if near else ""
