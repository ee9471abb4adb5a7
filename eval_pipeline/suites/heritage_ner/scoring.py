"""Scoring entities: strict, partial and by token, for a whole batch of texts at once.

Texts are laid end to end, so that a position belongs to one text and spans of different texts never meet.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import count
from typing import Annotated

import msgspec
import numpy as np
from numpy.typing import NDArray

from eval_pipeline.answers import Answer
from eval_pipeline.metrics.matching import maximum_matching, overlaps
from eval_pipeline.metrics.text import word_spans
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
from eval_pipeline.suites._heritage.vocabulary import ENTITY_TYPES
from eval_pipeline.suites.heritage_ner.cases import Entity, NerCase, NerExpected, NerInput

Integers = NDArray[np.int64]

OTHER = "other"
"""Every predicted type that is none of the entity types."""
TYPES = (*ENTITY_TYPES, OTHER)
COUNTS = ("gold", "predicted", "strict", "partial", "token_gold", "token_predicted", "token")
WORST = {"gold": "gold", "predicted": "gold", "token_gold": "token_gold", "token_predicted": "token_gold"}
"""What an errored case counts: as many predictions as there is gold, all of them wrong."""
PER_TYPE = "per_type"


MOST_ENTITIES = 5000
"""No text of a golden set comes near it; an output that does is not an answer."""
_APART = "\n\n"


class Extraction(msgspec.Struct, frozen=True):
    """The output contract."""

    entities: Annotated[list[Entity], msgspec.Meta(max_length=MOST_ENTITIES)]


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


class _Layout:
    """What the items of a batch have in common: where their texts lie, and a number for every type."""

    def __init__(self, lengths: Sequence[int]) -> None:
        self.lengths = np.array(lengths, dtype=np.int64)
        # Offsets beyond the end of a text fall on what keeps it apart from the next one.
        self.bases = np.concatenate([[0], np.cumsum(self.lengths + len(_APART))]).astype(np.int64)
        self.size = int(self.bases[-1]) + 1
        self.longest = int(self.lengths.max(initial=0)) + len(_APART)
        self.types: defaultdict[str, int] = defaultdict(count(len(ENTITY_TYPES)).__next__)
        self.types.update({name: number for number, name in enumerate(ENTITY_TYPES)})
        self.count = len(lengths)

    def spans(self, entities: Sequence[Sequence[Entity]]) -> Spans:
        """The entities of every text; exact repetitions are merged."""
        entries = np.fromiter(map(len, entities), np.int64, self.count)
        texts = np.repeat(np.arange(self.count), entries)
        known = self.types
        # One visit to every entity: reading them costs more than all that follows.
        numbers = [
            number
            for each in entities
            for entity in each
            for number in (known[entity.type], entity.start, entity.end)
        ]
        types, starts, ends = np.fromiter(numbers, np.int64, len(numbers)).reshape(-1, 3).T
        bases, limits = self.bases[texts], self.lengths[texts] + 1
        given = np.stack([texts, types, starts, ends])
        strange = (starts > limits) | (ends > limits) | (ends < starts)
        starts = np.minimum(starts, limits)
        starts, ends = starts + bases, np.maximum(np.minimum(ends, limits), starts) + bases
        keys = _keys(starts, ends, types, self.longest, len(self.types))
        origins = _distinct(keys, strange, given)
        return Spans(texts[origins], types[origins], starts[origins], ends[origins], origins, entries)

    def tally(self, texts: Integers, types: Integers) -> Integers:
        """How many of each type each text has: `[text, type]`, unknown types together."""
        places = texts * len(TYPES) + np.minimum(types, len(ENTITY_TYPES))
        return np.bincount(places, minlength=self.count * len(TYPES)).reshape(self.count, len(TYPES))


def score(items: Sequence[Item], context: Context) -> Batch:
    """The counts, tables and diagnoses of a batch of outputs."""
    layout = _Layout([len(item.case.input.text) for item in items])
    gold = layout.spans([item.case.expected.entities for item in items])
    predicted = layout.spans([item.output.entities for item in items])
    partial = partial_matches(layout, predicted, gold)
    token_gold, token_predicted, token = token_tallies(layout, items, gold, predicted)
    tallies = {
        **_strict_tallies(layout, gold, predicted),
        "partial": layout.tally(predicted.texts[partial[0]], predicted.types[partial[0]]),
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


def strict_tallies(
    lengths: Sequence[int], gold: Sequence[Sequence[Entity]], predicted: Sequence[Sequence[Entity]]
) -> dict[str, Integers]:
    """Gold, predicted and strictly matching entities of texts of these lengths: `[text, type]` each."""
    layout = _Layout(lengths)
    return _strict_tallies(layout, layout.spans(gold), layout.spans(predicted))


def _strict_tallies(layout: _Layout, gold: Spans, predicted: Spans) -> dict[str, Integers]:
    strict = strict_matches(predicted, gold)
    return {
        "gold": layout.tally(gold.texts, gold.types),
        "predicted": layout.tally(predicted.texts, predicted.types),
        "strict": layout.tally(predicted.texts[strict], predicted.types[strict]),
    }


def strict_matches(first: Spans, second: Spans) -> NDArray[np.bool_]:
    """Which of the first have the start, the end and the type of one of the second in the same text."""
    longest = 1 + max(int((each.ends - each.starts).max(initial=0)) for each in (first, second))
    kinds = 1 + max(int(each.types.max(initial=0)) for each in (first, second))
    own, others = (_keys(each.starts, each.ends, each.types, longest, kinds) for each in (first, second))
    if not len(others):
        return np.zeros(len(own), dtype=bool)
    # Both are sorted and without repetition.
    places = np.minimum(np.searchsorted(others, own), len(others) - 1)
    matches: NDArray[np.bool_] = others[places] == own
    return matches


def _keys(starts: Integers, ends: Integers, types: Integers, longest: int, kinds: int) -> Integers:
    """One number for each span and type; sorting by it sorts by start, then end, then type."""
    keys: Integers = (starts * longest + ends - starts) * kinds + types
    return keys


def _distinct(keys: Integers, strange: NDArray[np.bool_], given: Integers) -> Integers:
    """The first of all entities that are equal, by place.

    Those with offsets outside of their text were cut to fit: as they were given they may differ, though
    their places do not.
    """
    usual, odd = np.flatnonzero(~strange), np.flatnonzero(strange)
    found: Integers = usual[np.unique(keys[usual], return_index=True)[1]]
    if len(odd):
        found = np.concatenate([found, odd[np.unique(given[:, odd], axis=1, return_index=True)[1]]])
        found = found[np.argsort(keys[found], kind="stable")]
    return found


def partial_matches(layout: _Layout, predicted: Spans, gold: Spans) -> tuple[Integers, Integers]:
    """Predictions and gold entities of one type that overlap, one to one: most pairs, then most overlap."""

    def shifted(spans: Spans) -> tuple[Integers, Integers, Integers]:
        # A stretch of its own for every type: spans of different types never overlap.
        shift = spans.types * layout.size
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
    layout: _Layout, items: Sequence[Item], gold: Spans, predicted: Spans
) -> tuple[Integers, Integers, Integers]:
    """Tokens that are gold, predicted and both, by text and type; a token is in a span that it overlaps."""
    joined = _APART.join(item.case.input.text for item in items)
    starts, ends = np.array(word_spans(joined), dtype=np.int64).reshape(-1, 2).T
    texts = np.searchsorted(layout.bases, starts, "right") - 1
    kinds = len(TYPES)

    def labels(spans: Spans) -> Integers:
        types, from_, to = _covered(spans, layout.size)
        within = overlaps(starts, ends, from_, to)
        return np.unique(within.first * kinds + types[within.second])

    marked, claimed = labels(gold), labels(predicted)
    both = np.intersect1d(marked, claimed, assume_unique=True)
    gold_tally, predicted_tally, both_tally = (
        layout.tally(texts[each // kinds], each % kinds) for each in (marked, claimed, both)
    )
    return gold_tally, predicted_tally, both_tally


def _covered(spans: Spans, size: int) -> tuple[Integers, Integers, Integers]:
    """The stretches that each type covers, sorted by start; unknown types together.

    Without it, thousands of spans over one text would meet each of its tokens.
    """
    types = np.minimum(spans.types, len(ENTITY_TYPES))
    order = np.lexsort((spans.starts, types))
    types = types[order]
    starts, ends = spans.starts[order] + types * size, spans.ends[order] + types * size
    reached = np.maximum.accumulate(ends)
    first = np.flatnonzero(np.concatenate([[True], starts[1:] > reached[:-1]])[: len(starts)])
    last = np.concatenate([first[1:] - 1, [len(starts) - 1]])[: len(first)]
    shift = types[first] * size
    placed = np.argsort(starts[first] - shift, kind="stable")
    return types[first][placed], (starts[first] - shift)[placed], (reached[last] - shift)[placed]


def _keyed(tallies: dict[str, Integers]) -> list[tuple[int, KeyedCount]]:
    rows: list[tuple[int, KeyedCount]] = []
    for name, tally in tallies.items():
        texts, types = np.nonzero(tally)
        cells = zip(texts.tolist(), types.tolist(), tally[texts, types].tolist(), strict=True)
        for text, kind, value in cells:
            rows.append((text, KeyedCount(PER_TYPE, TYPES[kind], name, value)))
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
    nothing = Item(case, 1, Extraction([]), lambda: answer or Answer(case.id))
    scored = score([nothing], Context())
    counts = {name: float(values[0]) for name, values in scored.counts.items()}
    for name, source in WORST.items():
        for kind in TYPES:
            counts[column(name, kind)] = counts[column(source, kind)]
    keyed = [
        KeyedCount(PER_TYPE, kind, name, counts[column(name, kind)])
        for name in WORST
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
    """One row per type: how many there are and how many were predicted, and how well.

    There is no ratio where a type does not occur in the golden set.
    """
    counts = {name: table.column(name)[0] for name in COUNTS}

    def rate(numerator: str, *denominator: str) -> list[float | None]:
        values = divide(
            len(denominator) * counts[numerator], np.sum([counts[each] for each in denominator], axis=0)
        )
        return [float(value) if np.isfinite(value) else None for value in values]

    columns = {
        "gold": counts["gold"].astype(int).tolist(),
        "predicted": counts["predicted"].astype(int).tolist(),
        "over_prediction": (counts["predicted"] - counts["gold"]).astype(int).tolist(),
        "ratio": rate("predicted", "gold"),
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


TABLES = {PER_TYPE: per_type}
