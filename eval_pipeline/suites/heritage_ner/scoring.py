"""Scoring entities: strict, partial and by token, for a whole batch of texts at once."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Annotated

import msgspec
import numpy as np
from numpy.typing import NDArray

from eval_pipeline.answers import Answer
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
    Unit,
    Values,
    divide,
    everything,
    ratio_of,
)
from eval_pipeline.suites._heritage.vocabulary import ENTITY_TYPES
from eval_pipeline.suites.heritage_ner.cases import Entity, NerCase, NerExpected, NerInput
from eval_pipeline.suites.heritage_ner.matching import (
    TYPES,
    Integers,
    Layout,
    Spans,
    partial_matches,
    strict_matches,
    strict_tallies,
    token_tallies,
)

COUNTS = ("gold", "predicted", "strict", "partial", "token_gold", "token_predicted", "token")
WORST = {"gold": "gold", "predicted": "gold", "token_gold": "token_gold", "token_predicted": "token_gold"}
"""What an errored case counts: as many predictions as there is gold, all of them wrong."""
PER_TYPE = "per_type"


MOST_ENTITIES = 5000
"""No text of a golden set comes near it; an output that does is not an answer."""


class Extraction(msgspec.Struct, frozen=True):
    """The output contract."""

    entities: Annotated[list[Entity], msgspec.Meta(max_length=MOST_ENTITIES)]


def column(count: str, entity_type: str) -> str:
    """The name of a count of one entity type."""
    return f"{count}:{entity_type}"


def score(items: Sequence[Item], context: Context) -> Batch:
    """The counts, tables and diagnoses of a batch of outputs."""
    layout = Layout([len(item.case.input.text) for item in items])
    gold = layout.spans([item.case.expected.entities for item in items])
    predicted = layout.spans([item.output.entities for item in items])
    partial = partial_matches(layout, predicted, gold)
    token_gold, token_predicted, token = token_tallies(layout, items, gold, predicted)
    tallies = {
        **strict_tallies(layout, gold, predicted),
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


def _keyed(tallies: dict[str, Integers]) -> list[tuple[int, KeyedCount]]:
    rows: list[tuple[int, KeyedCount]] = []
    for name, tally in tallies.items():
        texts, types = np.nonzero(tally)
        cells = zip(texts.tolist(), types.tolist(), tally[texts, types].tolist(), strict=True)
        for text, kind, value in cells:
            rows.append((text, KeyedCount(PER_TYPE, TYPES[kind], name, value)))
    return rows


def _diagnoses(
    items: Sequence[Item], predicted: Spans, gold: Spans, partial: tuple[Integers, Integers]
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
    return np.asarray((strict == gold) & (strict == predicted), dtype=np.bool_)


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


def _ratio(counts: Callable[[str], Values], numerator: str, denominator: Sequence[str]) -> Values:
    """N × numerator ÷ the sum of n denominators."""
    return divide(
        len(denominator) * counts(numerator), np.sum([counts(each) for each in denominator], axis=0)
    )


def _rates(mode: str, gold: str, predicted: str, what: str) -> list[Metric]:
    """Precision, recall and F1 of one way to match: pooled, and as a mean over types."""

    def pooled(denominator: Sequence[str]) -> Formula:
        return lambda sums: _ratio(partial(_pooled, sums), mode, denominator)

    def macro(denominator: Sequence[str]) -> Formula:
        return lambda sums: _mean_over_types(
            _ratio(partial(_by_type, sums), mode, denominator), _by_type(sums, gold)
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
                pooled(denominator),
                population=applies,
                explained_by=explained,
            ),
            Metric(
                f"{mode}_{name}_macro",
                f"Mean over types with gold of {formula}",
                macro(denominator),
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
        values = _ratio(counts.__getitem__, numerator, denominator)
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
TABLE_UNITS: Mapping[str, Unit] = dict.fromkeys(
    ("ratio", "strict_precision", "strict_recall", "strict_f1", "partial_f1", "token_f1"), "fraction"
)
