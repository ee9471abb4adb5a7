"""Types of assertions: which scorer measures the same, or nearly so, and what to do about the others."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from eval_pipeline.declarative import SCORERS
from eval_pipeline.importing.documents import parse_document
from eval_pipeline.importing.entries import Leaf
from eval_pipeline.importing.patterns import from_javascript
from eval_pipeline.importing.places import NOWHERE, Leftovers, NotTaken
from eval_pipeline.importing.templates import as_printed, filled, is_template
from eval_pipeline.problems import Problems

SIMILAR = 0.75
EDITS = 5
EXACT: dict[str, Any] = {"exact": True}
NO_CASE: dict[str, Any] = {"ignore": ["case"], "exact": True}
BY_A_MODEL = (
    "llm-rubric", "model-graded-closedqa", "model-graded-factuality", "factuality", "g-eval",
    "answer-relevance", "context-faithfulness", "context-recall", "context-relevance",
    "conversation-relevance", "agent-rubric", "search-rubric", "select-best", "max-score", "moderation",
    "classifier", "pi", "guardrails",
)  # fmt: skip
BY_CODE = ("javascript", "python", "ruby", "webhook")
INSTEAD = {
    **dict.fromkeys(
        BY_A_MODEL,
        "No model judges here: say what a good reply contains, or how near it is to an expected one.",
    ),
    **dict.fromkeys(BY_CODE, "Write the function in Python: - python: module:name in suite.yaml."),
    "contains-json": "With answer: {kind: json}, JSON is found in a reply; see json_schema and json_equals.",
    "bleu": "Use rouge or f1, which compare words, too.",
    "gleu": "Use rouge or f1, which compare words, too.",
    "meteor": "Use rouge or similarity.",
    "similar:dot": "Use similarity, which is a cosine.",
    "similar:euclidean": "Use similarity, which is a cosine.",
}
"""What to do about types that have no counterpart."""
OTHERWISE = "Write a function: - python: module:name in suite.yaml."
FOREIGN_KEYWORDS = {"format", "nullable", "dependencies", "additionalItems", "discriminator"}
"""What promptfoo's validator checks in a schema, and ours does not."""


@dataclass(frozen=True)
class Given:
    """What an assertion says."""

    type: str
    value: Any
    threshold: Any
    variables: Mapping[str, Any]

    def leaf(self, key: str, fixed: Mapping[str, Any] | None = None, value: Any = None) -> Leaf:
        """A scorer that compares with the value, its variables put in."""
        told = self.value if value is None else value
        rendered = self._rendered(told)
        templates = {key: told} if told != rendered else {}
        return Leaf(fixed or {}, {key: rendered}, shared=templates)

    def text(self, key: str, fixed: Mapping[str, Any] | None = None) -> Leaf:
        """A scorer that compares with one text."""
        if isinstance(self.value, list | Mapping) or self.value is None:
            raise NotTaken("its value is no text", "Write a text.")
        return self.leaf(key, fixed, self.value if isinstance(self.value, str) else as_printed(self.value))

    def texts(self, key: str, fixed: Mapping[str, Any]) -> Leaf:
        """A scorer that compares with several texts: a list, or texts between commas."""
        if isinstance(self.value, str):
            listed: list[str] = comma_separated(filled(self.value, self.variables))
        elif isinstance(self.value, list) and not any(
            isinstance(each, list | Mapping) for each in self.value
        ):
            listed = [as_printed(each) for each in self.value]
        else:
            raise NotTaken("its value is no list of texts", "Write [one, two].")
        return self.leaf(key, fixed, listed)

    def _rendered(self, value: Any) -> Any:
        if isinstance(value, list):
            if not value:
                raise NotTaken("its list is empty", "Name at least one text.")
            return [self._rendered(each) for each in value]
        text = filled(value, self.variables)
        if not text.strip():
            raise NotTaken("compares with nothing", "Write what the reply is compared with.")
        return text

    def limit(self, default: float | None = None) -> float:
        """The threshold as a number."""
        if self.threshold is None and default is not None:
            return default
        if isinstance(self.threshold, bool) or not isinstance(self.threshold, int | float):
            raise NotTaken("needs a threshold that is a number", "Write threshold: …")
        return self.threshold


def _levenshtein(given: Given) -> Leaf:
    limit = given.limit(EDITS)
    if limit < 0:
        raise NotTaken("its threshold is below 0", "Nothing would pass: remove it.")
    return given.text("levenshtein", {**EXACT, "at_most": math.floor(limit)})


def _equals(given: Given) -> Leaf:
    if isinstance(given.value, list | Mapping):
        raise NotTaken("compares with an object", "With answer: {kind: json}, json_equals compares objects.")
    return given.text("equals", EXACT)


def _regex(given: Given) -> Leaf:
    if not isinstance(given.value, str):
        raise NotTaken("its value is no text", "Write a regular expression.")
    return Leaf(EXACT, {"regex": from_javascript(filled(given.value, given.variables))})


def _is_json(given: Given) -> Leaf:
    schema = given.value
    if isinstance(schema, str):
        if is_template(schema):
            raise NotTaken("its schema is a template", "Write it out.")
        problems = Problems()
        schema = parse_document(schema, NOWHERE.file, Leftovers(), problems)
        if problems or not isinstance(schema, Mapping):
            raise NotTaken("its schema cannot be read", "Write the schema as YAML.")
    if not schema:
        return Leaf({}, {"is_json": True})
    if not isinstance(schema, Mapping):
        raise NotTaken("its value is no schema", "Write a JSON Schema.")
    if foreign := sorted(set(_keywords(schema)) & FOREIGN_KEYWORDS):
        raise NotTaken(
            f"its schema has {', '.join(foreign)}, which is not checked here", "Say it with other keywords."
        )
    plain = _as_plain(schema)
    try:
        SCORERS["is_json"](of=plain)  # type: ignore[call-arg]
    except ValueError as error:
        raise NotTaken(f"its schema {error}", "Correct the schema (JSON Schema 2020-12).") from None
    return Leaf({}, {"is_json": plain})


def _word_count(given: Given) -> Leaf:
    told = given.value
    limits = (
        {name: told.get(name) for name in ("min", "max")}
        if isinstance(told, Mapping)
        else {"min": told, "max": told}
    )
    numbers = {name: int(each) for name, each in limits.items() if each is not None and str(each).isdecimal()}
    if not numbers or any(each is not None and name not in numbers for name, each in limits.items()):
        raise NotTaken("its value is no number of words", "Write a number, or min and max.")
    numbers = {name: each for name, each in numbers.items() if each or name == "max"}
    if not all(numbers.values()):
        raise NotTaken("wants no words at all", "A reply that is blank is an error here.")
    return Leaf({"length": "words"}, numbers)


def _figure(key: str) -> Callable[[Given], Leaf]:
    def made(given: Given) -> Leaf:
        limit = given.limit()
        if limit <= 0:
            raise NotTaken("its threshold is not above 0", "Write a number above 0.")
        return Leaf({}, {key: limit})

    return made


def _nearness(key: str, fixed: Mapping[str, Any]) -> Callable[[Given], Leaf]:
    def made(given: Given) -> Leaf:
        if isinstance(given.value, list):
            raise NotTaken("compares with several texts", "Write an assertion for each, in an any_of.")
        return given.text(key, {**fixed, "at_least": fraction(given.limit(SIMILAR))})

    return made


TYPES: dict[str, Callable[[Given], Leaf]] = {
    "equals": _equals,
    "contains": lambda given: given.text("contains", EXACT),
    "icontains": lambda given: given.text("contains", NO_CASE),
    "contains-all": lambda given: given.texts("contains_all", EXACT),
    "icontains-all": lambda given: given.texts("contains_all", NO_CASE),
    "contains-any": lambda given: given.texts("contains_any", EXACT),
    "icontains-any": lambda given: given.texts("contains_any", NO_CASE),
    "starts-with": lambda given: given.text("starts_with", EXACT),
    "regex": _regex,
    "is-json": _is_json,
    "levenshtein": _levenshtein,
    "rouge-n": _nearness("rouge", {"variant": "rouge1"}),
    "similar": _nearness("similarity", {}),
    "similar:cosine": _nearness("similarity", {}),
    "word-count": _word_count,
    "is-refusal": lambda given: Leaf({}, {"refusal": True}),
    "latency": _figure("latency"),
    "cost": _figure("cost"),
}
KNOWN_TYPES = {
    *TYPES, *INSTEAD, "is-html", "contains-html", "is-sql", "contains-sql", "is-xml", "contains-xml",
    "finish-reason", "perplexity", "perplexity-score", "skill-used", "tool-call-f1", "is-valid-function-call",
    "is-valid-openai-function-call", "is-valid-openai-tools-call",
}  # fmt: skip
"""Types that promptfoo has, as far as this program knows."""
NOTES = {
    "similar": "measures with the embedder of the package: its threshold was made for another one",
    "similar:cosine": "measures with the embedder of the package: its threshold was made for another one",
    "rouge-n": "counts words without punctuation; promptfoo counts marks as words, too",
    "is-refusal": "knows refusals by other phrases than promptfoo does, in five languages",
    "word-count": "counts words; promptfoo counts whatever stands between white space",
}
"""What is taken over, and is not quite the same."""


def comma_separated(value: str) -> list[str]:
    """Texts between commas, in quotes if need be, as promptfoo reads them."""
    fields: list[str] = []
    place = 0
    while True:
        while place < len(value) and (value[place].isspace() or value[place] == ","):
            place += 1
        if place >= len(value):
            return fields
        if value[place] != '"':
            end = value.find(",", place)
            end = len(value) if end < 0 else end
            fields.append(value[place:end].strip())
            place = end
            continue
        text, place = _quoted(value, place + 1)
        fields.append(text)
        while place < len(value) and value[place].isspace():
            place += 1
        if place < len(value) and value[place] != ",":
            raise NotTaken("has no comma after a text in quotes", "Write a list: [one, two].")


def _quoted(value: str, place: int) -> tuple[str, int]:
    text = ""
    while place < len(value):
        if value[place : place + 2] in ('\\"', "\\\\", '""'):
            text, place = text + value[place + 1], place + 2
        elif value[place] == '"':
            return text, place + 1
        else:
            text, place = text + value[place], place + 1
    raise NotTaken("has a quote that is not closed", "Write a list: [one, two].")


def fraction(threshold: Any) -> float:
    """A threshold as a part of one; raises `NotTaken`."""
    if isinstance(threshold, bool) or not isinstance(threshold, int | float) or not 0 <= threshold <= 1:
        raise NotTaken("its threshold is not from 0 to 1", "Write a number from 0 to 1.")
    return float(threshold)


def _keywords(schema: Any) -> Iterator[str]:
    """The keywords of a schema; what it calls properties are none."""
    if isinstance(schema, Mapping):
        for name, each in schema.items():
            yield name
            named = name in ("properties", "$defs", "definitions") and isinstance(each, Mapping)
            for part in each.values() if named else [each]:
                yield from _keywords(part)
    elif isinstance(schema, list):
        for each in schema:
            yield from _keywords(each)


def _as_plain(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {name: _as_plain(each) for name, each in value.items()}
    return [_as_plain(each) for each in value] if isinstance(value, list) else value
