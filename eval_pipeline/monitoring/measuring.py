"""Measures of sampled answers that need no golden one: those of every suite, and those that a suite declares.

An answer that cannot be used counts at its worst: one that is blank, an echo of its source, or everything at
once has verified nothing. To rates of mistakes it adds nothing: who says nothing makes nothing up.
"""

from __future__ import annotations

import importlib
from collections.abc import Iterator, Mapping
from importlib.util import find_spec
from pathlib import Path
from typing import Any, NamedTuple

import msgspec

from eval_pipeline.answers import Answer, Failure, parse
from eval_pipeline.files import content_hash, files_hash
from eval_pipeline.golden import read_cases
from eval_pipeline.metrics.text import normalize, word_count, words
from eval_pipeline.problems import Problems
from eval_pipeline.project import Project
from eval_pipeline.suite import Suite, suite_code
from eval_pipeline.suite import production as contract
from eval_pipeline.suite.production import (
    NO_MEASURES,
    Measure,
    ProductionMeasures,
    RetrievedPassage,
    Served,
    Share,
    is_echo,
)

MODULE = "production"
ACCEPTED = "human_accuracy"
"""What people say of sampled answers: acceptable ones ÷ rated ones. No code measures it."""
REFUSALS = ("i cannot", "i can't", "i'm sorry", "i am sorry", "as an ai", "i am unable", "i'm unable")
"""How an answer in plain text begins that is none."""
LONG, DIFFERENT = 50, 0.25
"""A text of so many words of which so few are different ones says the same again and again."""
_REMEMBERED = 1000
"""So many answers are remembered: the same question is often asked, and answered, again."""
_SHORT = 60
"""Words up to which a text that begins so is a refusal."""


class Measured(NamedTuple):
    """A measure of one answer."""

    measure: str
    part: float
    whole: float


def _never(served: Served) -> Share | None:
    return None


CONTRACT = Measure("contract_valid", "Answers that satisfy the output contract ÷ answers.", _never)
USABLE = Measure(
    "usable",
    "Answers that satisfy the contract, say something, are no echo and not too long ÷ answers.",
    _never,
)
REFUSED = Measure("refused", "Answers that say there is none ÷ answers.", _never, "neither")
WORDS = Measure("answer_words", "Mean number of words of an answer.", _never, "neither", "number")
OF_ALL = (CONTRACT, USABLE, REFUSED, WORDS)
"""What is measured of every suite."""


def measures_of(suite: Suite) -> ProductionMeasures:
    """What a suite declares in the module `production` beside it; nothing where it has none."""
    package = f"eval_pipeline.suites.{suite.name}"
    if find_spec(package) is None or find_spec(f"{package}.{MODULE}") is None:
        return NO_MEASURES
    with suite_code(suite.name, MODULE):
        measures = importlib.import_module(f"{package}.{MODULE}").MEASURES
        assert isinstance(measures, ProductionMeasures), "MEASURES is no ProductionMeasures"
        return measures


def every_measure(suite: Suite) -> dict[str, Measure]:
    """All that is measured of a suite's answers, by name."""
    return {each.name: each for each in (*OF_ALL, *measures_of(suite).measures)}


def canaries_of(project: Project, suite: Suite) -> tuple[str, ...]:
    """The names that the golden set of a suite forbids, as far as it can be read."""
    declared = measures_of(suite)
    folder = project.golden(suite.name)
    if declared.canaries is None or not folder.is_dir():
        return ()
    names: set[str] = set()
    for golden in read_cases(suite, folder, Problems()):
        names.update(declared.canaries(golden.case))
    return tuple(sorted(names))


def code_of(suite: Suite) -> str:
    """The hash of the code that measures a suite's answers."""
    files = [Path(__file__), Path(str(contract.__file__))]
    spec = find_spec(f"eval_pipeline.suites.{suite.name}") and find_spec(
        f"eval_pipeline.suites.{suite.name}.{MODULE}"
    )
    return files_hash([*files, *([Path(spec.origin)] if spec and spec.origin else ())])


class Measuring:
    """Measures answers of one suite."""

    def __init__(self, suite: Suite, canaries: tuple[str, ...] = ()) -> None:
        self._suite = suite
        self._canaries = canaries
        self._declared = measures_of(suite)
        self._known: dict[tuple[str, str, tuple[RetrievedPassage, ...]], tuple[Measured, ...]] = {}

    @property
    def identity(self) -> str:
        """The hash of what decides on numbers besides the answers."""
        return content_hash([code_of(self._suite), self._canaries, self._suite.name])

    def measure(self, row: Mapping[str, Any]) -> tuple[Measured, ...]:
        """What an event's answer shows; nothing where it failed, or where its text was not recorded."""
        if row["error"] is not None or row["output"] is None:
            return ()
        retrieved = tuple(
            RetrievedPassage(each["id"] or "", each["text"] or "") for each in row["retrieved"] or ()
        )
        asked = row["input"] or "", row["output"], retrieved
        if asked not in self._known:
            if len(self._known) >= _REMEMBERED:
                self._known.clear()
            self._known[asked] = tuple(self._measure(*asked))
        return self._known[asked]

    def _measure(self, given: str, text: str, retrieved: tuple[RetrievedPassage, ...]) -> Iterator[Measured]:
        parsed = parse(self._answer(text, retrieved), self._suite.output)
        if isinstance(parsed, Failure):
            yield Measured(CONTRACT.name, 0.0, 1.0)
            yield Measured(REFUSED.name, float(_refuses_in_words(text)), 1.0)
            yield from self._unusable(text)
            return
        served = Served(*self._source(given), parsed.output, retrieved, self._canaries)
        refused = self._refuses(parsed.output)
        yield Measured(CONTRACT.name, 1.0, 1.0)
        yield Measured(REFUSED.name, float(refused), 1.0)
        if not refused and not self._is_usable(served):
            yield from self._unusable(text)
            return
        yield Measured(USABLE.name, 1.0, 1.0)
        yield Measured(WORDS.name, float(word_count(" ".join(_texts(parsed.output)))), 1.0)
        for each in self._declared.measures if not refused else ():
            with suite_code(self._suite.name, MODULE):
                share = each.of(served)
            if share is not None and share.whole > 0:
                yield Measured(each.name, float(share.part), float(share.whole))

    def _answer(self, text: str, retrieved: tuple[RetrievedPassage, ...]) -> Answer:
        """The answer, with the ids of what was retrieved where the contract carries them."""
        if "retrieved_ids" not in self._suite.carried:
            return Answer("", text=text)
        ids = [each.id for each in retrieved if each.id]
        return Answer("", text=text, carried=msgspec.Raw(msgspec.json.encode({"retrieved_ids": ids})))

    def _source(self, text: str) -> tuple[Any, str]:
        """The input by its type, where it is of that type, and the text that answers are taken from."""
        try:
            given = msgspec.json.decode(text, type=self._suite.input)
        except (msgspec.MsgspecError, UnicodeError, RecursionError):
            return None, _plain(text)
        if self._declared.source is not None:
            with suite_code(self._suite.name, MODULE):
                return given, self._declared.source(given)
        return given, "\n".join(_texts(given))

    def _refuses(self, output: Any) -> bool:
        if self._declared.refuses is not None:
            with suite_code(self._suite.name, MODULE):
                return self._declared.refuses(output)
        return isinstance(output, str) and _refuses_in_words(output)

    def _is_usable(self, served: Served) -> bool:
        """Whether an answer says something, in a size that people can use, and not its source again."""
        texts = list(_texts(served.output))
        least, most = self._declared.words
        size, times = word_count(" ".join(texts)), self._declared.times_source
        if not least <= size <= most:
            return False
        if times is not None and size > times * max(word_count(served.source), 1):
            return False
        if self._declared.items is not None:
            with suite_code(self._suite.name, MODULE):
                count = self._declared.items(served.output)
            if count > self._declared.most_items:
                return False
        return not any(is_echo(text, served.source) or _says_it_again(text) for text in texts)

    def _unusable(self, text: str) -> Iterator[Measured]:
        """At its worst in everything of which more is better."""
        yield Measured(USABLE.name, 0.0, 1.0)
        yield Measured(WORDS.name, float(word_count(text)), 1.0)
        for each in self._declared.measures:
            if each.better == "higher":
                yield Measured(each.name, 0.0, 1.0)


def _says_it_again(text: str) -> bool:
    """Whether a long text is made of few words, again and again."""
    own = [word.text for word in words(normalize(text))]
    return len(own) >= LONG and len(set(own)) < DIFFERENT * len(own)


def _refuses_in_words(text: str) -> bool:
    said = normalize(text).replace("’", "'")
    return said.startswith(REFUSALS) and word_count(said) <= _SHORT


def _texts(value: Any) -> Iterator[str]:
    """All texts of a value, however deep."""
    waiting = [msgspec.to_builtins(value)]
    while waiting:
        each = waiting.pop()
        if isinstance(each, str):
            yield each
        elif isinstance(each, dict):
            waiting.extend(reversed(list(each.values())))
        elif isinstance(each, list | tuple):
            waiting.extend(reversed(each))


def _plain(text: str) -> str:
    """A text, or all texts of its JSON: messages of a conversation, for example."""
    try:
        return "\n".join(_texts(msgspec.json.decode(text)))
    except (msgspec.MsgspecError, UnicodeError, RecursionError):
        return text
