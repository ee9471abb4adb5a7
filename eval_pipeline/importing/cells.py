"""Rows of a table of tests: cells whose column begins with `__` say what is expected."""

from __future__ import annotations

import re
from typing import Any

from eval_pipeline.importing.documents import Fields, Items
from eval_pipeline.importing.places import Leftovers, Place

HIDDEN = "__"
EXPECTED = "__expected"
METADATA = "__metadata:"
METRIC = "__metric"
_NUMBER = re.compile(r"[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?")
_ASSERTION = re.compile(
    r"(?P<type>(?:not-)?[a-z][a-z0-9:-]*?)(?:\((?P<threshold>\d+(?:\.\d+)?)\))?(?::(?P<value>.*))?", re.DOTALL
)
_CODE = {"javascript:": "javascript", "fn:": "javascript", "eval:": "javascript", "python:": "python"}
_GRADED = {"grade:": "llm-rubric", "llm-rubric:": "llm-rubric"}
LISTS = ("contains-all", "contains-any", "icontains-all", "icontains-any")
BY_DEGREES = (
    "answer-relevance", "classifier", "context-faithfulness", "context-recall", "context-relevance", "cost",
    "latency", "levenshtein", "perplexity", "perplexity-score", "rouge-n", "similar", "starts-with",
)  # fmt: skip
"""Types that have a threshold in a cell: 0.75 where none is written."""
TYPES = (
    *LISTS, *BY_DEGREES, "bleu", "gleu", "meteor", "contains", "contains-html", "contains-json",
    "contains-sql", "contains-xml", "equals", "factuality", "finish-reason", "g-eval", "guardrails",
    "icontains", "is-html", "is-json", "is-refusal", "is-sql", "is-valid-function-call",
    "is-valid-openai-function-call", "is-valid-openai-tools-call", "is-xml", "model-graded-closedqa",
    "model-graded-factuality", "moderation", "pi", "regex", "ruby", "search-rubric", "select-best",
    "max-score", "tool-call-f1", "webhook", "word-count", "javascript", "python", "llm-rubric",
)  # fmt: skip
"""Types that a cell may name; any other text is what the reply must be."""


def as_test(row: Fields, leftovers: Leftovers) -> Fields:
    """A row as a test."""
    test = Fields(row.place)
    parts = {name: Fields(row.place) for name in ("vars", "options", "metadata")}
    assertions, thresholds = Items(row.place), dict[int, str]()
    for name, cell in ((key.strip(), str(cell)) for key, cell in row.items()):
        place = row.place.below(name)
        if name.startswith(EXPECTED):
            if cell.strip():
                assertions.put(assertion_of(cell.strip(), place), place)
        elif not name.startswith(HIDDEN):
            parts["vars"].put(name, cell, place)
        elif name in ("__prefix", "__suffix"):
            parts["options"].put(name.removeprefix(HIDDEN), cell, place)
        elif name.startswith(METADATA):
            parts["metadata"].put(name.removeprefix(METADATA).removesuffix("[]"), cell, place)
        elif number := _assertion_number(name):
            thresholds[number] = cell
        elif name == "__threshold":
            test |= {"threshold": float(cell)} if _NUMBER.fullmatch(cell.strip()) else {}
        elif name == "__description":
            test.put("description", cell, place)
        elif name != METRIC:
            leftovers.drop(place, "is a column without a counterpart", "Leave it out, or rename it.")
    _complete(assertions, str(row.get(METRIC) or ""), thresholds)
    for name, value in {"assert": assertions, **parts}.items():
        if value or name == "vars":
            test.put(name, value, row.place)
    return test


def _complete(assertions: Items, metric: str, thresholds: dict[int, str]) -> None:
    """Give the assertions of a row what other columns say of them."""
    for number, assertion in enumerate(assertions, 1):
        if metric:
            assertion.put("metric", metric, assertion.place)
        if _NUMBER.fullmatch(thresholds.get(number, "").strip()):
            assertion.put("threshold", float(thresholds[number]), assertion.place)


def _assertion_number(name: str) -> int:
    match = re.fullmatch(r"__config:__expected(\d*):threshold", name)
    return int(match[1] or 1) if match else 0


def assertion_of(text: str, place: Place) -> Fields:
    """The assertion in a cell, by promptfoo's rules."""
    for start, kind in (*_CODE.items(), *_GRADED.items()):
        if text.startswith(start):
            return _made(place, type=kind, value=text.removeprefix(start).strip())
    if text.startswith("file://"):
        return _made(place, type="python" if ".py" in text else "javascript", value=text)
    match = _ASSERTION.fullmatch(text)
    bare = match["type"].removeprefix("not-") if match else ""
    if match is None or bare not in TYPES:
        return _made(place, type="equals", value=text)
    value: Any = match["value"]
    if bare in LISTS or bare in ("contains-json", "is-json"):
        return _made(place, type=match["type"], value=value)
    made = _made(place, type=match["type"], value=None if value is None else value.strip())
    if bare in BY_DEGREES:
        made.put("threshold", float(match["threshold"] or 0.75), place)
    return made


def _made(place: Place, **given: Any) -> Fields:
    fields = Fields(place)
    for name, value in given.items():
        if value is not None:
            fields.put(name, value, place)
    return fields
