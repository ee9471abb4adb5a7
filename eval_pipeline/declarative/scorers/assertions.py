"""Assertions that stand in the cells of a case, as promptfoo writes them: `contains: …`, `similar(0.8): …`.

Nothing in a cell is ever run: only built-in scorers that are pure functions of the reply may stand there.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any, NamedTuple

from eval_pipeline.declarative.cells import Ignored, Row, Unusable, as_json, as_list, as_text, is_blank, shown
from eval_pipeline.declarative.kinds import Kind
from eval_pipeline.declarative.schemas import unusable
from eval_pipeline.declarative.scorers.base import GOOD, Reply, Scorer
from eval_pipeline.declarative.scorers.matching import (
    Contains,
    ContainsAll,
    ContainsAny,
    Equals,
    Levenshtein,
    Regex,
    StartsWith,
)
from eval_pipeline.declarative.scorers.running import Cost, Latency
from eval_pipeline.declarative.scorers.structured import IsJson
from eval_pipeline.declarative.scorers.texts import Refusal, Rouge, Similarity
from eval_pipeline.files.words import did_you_mean

COLUMN = re.compile(r"__expected\d*")
_ASSERTION = re.compile(
    r"(?P<type>[A-Za-z][A-Za-z-]*)(?:\((?P<limit>\d+(?:\.\d+)?)\))?(?P<colon>:?)(?P<value>.*)", re.DOTALL
)
_NOT = "not-"
_CODE = ("javascript", "fn", "eval", "python", "ruby", "webhook", "file", "exec", "package")
_MODEL = (
    "llm-rubric", "grade", "factuality", "model-graded-closedqa", "model-graded-factuality", "g-eval",
    "classifier", "moderation", "select-best", "answer-relevance", "context-faithfulness", "context-recall",
    "context-relevance", "perplexity", "perplexity-score", "pi", "search-rubric", "max-score",
)  # fmt: skip
_NO_CASE: tuple[Ignored, ...] = ("case",)


class Assertion(NamedTuple):
    """One assertion: the scorer that checks it, what it wants, and whether the opposite is asserted."""

    text: str
    scorer: Scorer
    wanted: Any
    negated: bool

    def holds(self, reply: Reply) -> bool | None:
        """Whether it holds; None where there is nothing to measure."""
        value = self.scorer.values([reply], [self.wanted])
        if value[0] != value[0]:
            return None
        return bool(self.scorer.passes(value)[0]) != self.negated


def _texts(value: str, limit: float | None, kind: Kind) -> list[str]:
    return as_list(value)


def _text(value: str, limit: float | None, kind: Kind) -> str:
    return value


TYPES: dict[str, tuple[Callable[[float | None], Scorer], Callable[[str, float | None, Kind], Any]]] = {
    "equals": (lambda _: Equals(of=""), lambda value, _, kind: kind.expected(value)),
    "contains": (lambda _: Contains(of=""), _text),
    "icontains": (lambda _: Contains(of="", ignore=_NO_CASE), _text),
    "contains-all": (lambda _: ContainsAll(of=()), _texts),
    "icontains-all": (lambda _: ContainsAll(of=(), ignore=_NO_CASE), _texts),
    "contains-any": (lambda _: ContainsAny(of=()), _texts),
    "icontains-any": (lambda _: ContainsAny(of=(), ignore=_NO_CASE), _texts),
    "starts-with": (lambda _: StartsWith(of=""), _text),
    "regex": (lambda _: Regex(of=""), lambda value, _, kind: Regex(of=value).wanted({}, kind)),
    "is-json": (lambda _: IsJson(of=True), lambda value, _, kind: _schema(value)),
    "levenshtein": (lambda limit: Levenshtein(of="", at_most=int(5 if limit is None else limit)), _text),
    "similar": (lambda limit: Similarity(of="", at_least=GOOD if limit is None else limit), _text),
    "rouge-n": (
        lambda limit: Rouge(of="", variant="rouge1", at_least=GOOD if limit is None else limit),
        _text,
    ),
    "is-refusal": (lambda _: Refusal(of=True), lambda value, _, kind: True),
    "latency": (lambda limit: Latency(of=_limit(limit)), lambda value, limit, kind: _limit(limit)),
    "cost": (lambda limit: Cost(of=_limit(limit)), lambda value, limit, kind: _limit(limit)),
}
WITHOUT_VALUE = ("is-json", "is-refusal", "latency", "cost")


class Assertions(Scorer, frozen=True, kw_only=True):
    """The assertions of a case's own: the part of them that hold. All must hold for it to pass."""

    of: tuple[str, ...]
    """The columns that they stand in."""

    key = "assertions"
    about = "Assertions of the case that hold ÷ assertions"

    @property
    def needs(self) -> list[str]:
        """The columns."""
        return list(self.of)

    def applies(self, row: Row) -> bool:
        """Whether a case has an assertion."""
        return not (self.optional and all(is_blank(row.get(name)) for name in self.of))

    def wanted(self, row: Row, kind: Kind) -> list[Assertion]:
        """The assertions of a case."""
        texts = [as_text(row.get(name)).strip() for name in self.of if not is_blank(row.get(name))]
        if not texts:
            raise Unusable("says nothing", "Write an assertion, such as `contains: yes`.")
        return [parsed(text, kind) for text in texts]

    def value(self, reply: Reply, wanted: list[Assertion]) -> float | None:
        """How many hold ÷ how many can be checked."""
        held = [each for each in (assertion.holds(reply) for assertion in wanted) if each is not None]
        return sum(held) / len(held) if held else None

    def told(self, reply: Reply, wanted: list[Assertion]) -> tuple[str, str]:
        """The assertions that do not hold."""
        missed = [each.text for each in wanted if each.holds(reply) is False]
        return shown("; ".join(missed)), shown(reply.text)


def parsed(text: str, kind: Kind) -> Assertion:
    """The assertion in a cell; a text without a type must be the answer."""
    match = _ASSERTION.fullmatch(text)
    name = match["type"].lower() if match else ""
    negated = name.startswith(_NOT)
    bare = name.removeprefix(_NOT)
    _stop_if_foreign(text, bare)
    if match is None or bare not in TYPES or not (match["colon"] or bare in WITHOUT_VALUE):
        near = did_you_mean(bare, TYPES) if match and match["colon"] and " " not in bare else ""
        if near:
            raise Unusable(f"{shown(bare)!r} is no type of assertion", near.strip())
        return Assertion(text, Equals(of=""), kind.expected(text), False)
    value, limit = match["value"].strip(), None if match["limit"] is None else float(match["limit"])
    if not match["colon"] and value:
        return Assertion(text, Equals(of=""), kind.expected(text), False)
    if not value and bare not in WITHOUT_VALUE:
        raise Unusable(f"`{name}:` says nothing", "Write what the reply is compared with.")
    make, want = TYPES[bare]
    return Assertion(text, make(limit), want(value, limit, kind), negated)


def _stop_if_foreign(text: str, name: str) -> None:
    if text.startswith("file://") or (name in _CODE and re.match(r"[A-Za-z-]+(?:\([^)]*\))?:", text)):
        remedy = "Only built-in assertions may stand in a cell; `python: module:name` may stand in `scores`."
        raise Unusable(f"{shown(text)!r} would run or read something", remedy)
    if name in _MODEL and ":" in text:
        remedy = f"Built in: {', '.join(TYPES)}."
        raise Unusable(f"`{name}` needs a model", remedy)


def _limit(limit: float | None) -> float:
    if not limit:
        raise Unusable("says no limit", "Write for example latency(2000), in milliseconds, or cost(0.01).")
    return limit


def _schema(value: str) -> dict[str, Any]:
    schema = as_json(value) if value else {}
    reason = unusable(schema) if isinstance(schema, dict) else "is not a JSON Schema"
    if reason:
        raise Unusable(reason, "Correct the schema.")
    return dict(schema)
