"""Scoring entities: strict, partial and by token, for a whole batch of texts at once.

Texts are laid end to end, so that a position belongs to one text and spans of different texts never meet.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import msgspec
import numpy as np
from numpy.typing import NDArray

from eval_pipeline.answers import Answer
from eval_pipeline.heritage.vocabulary import ENTITY_TYPES
from eval_pipeline.metrics.matching import maximum_matching, overlaps
from eval_pipeline.metrics.text import words
from eval_pipeline.suite import (
    Batch,
    Case,
    CaseScore,
    Context,
    Diagnosis,
    Formula,
    Item,
    KeyedCount,
    KeyedSums,
    Metric,
    Rows,
    Sums,
    Values,
    divide,
    everything,
    ratio_of,
)
from eval_pipeline.suites.heritage_ner.cases import Entity, NerCase, NerExpected, NerInput

Integers = NDArray[np.int64]

OTHER = "other"
"""Every predicted type that is none of the entity types."""
TYPES = (*ENTITY_TYPES, OTHER)
COUNTS = ("gold", "predicted", "strict", "partial", "token_gold", "token_predicted", "token")
WORST = {"gold": "gold", "predicted": "gold", "token_gold": "token_gold", "token_predicted": "token_gold"}
"""What an errored case counts: as many predictions as there is gold, all of them wrong."""
PER_TYPE = "per_type"
TYPE_DISTRIBUTION = "type_distribution"


class Extraction(msgspec.Struct, frozen=True):
    """The output contract."""

    entities: list[Entity]


def column(count: str, entity_type: str) -> str:
    """The name of a count of one entity type."""
    return f"{count}:{entity_type}"


@dataclass(frozen=True)
class Spans:
    """The distinct entities of a batch as columns, sorted by place."""

    texts: Integers
    types: Integers
    starts: Integers
    ends: Integers
    origins: Integers
    """Where each stands in the list that it was made from."""
    entries: Integers
    """How many entities each text had, repeated ones included."""


class _Batch:
    """What the items of a batch have in common: where their texts lie, and a number for every type."""

    def __init__(self, cases: Sequence[NerCase]) -> None:
        self.lengths = np.array([len(case.input.text) for case in cases], dtype=np.int64)
        # Two positions more than a text has: one for offsets beyond its end, one to keep neighbours apart.
        self.bases = np.concatenate([[0], np.cumsum(self.lengths + 2)]).astype(np.int64)
        self.size = int(self.bases[-1]) + 1
        self.types = {name: number for number, name in enumerate(ENTITY_TYPES)}
        self.count = len(cases)

    def spans(self, entities: Sequence[Sequence[Entity]]) -> Spans:
        """The entities of every text; exact repetitions are merged."""
        entries = np.array([len(each) for each in entities], dtype=np.int64)
        flat = [entity for each in entities for entity in each]
        texts = np.repeat(np.arange(self.count), entries)
        known = self.types
        types = np.array([known.setdefault(each.type, len(known)) for each in flat], dtype=np.int64)
        limits = self.lengths[texts] + 1
        starts = np.minimum(np.array([each.start for each in flat], dtype=np.int64), limits)
        ends = np.minimum(np.array([each.end for each in flat], dtype=np.int64), limits)
        starts, ends = starts + self.bases[texts], np.maximum(ends, starts) + self.bases[texts]
        order = np.lexsort((types, ends, starts))
        same = np.zeros(len(order), dtype=bool)
        for each in (starts, ends, types):
            ordered = each[order]
            same[1:] = (ordered[1:] == ordered[:-1]) & (same[1:] if each is not starts else True)
        origins = order[~same]
        return Spans(texts[origins], types[origins], starts[origins], ends[origins], origins, entries)

    def tally(self, texts: Integers, types: Integers) -> Integers:
        """How many of each type each text has: `[text, type]`, unknown types together."""
        places = texts * len(TYPES) + np.minimum(types, len(ENTITY_TYPES))
        return np.bincount(places, minlength=self.count * len(TYPES)).reshape(self.count, len(TYPES))


def score(items: Sequence[Item], context: Context) -> Batch:
    """The counts, tables and diagnoses of a batch of outputs."""
    batch = _Batch([item.case for item in items])
    gold = batch.spans([item.case.expected.entities for item in items])
    predicted = batch.spans([item.output.entities for item in items])
    strict = strict_matches(predicted, gold)
    partial = partial_matches(batch, predicted, gold)
    token_gold, token_predicted, token = token_tallies(batch, items, gold, predicted)
    tallies = {
        "gold": batch.tally(gold.texts, gold.types),
        "predicted": batch.tally(predicted.texts, predicted.types),
        "strict": batch.tally(predicted.texts[strict], predicted.types[strict]),
        "partial": batch.tally(predicted.texts[partial[0]], predicted.types[partial[0]]),
        "token_gold": token_gold,
        "token_predicted": token_predicted,
        "token": token,
    }
    counts = {
        column(name, kind): tally[:, number].astype(float)
        for name, tally in tallies.items()
        for number, kind in enumerate(TYPES)
    }
    counts["entries"] = predicted.entries.astype(float)
    counts["repeated"] = counts["entries"] - tallies["predicted"].sum(axis=1)
    return Batch(counts, list(_keyed(tallies)), _diagnoses(items, predicted, gold, partial))


def strict_matches(first: Spans, second: Spans) -> NDArray[np.bool_]:
    """Which of the first have the start, the end and the type of one of the second in the same text."""
    longest = 1 + max(int((each.ends - each.starts).max(initial=0)) for each in (first, second))
    kinds = 1 + max(int(each.types.max(initial=0)) for each in (first, second))

    def keys(spans: Spans) -> Integers:
        key: Integers = (spans.starts * longest + spans.ends - spans.starts) * kinds + spans.types
        return key

    return np.isin(keys(first), keys(second), assume_unique=True)


def partial_matches(batch: _Batch, predicted: Spans, gold: Spans) -> tuple[Integers, Integers]:
    """Predictions and gold entities of one type that overlap, one to one: most pairs, then most overlap."""

    def shifted(spans: Spans) -> tuple[Integers, Integers, Integers]:
        # A stretch of its own for every type: spans of different types never overlap.
        shift = spans.types * batch.size
        order = np.argsort(spans.starts + shift, kind="stable")
        return order, (spans.starts + shift)[order], (spans.ends + shift)[order]

    first, second = shifted(predicted), shifted(gold)
    found = overlaps(first[1], first[2], second[1], second[2])
    rows, columns = first[0][found.first], second[0][found.second]
    alone = (np.bincount(rows)[rows] == 1) & (np.bincount(columns)[columns] == 1)
    crowd = ~alone
    contested = zip(
        rows[crowd].tolist(),
        columns[crowd].tolist(),
        found.length[crowd].tolist(),
        (predicted.starts[rows[crowd]] == gold.starts[columns[crowd]]).tolist(),
        (predicted.ends[rows[crowd]] == gold.ends[columns[crowd]]).tolist(),
        strict=True,
    )
    chosen = maximum_matching((row, at, (length, start, end)) for row, at, length, start, end in contested)
    settled = np.array(chosen, dtype=np.int64).reshape(-1, 2)
    return (
        np.concatenate([rows[alone], settled[:, 0]]),
        np.concatenate([columns[alone], settled[:, 1]]),
    )


def token_tallies(
    batch: _Batch, items: Sequence[Item], gold: Spans, predicted: Spans
) -> tuple[Integers, Integers, Integers]:
    """Tokens that are gold, predicted and both, by text and type; a token is in a span that it overlaps."""
    found = [words(item.case.input.text) for item in items]
    texts = np.repeat(np.arange(batch.count), [len(each) for each in found])
    starts = np.array([word.start for each in found for word in each], dtype=np.int64) + batch.bases[texts]
    ends = np.array([word.end for each in found for word in each], dtype=np.int64) + batch.bases[texts]
    kinds = len(batch.types)

    def labels(spans: Spans) -> Integers:
        within = overlaps(starts, ends, spans.starts, spans.ends)
        return np.unique(within.first * kinds + spans.types[within.second])

    marked, claimed = labels(gold), labels(predicted)
    both = np.intersect1d(marked, claimed, assume_unique=True)
    gold_tally, predicted_tally, both_tally = (
        batch.tally(texts[each // kinds], each % kinds) for each in (marked, claimed, both)
    )
    return gold_tally, predicted_tally, both_tally


def _keyed(tallies: dict[str, Integers]) -> list[tuple[int, KeyedCount]]:
    rows: list[tuple[int, KeyedCount]] = []
    for name, tally in tallies.items():
        texts, types = np.nonzero(tally)
        cells = zip(texts.tolist(), types.tolist(), tally[texts, types].tolist(), strict=True)
        for text, kind, value in cells:
            rows.append((text, KeyedCount(PER_TYPE, TYPES[kind], name, value)))
            if name in ("gold", "predicted"):
                rows.append((text, KeyedCount(TYPE_DISTRIBUTION, TYPES[kind], name, value)))
    return rows


def _diagnoses(
    items: Sequence[Item],
    predicted: Spans,
    gold: Spans,
    partial: tuple[Integers, Integers],
) -> list[tuple[int, Diagnosis]]:
    """What was missed, invented, cut wrongly or given the wrong type."""
    wanted = [entity for item in items for entity in item.case.expected.entities]
    claimed = [entity for item in items for entity in item.output.entities]
    spurious, missed = ~strict_matches(predicted, gold), ~strict_matches(gold, predicted)
    found: list[tuple[int, Diagnosis]] = []

    def tell(kind: str, expected: int | None, got: int | None) -> None:
        one = _told(wanted[gold.origins[expected]]) if expected is not None else ""
        other = _told(claimed[predicted.origins[got]]) if got is not None else ""
        place = gold.texts[expected] if expected is not None else predicted.texts[got]
        found.append((int(place), Diagnosis(kind, one, other)))

    def explain(kind: str, pairs: Sequence[tuple[int, int]]) -> None:
        for got, expected in pairs:
            if spurious[got] and missed[expected]:
                spurious[got] = missed[expected] = False
                tell(kind, expected, got)

    explain("wrong_boundary", list(zip(*(each.tolist() for each in partial), strict=True)))
    places = {
        (start, end): number
        for number, (start, end) in enumerate(zip(gold.starts.tolist(), gold.ends.tolist(), strict=True))
        if missed[number]
    }
    left = np.flatnonzero(spurious).tolist()
    ends = [(got, places.get((int(predicted.starts[got]), int(predicted.ends[got])))) for got in left]
    explain("wrong_type", [(got, expected) for got, expected in ends if expected is not None])
    for expected in np.flatnonzero(missed).tolist():
        tell("missed", expected, None)
    for got in np.flatnonzero(spurious).tolist():
        tell("spurious", None, got)
    return found


def _told(entity: Entity) -> str:
    return f"{entity.type} {entity.text[:80]!r} {entity.start}–{entity.end}"


def errored(case: Case[NerInput, NerExpected], answer: Answer | None) -> CaseScore:
    """An error counts as if it had predicted as many wrong entities as there is gold."""
    nothing = Item(case, 1, Extraction([]), answer or Answer(case.id))
    scored = score([nothing], Context())
    counts = {name: float(values[0]) for name, values in scored.counts.items()}
    for name, source in WORST.items():
        for kind in TYPES:
            counts[column(name, kind)] = counts[column(source, kind)]
    keyed = [
        KeyedCount(table, kind, name, counts[column(name, kind)])
        for table, names in ((PER_TYPE, tuple(WORST)), (TYPE_DISTRIBUTION, ("gold", "predicted")))
        for name in names
        for kind in TYPES
        if counts[column(name, kind)]
    ]
    return CaseScore(counts, keyed)


def case_passes(sums: Sums) -> NDArray[np.bool_]:
    """A case passes when its entities are exactly the gold ones."""
    gold, predicted, strict = (_pooled(sums, name) for name in ("gold", "predicted", "strict"))
    passes: NDArray[np.bool_] = (strict == gold) & (strict == predicted)
    return passes


def _pooled(sums: Sums, count: str) -> Values:
    total: Values = np.sum([sums[column(count, kind)] for kind in TYPES], axis=0)
    return total


def _by_type(sums: Sums, count: str) -> Values:
    """`[type, set]`, the entity types only."""
    return np.array([sums[column(count, kind)] for kind in ENTITY_TYPES])


def _mean_over_types(rate: Values, support: Values) -> Values:
    """The mean over types with gold; a type that is never predicted counts 0, not nothing."""
    rates = np.where(support > 0, np.nan_to_num(rate), 0.0)
    return divide(rates.sum(axis=0), (support > 0).sum(axis=0))


def _rates(mode: str, gold: str, predicted: str, what: str) -> list[Metric]:
    """Precision, recall and F1 of one way to match: pooled, and as a mean over types."""

    def pooled(numerator: str, *denominator: str) -> Formula:
        scale = len(denominator)
        return lambda sums: divide(
            scale * _pooled(sums, numerator), np.sum([_pooled(sums, each) for each in denominator], axis=0)
        )

    def macro(numerator: str, *denominator: str) -> Formula:
        scale = len(denominator)
        return lambda sums: _mean_over_types(
            divide(
                scale * _by_type(sums, numerator),
                np.sum([_by_type(sums, each) for each in denominator], axis=0),
            ),
            _by_type(sums, gold),
        )

    rates = {
        "precision": ((predicted,), f"{what} ÷ predicted."),
        "recall": ((gold,), f"{what} ÷ gold."),
        "f1": ((predicted, gold), f"2 × {what} ÷ (predicted + gold)."),
    }
    found = []
    for name, (denominator, formula) in rates.items():
        explained = "missed" if name == "recall" else "spurious"
        applies = everything if name == "precision" else _has_gold
        found += [
            Metric(
                f"{mode}_{name}",
                f"{formula[0].upper()}{formula[1:]}",
                pooled(mode, *denominator),
                population=applies,
                explained_by=explained,
            ),
            Metric(
                f"{mode}_{name}_macro",
                f"Mean over types with gold of {formula}",
                macro(mode, *denominator),
                population=_has_gold,
            ),
        ]
    return found


def _has_gold(case: NerCase) -> bool:
    return bool(case.expected.entities)


METRICS: tuple[Metric, ...] = (
    *_rates("strict", "gold", "predicted", "entities with the same start, end and type"),
    *_rates("partial", "gold", "predicted", "entities of one type that overlap, one to one"),
    *_rates("token", "token_gold", "token_predicted", "tokens of one type in both"),
    Metric(
        "duplicate_rate",
        "Entities that repeat another one exactly ÷ entities.",
        ratio_of("repeated", "entries"),
        "lower",
    ),
)


def per_type(table: KeyedSums) -> Rows:
    """One row per type: support, precision, recall and F1 strictly, partial and token F1."""
    counts = {name: table.column(name)[0] for name in COUNTS}

    def rate(numerator: str, *denominator: str) -> list[float | None]:
        values = divide(
            len(denominator) * counts[numerator], np.sum([counts[each] for each in denominator], axis=0)
        )
        return [float(value) if np.isfinite(value) else None for value in values]

    columns = {
        "support": counts["gold"].astype(int).tolist(),
        "strict_precision": rate("strict", "predicted"),
        "strict_recall": rate("strict", "gold"),
        "strict_f1": rate("strict", "predicted", "gold"),
        "partial_f1": rate("partial", "predicted", "gold"),
        "token_f1": rate("token", "token_predicted", "token_gold"),
    }
    return [
        {"type": kind, **{name: values[number] for name, values in columns.items()}}
        for number, kind in enumerate(table.row_keys)
    ]


def type_distribution(table: KeyedSums) -> Rows:
    """One row per type: how many were predicted and how many there are; no ratio where there are none."""
    predicted, gold = (table.column(name)[0].astype(int).tolist() for name in ("predicted", "gold"))
    return [
        {
            "type": kind,
            "predicted": predicted[number],
            "gold": gold[number],
            "over_prediction": predicted[number] - gold[number],
            "ratio": predicted[number] / gold[number] if gold[number] else None,
        }
        for number, kind in enumerate(table.row_keys)
    ]


TABLES = {PER_TYPE: per_type, TYPE_DISTRIBUTION: type_distribution}
