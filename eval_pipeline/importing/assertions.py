"""Assertions of promptfoo as entries of `scores`: those that measure the same, or nearly so, and say where not."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from eval_pipeline.declarative import SCORERS
from eval_pipeline.importing.documents import FILE, Fields, Folder, Items, parse_document
from eval_pipeline.importing.patterns import from_javascript
from eval_pipeline.importing.places import Leftovers, NotTaken, Place
from eval_pipeline.importing.templates import as_printed, filled, is_template
from eval_pipeline.problems import Problems

SET = "assert-set"
NOT = "not-"
SIMILAR = 0.75
EDITS = 5
EXACT: dict[str, Any] = {"exact": True}
NO_CASE: dict[str, Any] = {"ignore": ["case"], "exact": True}
KNOWN = ("type", "value", "threshold", "weight", "metric", "provider", "rubricPrompt", "config", "transform", "contextTransform")
BY_A_MODEL = (
    "llm-rubric", "model-graded-closedqa", "model-graded-factuality", "factuality", "g-eval", "answer-relevance",
    "context-faithfulness", "context-recall", "context-relevance", "conversation-relevance", "agent-rubric",
    "search-rubric", "select-best", "max-score", "moderation", "classifier", "pi", "guardrails",
)  # fmt: skip
BY_CODE = ("javascript", "python", "ruby", "webhook")
INSTEAD = {
    **dict.fromkeys(
        BY_A_MODEL,
        "Nothing here asks a model to judge by itself: say what a good reply contains, or how near it is to an expected one.",
    ),
    **dict.fromkeys(BY_CODE, "Write the function in Python: - python: module:name in suite.yaml."),
    "contains-json": "With answer: {kind: json}, JSON is found in the reply; json_schema and json_equals look at it.",
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
class Leaf:
    """One scorer: what is the same in every test, and what each test says for itself."""

    fixed: Mapping[str, Any]
    own: Mapping[str, Any]
    """The values by field: texts, lists of texts, numbers, true, or a schema."""
    place: Place
    negated: bool = False
    weight: float = 1.0
    metric: str = ""
    shared: Mapping[str, Any] = field(default_factory=dict)
    """The values as they were written, templates of variables included; empty where they are none."""

    @property
    def key(self) -> str:
        """The scorer's name."""
        return next(name for name in (*self.own, *self.fixed) if name in SCORERS)

    @property
    def shape(self) -> tuple[Any, ...]:
        """What assertions have in common that are measured by the same entry."""
        return "leaf", tuple(map(repr, self.fixed.items())), tuple(self.own), self.negated, self.weight, self.metric

    def leaves(self) -> Iterator[Leaf]:
        """Itself."""
        yield self

    def entry(self, values: Iterator[Mapping[str, Any]], in_mean: bool = False) -> dict[str, Any]:
        """The entry, with a value for each field."""
        given = {**next(values), **self.fixed}
        given = {self.key: given.pop(self.key), **given}
        if self.negated:
            return {"none_of": [given]}
        return {"all_of": [given]} if in_mean and self.key == "contains_all" else given


@dataclass(frozen=True)
class Set:
    """Several assertions that pass together: all of them or, with a threshold, their weighted mean."""

    parts: tuple[Assertion, ...]
    place: Place
    threshold: float | None = None
    weight: float = 1.0
    metric: str = ""

    @property
    def shape(self) -> tuple[Any, ...]:
        """What assertions have in common that are measured by the same entry."""
        return "set", tuple(part.shape for part in self.parts), self.threshold, self.weight, self.metric

    def leaves(self) -> Iterator[Leaf]:
        """Every assertion in it."""
        for part in self.parts:
            yield from part.leaves()

    def entry(self, values: Iterator[Mapping[str, Any]], in_mean: bool = False) -> dict[str, Any]:
        """The entry, with a value for each field of each part."""
        by_mean = in_mean or self.threshold is not None
        entries = [part.entry(values, by_mean) for part in self.parts]
        if not by_mean:
            return {"all_of": [each for each, part in zip(entries, self.parts, strict=True) if part.weight]}
        weights = [part.weight for part in self.parts]
        told = {"weights": weights} if len(set(weights)) > 1 else {}
        bound = {} if self.threshold is None else {"at_least": self.threshold}
        return {"mean_of": entries, **told, **bound}


Assertion = Leaf | Set


class Translator:
    """Makes scorers of assertions; what cannot be one is listed."""

    def __init__(self, folder: Folder, leftovers: Leftovers) -> None:
        self._folder = folder
        self._leftovers = leftovers

    def all_of(self, assertions: Items, variables: Mapping[str, Any], threshold: Any, place: Place) -> list[Assertion]:
        """The assertions of a test; with a threshold they are one set."""
        entries: list[Assertion] = []
        for given, where in assertions.placed():
            try:
                entries.append(self._one(given, where, variables))
            except NotTaken as reason:
                self._leftovers.drop(_named(where, given), reason.message, reason.remedy)
                if threshold is not None:
                    message = f"the threshold {as_printed(threshold)} of a test without all of its assertions"
                    self._leftovers.drop(place, message, "See the assertion that is missing.")
                    return self._rest_dropped(assertions)
        if threshold is None or not entries:
            return entries
        try:
            return [_weighing(Set(tuple(entries), place, _fraction(threshold)), inside=False)]
        except NotTaken as reason:
            self._leftovers.drop(place, reason.message, reason.remedy)
            return self._rest_dropped(assertions)

    def _rest_dropped(self, assertions: Items) -> list[Assertion]:
        for given, where in assertions.placed():
            message = "belongs to a threshold that cannot be taken over"
            self._leftovers.drop(_named(where, given), message, "Let each assertion stand for itself.")
        return []

    def _one(self, given: Any, place: Place, variables: Mapping[str, Any]) -> Assertion:
        if not isinstance(given, Fields) or not isinstance(given.get("type"), str):
            raise NotTaken("is no assertion with a type", "Write - type: …, value: …")
        if given["type"] == SET:
            return self._set(given, place, variables)
        made = self._leaf(given, place, variables)
        return replace(made, weight=_weight(given), metric=self._metric(given))

    def _set(self, given: Fields, place: Place, variables: Mapping[str, Any]) -> Assertion:
        assertions = given.get("assert")
        if not isinstance(assertions, Items) or not assertions:
            raise NotTaken("is a set without assertions", "Write them below `assert`.")
        parts = []
        for each, where in assertions.placed():
            try:
                parts.append(self._one(each, where, variables))
            except NotTaken as reason:
                self._leftovers.drop(_named(where, each), reason.message, reason.remedy)
                raise NotTaken("is a set of which a part cannot be taken over", "Do without that part.") from None
        for leaf in (leaf for part in parts for leaf in part.leaves() if leaf.metric):
            self._leftovers.change(leaf.place, f"the metric {leaf.metric!r} of a part is not shown by itself")
        threshold = None if given.get("threshold") is None else _fraction(given["threshold"])
        made = Set(tuple(parts), place, threshold, _weight(given), self._metric(given))
        if not made.weight:
            raise NotTaken("is a set that weighs nothing and can still fail a test", "Give it a weight, or remove it.")
        if threshold is None and not any(part.weight for part in parts):
            raise NotTaken("is a set of which nothing weighs anything", "Remove it.")
        return _weighing(made, inside=False) if threshold is not None else made

    def _metric(self, given: Fields) -> str:
        metric = given.get("metric")
        if metric is not None and (not isinstance(metric, str) or is_template(metric)):
            self._leftovers.change(given.at("metric"), "a metric's name is no template here", "Write it out.")
            return ""
        return metric or ""

    def _leaf(self, given: Fields, place: Place, variables: Mapping[str, Any]) -> Leaf:
        negated = given["type"].startswith(NOT)
        bare = given["type"].removeprefix(NOT)
        if bare not in TYPES:
            known = bare in INSTEAD or bare.startswith(("promptfoo:", "trajectory:", "trace-"))
            message = f"{given['type']!r} has no counterpart" if known or bare in OTHERS else "is no type that is known"
            raise NotTaken(message, INSTEAD.get(bare, OTHERWISE))
        if given.get("transform") is not None:
            raise NotTaken("the output is transformed by code before", "Let the prompt ask for what is measured.")
        for name in given:
            if name not in KNOWN:
                self._leftovers.drop(given.at(name), "is no field of an assertion that is known", "Look it up.")
        value = self._loaded(given.get("value"))
        made = TYPES[bare](Given(bare, value, given.get("threshold"), variables))
        if note := NOTES.get(bare):
            self._leftovers.change(_named(place, given), note)
        return replace(made, place=place, negated=negated)

    def _loaded(self, value: Any) -> Any:
        """The value, read from the file that it names."""
        if isinstance(value, Items):
            return [self._loaded(each) for each in value]
        if not isinstance(value, str) or not value.startswith((FILE, "package:")):
            return value
        if value.startswith("package:"):
            raise NotTaken("is code, which is never run", INSTEAD["javascript"])
        (path,) = self._folder.named(value)[:1]
        if path.suffix.lower() in (".json", ".yaml", ".yml"):
            return self._folder.document(path)
        return self._folder.text(path).strip()


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
        return Leaf(fixed or {}, {key: rendered}, Place(_NOWHERE, 0), shared=templates)

    def text(self, key: str, fixed: Mapping[str, Any] | None = None) -> Leaf:
        """A scorer that compares with one text."""
        if isinstance(self.value, list | Mapping) or self.value is None:
            raise NotTaken("its value is no text", "Write a text.")
        return self.leaf(key, fixed, self.value if isinstance(self.value, str) else as_printed(self.value))

    def texts(self, key: str, fixed: Mapping[str, Any]) -> Leaf:
        """A scorer that compares with several texts: a list, or texts between commas."""
        if isinstance(self.value, str):
            listed: list[str] = comma_separated(filled(self.value, self.variables))
        elif isinstance(self.value, list) and not any(isinstance(each, list | Mapping) for each in self.value):
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
    return Leaf(EXACT, {"regex": from_javascript(filled(given.value, given.variables))}, Place(_NOWHERE, 0))


def _is_json(given: Given) -> Leaf:
    schema = given.value
    if isinstance(schema, str):
        if is_template(schema):
            raise NotTaken("its schema is a template", "Write it out.")
        problems = Problems()
        schema = parse_document(schema, _NOWHERE, Leftovers(), problems)
        if problems or not isinstance(schema, Mapping):
            raise NotTaken("its schema cannot be read", "Write the schema as YAML.")
    if not schema:
        return Leaf({}, {"is_json": True}, Place(_NOWHERE, 0))
    if not isinstance(schema, Mapping):
        raise NotTaken("its value is no schema", "Write a JSON Schema.")
    if foreign := sorted(set(_keywords(schema)) & FOREIGN_KEYWORDS):
        raise NotTaken(f"its schema has {', '.join(foreign)}, which is not checked here", "Say it with other keywords.")
    plain = _as_plain(schema)
    try:
        SCORERS["is_json"](of=plain)  # type: ignore[call-arg]
    except ValueError as error:
        raise NotTaken(f"its schema {error}", "Correct the schema (JSON Schema 2020-12).") from None
    return Leaf({}, {"is_json": plain}, Place(_NOWHERE, 0))


def _word_count(given: Given) -> Leaf:
    told = given.value
    limits = {name: told.get(name) for name in ("min", "max")} if isinstance(told, Mapping) else {"min": told, "max": told}
    numbers = {name: int(each) for name, each in limits.items() if each is not None and str(each).isdecimal()}
    if not numbers or any(each is not None and name not in numbers for name, each in limits.items()):
        raise NotTaken("its value is no number of words", "Write a number, or min and max.")
    numbers = {name: each for name, each in numbers.items() if each or name == "max"}
    if not all(numbers.values()):
        raise NotTaken("wants no words at all", "A reply that is blank is an error here.")
    return Leaf({"length": "words"}, numbers, Place(_NOWHERE, 0))


def _figure(key: str) -> Callable[[Given], Leaf]:
    def made(given: Given) -> Leaf:
        limit = given.limit()
        if limit <= 0:
            raise NotTaken("its threshold is not above 0", "Write a number above 0.")
        return Leaf({}, {key: limit}, Place(_NOWHERE, 0))

    return made


def _nearness(key: str, fixed: Mapping[str, Any]) -> Callable[[Given], Leaf]:
    def made(given: Given) -> Leaf:
        if isinstance(given.value, list):
            raise NotTaken("compares with several texts", "Write an assertion for each, in an any_of.")
        return given.text(key, {**fixed, "at_least": _fraction(given.limit(SIMILAR))})

    return made


_NOWHERE: Any = "value"

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
    "is-refusal": lambda given: Leaf({}, {"refusal": True}, Place(_NOWHERE, 0)),
    "latency": _figure("latency"),
    "cost": _figure("cost"),
}
OTHERS = {
    "is-html", "contains-html", "is-sql", "contains-sql", "is-xml", "contains-xml", "finish-reason", "perplexity",
    "perplexity-score", "skill-used", "tool-call-f1", "is-valid-function-call", "is-valid-openai-function-call",
    "is-valid-openai-tools-call",
}  # fmt: skip
NOTES = {
    "similar": "measures with the embedder that comes with the package, not with OpenAI's: its threshold is another one's",
    "similar:cosine": "measures with the embedder that comes with the package: its threshold is another one's",
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


def _weighing(made: Set, inside: bool) -> Set:
    """A set whose mean is the same here and there; raises `NotTaken`."""
    if not sum(part.weight for part in made.parts):
        raise NotTaken("is a mean of which nothing weighs anything", "Give an assertion a weight.")
    for part in made.parts:
        if isinstance(part, Set):
            _weighing(part, inside=True)
        elif part.negated and part.key in ("rouge", "similarity"):
            raise NotTaken(f"not-{part.key} has degrees in a mean there, and none here", "Do without the threshold.")
    return made


def _named(place: Place, given: Any) -> Place:
    """The place of an assertion, with its type."""
    kind = given.get("type") if isinstance(given, Mapping) else None
    return place._replace(field=f"{place.field} ({kind})") if isinstance(kind, str) else place


def _weight(given: Fields) -> float:
    weight = given.get("weight", 1)
    if isinstance(weight, bool) or not isinstance(weight, int | float) or not 0 <= weight <= 1e6:
        raise NotTaken("its weight is no number from 0 on", "Write weight: 1.")
    return float(weight)


def _fraction(threshold: Any) -> float:
    if isinstance(threshold, bool) or not isinstance(threshold, int | float) or not 0 <= threshold <= 1:
        raise NotTaken("its threshold is not from 0 to 1", "Write a number from 0 to 1.")
    return float(threshold)


def _keywords(schema: Any) -> Iterator[str]:
    if isinstance(schema, Mapping):
        for name, each in schema.items():
            yield name
            yield from _keywords(each)
    elif isinstance(schema, list):
        for each in schema:
            yield from _keywords(each)


def _as_plain(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {name: _as_plain(each) for name, each in value.items()}
    return [_as_plain(each) for each in value] if isinstance(value, list) else value
