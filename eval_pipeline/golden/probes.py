"""Probes: degenerate answers to every case, made from a suite's contract and golden answers alone."""

from __future__ import annotations

import random
import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import pairwise
from typing import Any

import msgspec
import msgspec.inspect

from eval_pipeline.golden import shapes
from eval_pipeline.golden.shapes import Path, as_value, changed, is_span, strings
from eval_pipeline.metrics.text import words
from eval_pipeline.suite import Case, Context, Suite, golden_answer_of, suite_code

ORACLE = "oracle"
ANSWERS_FILE = "references/answers.jsonl"
"""Golden answers that somebody wrote down, in a golden folder: an outputs file."""
REFUSAL = "I cannot answer that."
MOST_ELEMENTS = 1000
ORDERS = 20
"""So many orders of words are tried."""
_SENTENCE = re.compile(r"[^.!?]+[.!?]*\s*")
_AUXILIARY = re.compile(
    r"\b(is|are|was|were|has|have|had|can|could|will|would|must|may|should|does|do|did)\b", re.IGNORECASE
)

Values = dict[str, Any]
"""Outputs by case id, as JSON would hold them."""


class NotApplicable(Exception):
    """Why a probe does not apply to a suite."""


@dataclass(frozen=True)
class Probes:
    """The answers of every probe; a case that a probe has no answer to is left out."""

    oracle: Values
    answers: dict[str, Values]
    not_applicable: dict[str, str]


def make_probes(
    suite: Suite, cases: Sequence[Case[Any, Any]], context: Context, references: Mapping[str, Any]
) -> Probes:
    """The golden answers and every probe that follows from them and from the contract.

    `references` are golden answers that somebody wrote down, by case id; where there are any, they count.
    """
    maker = _Maker(suite, cases, context, dict(references))
    answers: dict[str, Values] = {}
    reasons: dict[str, str] = {} if maker.oracle else {ORACLE: maker.no_oracle}
    for name in dict.fromkeys((*COMMON, *suite.probing.own)):
        try:
            if name in suite.probing.left_out:
                raise NotApplicable(suite.probing.left_out[name])
            if name in suite.probing.own:
                answers[name] = maker.own(name)
            else:
                answers.update(COMMON[name](maker))
        except NotApplicable as reason:
            reasons[name] = str(reason)
    empty = {name: "it has no answer to any case" for name, values in answers.items() if not values}
    carried = {
        name: {case_id: _carry(value, maker.carried.get(case_id, {})) for case_id, value in values.items()}
        for name, values in {ORACLE: maker.oracle, **answers}.items()
        if values
    }
    return Probes(carried.pop(ORACLE, {}), carried, reasons | empty)


def shuffled_sets(values: Values, ranked: Sequence[str]) -> Values:
    """The same answers with every list whose order does not count in another order."""
    chance = random.Random("sets")

    def shuffled(value: Any, name: str) -> Any:
        # An answer to everything has hundreds of thousands of parts: none is looked at twice.
        if isinstance(value, dict):
            return {
                each: shuffled(part, each) if isinstance(part, dict | list) else part
                for each, part in value.items()
            }
        if isinstance(value, list):
            parts = [shuffled(part, shapes.ELEMENT) for part in value]
            return parts if name in ranked else chance.sample(parts, len(parts))
        return value

    return {case_id: shuffled(value, "") for case_id, value in values.items()}


@dataclass
class _Maker:
    """What probes are made from."""

    suite: Suite
    cases: Sequence[Case[Any, Any]]
    context: Context
    references: Values
    chance: random.Random = field(default_factory=lambda: random.Random("probes"))

    no_oracle = "no golden answers: `Probing.golden_answer` or `references/answers.jsonl` would give them"

    @cached_property
    def oracle(self) -> Values:
        """The golden answers by case."""
        if self.references:
            return {case.id: self.references[case.id] for case in self.cases if case.id in self.references}
        answer = golden_answer_of(self.suite)
        if answer is None:
            return {}
        with suite_code(self.suite.name, "golden_answer"):
            return {case.id: as_value(answer(case)) for case in self.cases}

    @property
    def golden(self) -> Values:
        """The golden answers, which some probes cannot do without."""
        if not self.oracle:
            raise NotApplicable(self.no_oracle)
        return self.oracle

    @cached_property
    def inputs(self) -> dict[str, dict[str, list[str]]]:
        """The texts of every input, by case and field."""
        fields: dict[str, dict[str, list[str]]] = {}
        for case in self.cases:
            texts: dict[str, list[str]] = defaultdict(list)
            for path, text in strings(as_value(case.input)):
                texts[path[0]].append(text)
            fields[case.id] = texts
        return fields

    @cached_property
    def kinds(self) -> dict[Path, shapes.Kind]:
        """What each string of an answer is for."""
        given = {
            case_id: [t for each in texts.values() for t in each] for case_id, texts in self.inputs.items()
        }
        return shapes.kinds(self.oracle, given)

    @cached_property
    def output(self) -> msgspec.inspect.Type:
        """The type of an output."""
        return msgspec.inspect.type_info(self.suite.output)

    @cached_property
    def carried(self) -> dict[str, dict[str, Any]]:
        """What `prepare` contributes to every answer, by case."""
        suite = self.suite
        if not (suite.prepare and suite.carried):
            return {}
        with suite_code(suite.name, "prepare"):
            prepared = {
                case.id: suite.prepare(case.input, suite.parameters(), self.context.resources)
                for case in self.cases
            }
        return {
            case_id: {name: as_value(getattr(each, name)) for name in suite.carried}
            for case_id, each in prepared.items()
        }

    def own(self, name: str) -> Values:
        """The answers of a probe that the suite brings along."""
        answer = self.suite.probing.own[name]
        with suite_code(self.suite.name, f"the probe {name!r}"):
            given = {case.id: answer(case, self.context) for case in self.cases}
        return {case_id: as_value(each) for case_id, each in given.items() if each is not None}

    def of_kind(self, path: Path, *wanted: shapes.Kind) -> bool:
        """Whether the strings at a path are for something."""
        return self.kinds.get(path) in wanted

    def is_written(self, path: Path) -> bool:
        """Whether strings are an engine's own words, or could be: labels and names in lists are not."""
        return shapes.ELEMENT not in path or self.of_kind(path, "text", "given")

    def differing(self, make: Callable[[Path, Any], Any], reason: str) -> Values:
        """Golden answers changed part by part, as far as that makes another answer of them."""
        values = {case_id: changed(value, make) for case_id, value in self.golden.items()}
        different = {case_id: value for case_id, value in values.items() if value != self.golden[case_id]}
        if not different:
            raise NotApplicable(reason)
        return different


def _empty(maker: _Maker) -> Values:
    return {case.id: shapes.filled(maker.output, "", 0) for case in maker.cases}


def _echo(maker: _Maker) -> dict[str, Values]:
    """Each field of the input in the place of every text."""
    fields = _echoed_fields(maker)
    if maker.oracle and not any(maker.is_written(path) for path in maker.kinds):
        raise NotApplicable("an answer holds names and labels only")
    template = next(iter(maker.oracle.values()), None)

    def echoed(text: str) -> Any:
        def change(path: Path, value: Any) -> Any:
            if isinstance(value, list):
                return value[:1]
            if is_span(value):
                return {**value, "start": 0, "end": len(text)}
            return text if isinstance(value, str) and maker.is_written(path) else value

        return shapes.filled(maker.output, text, 1) if template is None else changed(template, change)

    return {
        f"echo {name}" if len(fields) > 1 else "echo": {
            case_id: echoed(texts[name][0]) for case_id, texts in maker.inputs.items() if texts.get(name)
        }
        for name in fields
    }


def _echoed_fields(maker: _Maker) -> list[str]:
    """The fields of the input that hold one text, those aside that say the same in many cases."""
    uses: dict[str, list[str]] = defaultdict(list)
    for texts in maker.inputs.values():
        for name, each in texts.items():
            if len(each) == 1 and each[0].strip():
                uses[name].append(each[0])
    if not uses:
        raise NotApplicable("an input holds no text")
    own = [name for name, texts in uses.items() if len(texts) < shapes.SHARED * len(set(texts))]
    return own or list(uses)


def _refuse(maker: _Maker) -> Values:
    refusal = shapes.filled(maker.output, REFUSAL, 0)
    if not any(True for _ in strings(refusal)):
        raise NotApplicable("an empty answer is its refusal")
    return {case.id: refusal for case in maker.cases}


def _everything(maker: _Maker) -> Values:
    """All labels, every element that any golden answer has, every word as every kind of span, all texts."""
    union = _union(maker)
    of_spans = {path for path, elements in union.items() if any(map(is_span, elements))}
    most = dict(shapes.longest_lists(maker.output))

    def everything(case_id: str) -> Any:
        texts = [text for each in maker.inputs[case_id].values() for text in each]

        def change(path: Path, value: Any) -> Any:
            if isinstance(value, list) and path[-1:] != (shapes.ELEMENT,):
                elements = union.get(path, value)
                if path in of_spans:
                    elements = list(_all_spans(elements, texts))
                return elements[: most.get(path, MOST_ELEMENTS)]
            if isinstance(value, str) and shapes.ELEMENT not in path:
                return ", ".join(union[path]) if maker.of_kind(path, "label") else "\n\n".join(texts)
            return value

        start = next(iter(maker.oracle.values()), None)
        return changed(shapes.filled(maker.output, "", 0) if start is None else start, change)

    return {case.id: everything(case.id) for case in maker.cases}


def _union(maker: _Maker) -> dict[Path, list[Any]]:
    """What stands at each path of a list or a string in any golden answer, each once and in order."""
    found: dict[Path, dict[bytes, Any]] = defaultdict(dict)

    def note(path: Path, value: Any) -> Any:
        for each in value if isinstance(value, list) else [value] if isinstance(value, str) else []:
            found[path].setdefault(msgspec.json.encode(each), each)
        return value

    for value in maker.oracle.values():
        changed(value, note)
    return {path: list(each.values()) for path, each in found.items()}


def _all_spans(spans: Sequence[Any], texts: Sequence[str]) -> Iterator[Any]:
    """Every word of a text as a span of every kind that there is."""
    text = max(texts, key=len, default="")
    rest = {
        msgspec.json.encode(own): own
        for each in spans
        if (own := {name: value for name, value in each.items() if name not in ("text", "start", "end")})
    }
    for word in words(text):
        for own in rest.values():
            yield {"text": text[word.start : word.end], "start": word.start, "end": word.end, **own}


def _constant(maker: _Maker) -> Values:
    counts = Counter(map(msgspec.json.encode, maker.golden.values()))
    constant = msgspec.json.decode(counts.most_common(1)[0][0])
    return {case.id: constant for case in maker.cases}


def _drawn(maker: _Maker) -> Values:
    uses: dict[Path, list[str]] = defaultdict(list)
    for value in maker.golden.values():
        for path, text in strings(value):
            uses[path].append(text)

    def draw(path: Path, value: Any) -> Any:
        drawn = isinstance(value, str) and maker.of_kind(path, "label", "name")
        return maker.chance.choice(uses[path]) if drawn else value

    return maker.differing(draw, "an answer holds neither labels nor names")


def _other(maker: _Maker) -> Values:
    answers = list(maker.golden.values())
    chosen: Values = {}
    for case_id, own in maker.golden.items():
        others = [each for each in maker.chance.sample(answers, len(answers)) if each != own]
        if not others:
            raise NotApplicable("all golden answers are the same")
        chosen[case_id] = others[0]
    return chosen


def _negated(maker: _Maker) -> Values:
    def negate(path: Path, value: Any) -> Any:
        if isinstance(value, bool):
            return not value
        return negated(value) if isinstance(value, str) and maker.of_kind(path, "text") else value

    return maker.differing(negate, "an answer holds neither a text of its own nor a yes or no")


def negated(text: str) -> str:
    """Every sentence of a text with a `not` in it."""

    def negate(sentence: str) -> str:
        turned, times = _AUXILIARY.subn(r"\1 not", sentence, count=1)
        return turned if times else f"not {sentence}"

    return "".join(map(negate, _SENTENCE.findall(text)))


def _shuffled(maker: _Maker) -> Values:
    def shuffle(path: Path, value: Any) -> Any:
        own = value.split() if isinstance(value, str) and maker.of_kind(path, "text") else []
        return " ".join(_disordered(own, maker.chance)) if len(set(own)) > 1 else value

    return maker.differing(shuffle, "no text of an answer has two words of its own")


def _disordered(own: Sequence[str], chance: random.Random) -> Sequence[str]:
    """Words in another order, in which as few as possible follow each other as before."""
    pairs = set(pairwise(own))
    orders = [chance.sample(own, len(own)) for _ in range(ORDERS)]
    return min(orders, key=lambda order: sum(pair in pairs for pair in pairwise(order)))


def _reversed(maker: _Maker) -> Values:
    ranked = {*maker.suite.probing.ranked} - {*maker.suite.carried}
    if not ranked:
        raise NotApplicable("no list of an answer is a ranking")

    def turn(path: Path, value: Any) -> Any:
        return value[::-1] if isinstance(value, list) and path and path[-1] in ranked else value

    return maker.differing(turn, "no golden ranking has two entries")


def _carry(value: Any, carried: Mapping[str, Any]) -> Any:
    """An answer with what is carried for its case, as far as it does not say so itself."""
    return (
        {**value, **{name: each for name, each in carried.items() if not value.get(name)}}
        if carried
        else value
    )


def _alone(name: str, make: Callable[[_Maker], Values]) -> Callable[[_Maker], dict[str, Values]]:
    return lambda maker: {name: make(maker)}


COMMON: dict[str, Callable[[_Maker], dict[str, Values]]] = {
    "empty": _alone("empty", _empty),
    "echo": _echo,
    "refusal": _alone("refusal", _refuse),
    "everything": _alone("everything", _everything),
    "constant": _alone("constant", _constant),
    "drawn": _alone("drawn", _drawn),
    "another's": _alone("another's", _other),
    "negated": _alone("negated", _negated),
    "shuffled": _alone("shuffled", _shuffled),
    "reversed": _alone("reversed", _reversed),
}
"""Every probe by name, in the order of the table."""
