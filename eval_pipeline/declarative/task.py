"""A task: a kind of answer and the scorers of its replies, as the functions that a suite is made of."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property, partial
from typing import Any

import msgspec
import numpy as np

from eval_pipeline.answers import Answer
from eval_pipeline.declarative.cells import Row, Unusable, as_text, shown
from eval_pipeline.declarative.kinds import UNREADABLE, Kind, Text
from eval_pipeline.declarative.scorers.base import Reply, Scorer
from eval_pipeline.suite import (
    Batch,
    Case,
    CaseScore,
    Context,
    Diagnosis,
    Items,
    KeyedCount,
    Metric,
    Model,
    Probing,
    Reporting,
    Sums,
    Values,
    defined,
    divide,
    mean,
    ratio_of,
)

SCORE = "score"
SOUND = "all_passed"
"""The count of replies that every scorer passes that has a weight."""
REMEDIES = {
    "everything": "Add `length` with a `max`, so that saying everything does not pay.",
    "echo": "Add `not_contains` or `length`, or ask for more than the input holds.",
    "refusal": "Add `refusal: false`.",
    "padded": "Add `length` with a `max`.",
    "": "Add a score that this answer fails: `length`, `not_contains`, `equals` or `regex`.",
}
"""What to do where a probe gets away with it, by the beginning of the probe's name."""


@dataclass(frozen=True)
class WarnedOf(Probing):
    """The probing of a suite whose scorers somebody chose: a probe that gets away is a warning to them."""

    remedies: Mapping[str, str] = field(default_factory=lambda: REMEDIES)
    """What to do about it, by the beginning of the probe's name."""


class Task:
    """What is asked for and how replies are scored."""

    def __init__(self, answer: Kind = Text(), scores: Sequence[Scorer] = ()) -> None:  # noqa: B008
        self.answer = answer
        self.scores = dict(zip(metric_names(answer, scores), scores, strict=True))

    @property
    def output(self) -> Any:
        """What an answer is read as."""
        return self.answer.output

    @cached_property
    def _weighted(self) -> dict[str, Scorer]:
        return {name: scorer for name, scorer in self.scores.items() if scorer.weight}

    @cached_property
    def _labelled(self) -> str:
        """The metric that says whether the label is right; blank where answers are no labels."""
        return self.answer.accuracy if self.answer.accuracy in self.scores else ""

    @property
    def headline(self) -> str:
        """The metric that stands for all: the score of several scorers, or the only one."""
        return SCORE if len(self._weighted) > 1 else next(iter(self._weighted))

    @cached_property
    def metrics(self) -> tuple[Metric, ...]:
        """A metric for every scorer, the weighted score of several, and macro F1 of labels."""
        metrics = [self._metric(name, scorer) for name, scorer in self.scores.items()]
        metrics += self.answer.metrics() if self._labelled else ()
        if self.headline == SCORE:
            parts = ", ".join(f"{name} × {scorer.weight:g}" for name, scorer in self._weighted.items())
            named = " ".join(self._weighted)
            metrics.insert(
                0, mean(SCORE, f"Weighted mean of {parts}: the mean over cases.", explained_by=named)
            )
        return tuple(metrics)

    def _metric(self, name: str, scorer: Scorer) -> Metric:
        population = partial(_applies, scorer)
        worst = scorer.errored(None, None)
        return Metric(
            name,
            scorer.description,
            ratio_of(name, defined(name)),
            population=population,
            on_error=worst,
            explained_by=name,
        )

    @cached_property
    def models(self) -> tuple[Model, ...]:
        """The models behind the metrics."""
        return tuple(model for name, scorer in self.scores.items() for model in scorer.models(name))

    def score(self, items: Items, context: Context) -> Batch:
        """A value per scorer and reply, whether it passes, and what is wrong where it does not."""
        replies = [self._reply(items, index) for index in range(len(items))]
        counts: dict[str, Values] = {}
        keyed: list[tuple[int, KeyedCount]] = []
        failures: list[tuple[str, int, Any]] = []
        totals, weights, missed = (np.zeros(len(items)) for _ in range(3))
        for name, scorer in self.scores.items():
            rows = [index for index, case in enumerate(items.cases) if scorer.applies(case.expected)]
            chosen = [replies[index] for index in rows]
            wanted = [scorer.wanted(items.cases[index].expected, self.answer) for index in rows]
            values = np.full(len(items), np.nan)
            if rows:
                values[rows] = scorer.values(chosen, wanted)
            known = ~np.isnan(values)
            counts[name], counts[defined(name)] = np.where(known, values, 0.0), known.astype(float)
            totals += scorer.weight * counts[name]
            weights += scorer.weight * known
            failed = known & ~scorer.passes(values)
            missed += failed * (scorer.weight > 0)
            failures += [(name, row, each) for row, each in zip(rows, wanted, strict=True) if failed[row]]
            keyed += self._keyed(name, scorer, rows, chosen, wanted)
        counts[SOUND] = ((missed == 0) & (weights > 0)).astype(float)
        if self.headline == SCORE:
            measured = divide(totals, weights)
            counts[SCORE] = np.nan_to_num(measured)
            counts[defined(SCORE)] = (~np.isnan(measured)).astype(float)
        return Batch(counts, keyed, self._diagnoses(replies, failures))

    def _reply(self, items: Items, index: int) -> Reply:
        case, output = items.cases[index], items.outputs[index]
        text = output if isinstance(output, str) and self.output is str else as_text(output)
        return Reply(
            text,
            self.answer.read(output),
            case.id,
            lambda: msgspec.to_builtins(case.input),
            lambda: items[index].answer,
        )

    def _keyed(
        self, name: str, scorer: Scorer, rows: Sequence[int], replies: Sequence[Reply], wanted: Sequence[Any]
    ) -> Iterator[tuple[int, KeyedCount]]:
        for row, reply, each in zip(rows, replies, wanted, strict=True):
            if name == self._labelled:
                yield from ((row, count) for count in self.answer.keyed(each, reply.value))
            yield from ((row, count) for count in scorer.keyed(name, reply, each))

    def _diagnoses(
        self, replies: Sequence[Reply], failures: Sequence[tuple[str, int, Any]]
    ) -> Iterator[tuple[int, Diagnosis]]:
        for name, row, wanted in failures:
            expected, got = self.scores[name].told(replies[row], wanted)
            yield row, Diagnosis(name, shown(expected), shown(got))

    def passes(self, sums: Sums) -> Any:
        """Which cases pass: those that every scorer with a weight passes, and at least one can measure."""
        return sums[SOUND] > 0

    def errored(self, case: Case[Any, Any], answer: Answer | None) -> CaseScore:
        """What an error counts as where metrics are no means over all cases."""
        counts = {SOUND: 0.0}
        keyed: list[KeyedCount] = []
        for name, scorer in self.scores.items():
            if not scorer.applies(case.expected):
                continue
            wanted = scorer.wanted(case.expected, self.answer)
            if scorer.errored(None, None) is None:
                counts[name], known = 0.0, scorer.errored(wanted, answer) is not None
                counts[defined(name)] = float(known)
            if name == self._labelled:
                keyed += self.answer.keyed(wanted, UNREADABLE)
        return CaseScore(counts, keyed)

    def check(self, row: Row) -> Iterator[tuple[str, Unusable]]:
        """What is wrong with the golden cells of a case, with the columns concerned."""
        for scorer in self.scores.values():
            if not scorer.applies(row):
                continue
            try:
                scorer.wanted(row, self.answer)
            except Unusable as wrong:
                yield ", ".join(scorer.needs) or scorer.key, wrong

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns whose cells scorers need; no engine sees them."""
        return tuple(dict.fromkeys(name for scorer in self.scores.values() for name in scorer.needs))

    @cached_property
    def reporting(self) -> Reporting:
        """The confusion matrix of labels, and how often each field of an object is right."""
        confusions = self.answer.tables() if self._labelled else {}
        own = {name: rows for name, scorer in self.scores.items() for rows in scorer.tables()}
        return Reporting(tables={**confusions, **own}, confusions=tuple(confusions))

    @cached_property
    def probing(self) -> Probing:
        """Golden answers where a scorer says what is right; what to do where a probe is rewarded."""
        says = [each for each in self.scores.values() if each.holds_answer and not each.optional]
        return WarnedOf(golden_answer=partial(_golden_answer, self.answer, says[0]) if says else None)


def metric_names(answer: Kind, scores: Sequence[Scorer]) -> list[str]:
    """The names of the scorers' metrics: as given, else the scorer's own, numbered where it stands twice."""
    names: list[str] = []
    seen: Counter[str] = Counter()
    for scorer in scores:
        own = answer.accuracy if scorer.key == "equals" and answer.accuracy not in names else ""
        name = scorer.name or own or scorer.default_name
        seen[name] += 1
        names.append(name if seen[name] == 1 else f"{name}_{seen[name]}")
    return names


def _applies(scorer: Scorer, case: Case[Any, Any]) -> bool:
    """Whether a scorer applies to a case: the population of its metric."""
    return scorer.applies(case.expected)


def _golden_answer(answer: Kind, scorer: Scorer, case: Case[Any, Any]) -> Any:
    """What a scorer calls right for a case, as an output says it."""
    return answer.written(scorer.golden(scorer.wanted(case.expected, answer)))


def input_type(inputs: Sequence[str] | Mapping[str, str]) -> type[msgspec.Struct]:
    """The record of what templates and engines see of a case."""
    return msgspec.defstruct("Input", [(name, Any, "") for name in inputs], frozen=True)
