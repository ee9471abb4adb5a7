"""Answers in production that were not good enough, and how that shows."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, NamedTuple

import msgspec

from eval_pipeline.answers import Failure as Unusable
from eval_pipeline.answers import parse
from eval_pipeline.files import content_hash
from eval_pipeline.improvement.likeness import plain
from eval_pipeline.improvement.requests import HIGH_POINTS, LOW_POINTS, Request, fields_of
from eval_pipeline.metrics.text import normalize
from eval_pipeline.numbers import counted
from eval_pipeline.suite import Suite
from eval_pipeline.suite.drafting import Drafting

Sign = Literal["rated", "feedback", "disagreement", "contract", "invented", "measure", "error"]
WEIGHTS: dict[Sign, int] = {
    "rated": 6, "feedback": 5, "disagreement": 4, "contract": 4, "invented": 3, "measure": 3, "error": 2,
}  # fmt: skip
"""What is most worth a person's time: what people say, then what the answer shows."""
MOST_KEPT = 600
"""Distinct inputs that are compared by meaning; where more fail, those with the strongest signs."""
MOST_IDS = 20
LONGEST_QUOTE = 120

Ruling = Literal["acceptable", "unacceptable", "disagreement"]
Measures = Callable[[Request, Any, Mapping[str, Any]], Iterable[str]]
"""(request, its output, fields of its input) → what is wrong with it, as far as that shows without gold."""


class Shown(NamedTuple):
    """One way in which a failure shows."""

    sign: Sign
    text: str


@dataclass
class Failing:
    """An input that was answered badly, once or more often."""

    fields: dict[str, Any]
    request: Request
    """The one whose answer shows it best."""
    signs: dict[Shown, int] = field(default_factory=dict)
    requests: list[str] = field(default_factory=list)
    versions: set[str] = field(default_factory=set)
    times: int = 0
    invented: tuple[str, ...] = ()

    @property
    def weight(self) -> tuple[int, int]:
        """How much speaks for it: the kinds of signs, then how often it came."""
        return sum(WEIGHTS[sign] for sign in {shown.sign for shown in self.signs}), self.times

    @property
    def reasons(self) -> list[str]:
        """Why it was chosen, the strongest reason first."""
        ordered = sorted(
            self.signs.items(), key=lambda each: (-WEIGHTS[each[0].sign], -each[1], each[0].text)
        )
        return [f"{shown.text}{f' (×{times})' if times > 1 else ''}" for shown, times in ordered]

    def absorb(self, other: Failing) -> None:
        """Count another failure of the same meaning with it."""
        for shown, times in other.signs.items():
            self.signs[shown] = self.signs.get(shown, 0) + times
        self.requests = [*self.requests, *other.requests][:MOST_IDS]
        self.versions |= other.versions
        self.times += other.times


@dataclass
class Invention:
    """Something that answers named though their sources did not."""

    label: str
    times: int = 0
    inputs: set[str] = field(default_factory=set)
    """The keys of the inputs that led to it."""
    topics: set[str] = field(default_factory=set)
    requests: list[str] = field(default_factory=list)
    example: dict[str, Any] = field(default_factory=dict)
    """The first input that led to it."""

    def count(self, request: Request, fields: Mapping[str, Any]) -> None:
        """Note that an answer named it."""
        self.times += 1
        self.inputs.add(input_key(fields))
        self.topics |= {request.topic} if request.topic else set()
        self.requests = [*self.requests, request.id][:MOST_IDS]


@dataclass
class Failures:
    """What was found among the requests."""

    by_input: dict[str, Failing] = field(default_factory=dict)
    looked_at: int = 0
    failed: int = 0
    without_text: int = 0
    """Failures of which no input was kept, so that no case can be made of them."""
    left_out: int = 0
    """Distinct inputs beyond those that are compared by meaning."""
    inventions: dict[str, Invention] = field(default_factory=dict)
    """What answers named and their sources did not, by name."""

    @property
    def ranked(self) -> list[Failing]:
        """The strongest first."""
        return sorted(
            self.by_input.values(), key=lambda each: (*(-part for part in each.weight), each.request.id)
        )


def find_failures(
    suite: Suite,
    drafting: Drafting,
    requests: Iterable[Request],
    rulings: Mapping[str, Ruling] | None = None,
    measures: Measures | None = None,
) -> Failures:
    """The failures among requests, by input."""
    names = input_names(suite)
    found = Failures()
    for request in requests:
        found.looked_at += 1
        fields = fields_of(request, drafting, names)
        signs, invented = _signs(suite, drafting, request, fields, (rulings or {}).get(request.id), measures)
        for label in invented:
            known = found.inventions.setdefault(normalize(label), Invention(label, example=fields))
            known.count(request, fields)
        if not signs:
            continue
        found.failed += 1
        if not text_of(fields):
            found.without_text += 1
            continue
        _add(
            found,
            Failing(fields, request, dict.fromkeys(signs, 1), [request.id], _named(request), 1, invented),
        )
    _keep_strongest(found, MOST_KEPT)
    return found


def input_names(suite: Suite) -> tuple[str, ...]:
    """The fields of a suite's input."""
    return tuple(each.name for each in msgspec.structs.fields(suite.input))


def text_of(fields: Mapping[str, Any]) -> str:
    """All that an input says, as one text: what inputs are compared by."""
    return "\n".join(_texts(fields)).strip()


def input_key(fields: Mapping[str, Any]) -> str:
    """What two requests share that ask the same in the same words."""
    return content_hash(plain(text_of(fields)))


def _texts(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        for each in value.values():
            yield from _texts(each)
    elif isinstance(value, Sequence):
        for each in value:
            yield from _texts(each)


def _named(request: Request) -> set[str]:
    return {request.version} if request.version else set()


def _add(found: Failures, failing: Failing) -> None:
    key = input_key(failing.fields)
    known = found.by_input.get(key)
    if known is None:
        found.by_input[key] = failing
        if len(found.by_input) >= 4 * MOST_KEPT:  # texts of a whole outage need not stay in memory
            _keep_strongest(found, 2 * MOST_KEPT)
        return
    if failing.weight > (known.weight[0], 1):
        known.request, known.invented = failing.request, failing.invented
    known.absorb(failing)


def _keep_strongest(found: Failures, most: int) -> None:
    ranked = found.ranked
    found.left_out += max(0, len(ranked) - most)
    found.by_input = {input_key(each.fields): each for each in ranked[:most]}


def _signs(
    suite: Suite,
    drafting: Drafting,
    request: Request,
    fields: Mapping[str, Any],
    ruling: Ruling | None,
    measures: Measures | None,
) -> tuple[list[Shown], tuple[str, ...]]:
    """How a request shows that its answer was not good enough, and what that answer made up."""
    signs = list(_of_people(request, ruling))
    result = parse(request.answer, suite.output)
    if isinstance(result, Unusable):
        if request.error is not None:
            signs.append(Shown("error", f"the request ended in an error: {_quote(request.error)}"))
        elif request.output is not None and not _lacks_carried(suite, result):
            signs.append(Shown("contract", f"the answer breaks the suite's contract: {result.kind}"))
        return signs, ()
    invented = tuple(drafting.invented(result.output, fields)) if drafting.invented and fields else ()
    if invented:
        signs.append(
            Shown("invented", f"the source does not name {counted(len(invented), 'concept')} of the answer")
        )
    if measures:
        signs += [Shown("measure", text) for text in measures(request, result.output, fields)]
    return signs, invented


def _lacks_carried(suite: Suite, result: Unusable) -> bool:
    """Whether an answer lacks only what is added to it before it is scored."""
    return any(f"`{name}`" in result.detail for name in suite.carried)


def _of_people(request: Request, ruling: Ruling | None) -> Iterator[Shown]:
    low = request.points is not None and request.points <= LOW_POINTS
    high = request.points is not None and request.points >= HIGH_POINTS
    if ruling == "unacceptable":
        yield Shown("rated", "people who rated it found the answer unacceptable")
    if ruling == "disagreement":
        yield Shown("disagreement", "people who rated it disagree")
    if low and ruling == "acceptable":
        yield Shown("disagreement", "its user was not content with an answer that raters found acceptable")
    elif low:
        said = f": “{_quote(request.comments[0])}”" if request.comments else ""
        yield Shown("feedback", f"its user gave {request.points:.1f} of 5 points{said}")
    if high and ruling == "unacceptable":
        yield Shown("disagreement", "its user was content with an answer that raters found unacceptable")


def _quote(text: str) -> str:
    flat = " ".join(text.split())
    return flat if len(flat) <= LONGEST_QUOTE else f"{flat[: LONGEST_QUOTE - 1]}…"
