"""Scoring entities: strict, partial and by token, for a whole batch of texts at once."""

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Annotated

import msgspec
import numpy as np
from numpy.typing import NDArray

import eval_pipeline.suite as kit
from eval_pipeline.answers import Answer
from eval_pipeline.suites._heritage.vocabulary import ENTITY_TYPES
from eval_pipeline.suites.heritage_ner import matching
from eval_pipeline.suites.heritage_ner.cases import Entity, NerCase, NerExpected, NerInput

COUNTS = ("gold", "predicted", "strict", "partial", "token_gold", "token_predicted", "token")
MATCHINGS = (
    ("strict", "gold", "predicted"),
    ("partial", "gold", "predicted"),
    ("token", "token_gold", "token_predicted"),
)
"""Each way to match: what matches, and what there is on both sides."""
WORST = {"gold": "gold", "predicted": "gold", "token_gold": "token_gold", "token_predicted": "token_gold"}
"""What an errored case counts: as many predictions as there is gold, all of them wrong."""
PER_TYPE = "per_type"
MATCHES = "matches"
CONFUSION = "confusion"
MISSED, SPURIOUS = "missed", "spurious"
"""What a gold entity is taken for where nothing lies over it, and what a prediction is over nothing."""

MOST_ENTITIES = 5000
"""No text of a golden set comes near it; an output that does is not an answer."""


class Extraction(msgspec.Struct, frozen=True):
    """The output contract."""

    entities: Annotated[list[Entity], msgspec.Meta(max_length=MOST_ENTITIES)]


def column(count: str, entity_type: str) -> str:
    """The name of a count of one entity type."""
    return f"{count}:{entity_type}"


def score(items: Sequence[kit.Item], context: kit.Context) -> kit.Batch:
    """The counts, tables and diagnoses of a batch of outputs."""
    layout = matching.Layout([len(item.case.input.text) for item in items])
    gold = layout.spans([item.case.expected.entities for item in items])
    predicted = layout.spans([item.output.entities for item in items])
    partial = matching.partial_matches(layout, predicted, gold)
    token_gold, token_predicted, token = matching.token_tallies(layout, items, gold, predicted)
    tallies = {
        **matching.strict_tallies(layout, gold, predicted),
        "partial": layout.tally(predicted.texts[partial[0]], predicted.types[partial[0]]),
        "token_gold": token_gold,
        "token_predicted": token_predicted,
        "token": token,
    }
    counts = {
        column(name, kind): tally[:, number].astype(float)
        for name, tally in tallies.items()
        for number, kind in enumerate(matching.TYPES)
    }
    counts["entries"] = predicted.entries.astype(float)
    counts["repeated"] = counts["entries"] - tallies["predicted"].sum(axis=1)
    keyed = [*_keyed(tallies), *_confusions(predicted, gold, partial)]
    return kit.Batch(counts, keyed, _diagnoses(items, predicted, gold, partial))


def _keyed(tallies: dict[str, matching.Integers]) -> list[tuple[int, kit.KeyedCount]]:
    rows: list[tuple[int, kit.KeyedCount]] = []
    for name, tally in tallies.items():
        texts, types = np.nonzero(tally)
        cells = zip(texts.tolist(), types.tolist(), tally[texts, types].tolist(), strict=True)
        rows += [
            (text, kit.KeyedCount(table, matching.TYPES[kind], name, value))
            for text, kind, value in cells
            for table in (PER_TYPE, MATCHES)
        ]
    return rows


def _confusions(
    predicted: matching.Spans, gold: matching.Spans, partial: tuple[matching.Integers, matching.Integers]
) -> list[tuple[int, kit.KeyedCount]]:
    """What every gold entity was taken for, and what was predicted where there is none."""
    confused = matching.confused_matches(predicted, gold, partial)
    rows, columns = (np.concatenate(pair) for pair in zip(partial, confused, strict=True))
    last = len(ENTITY_TYPES)

    def named(spans: matching.Spans, place: int) -> str:
        return matching.TYPES[min(int(spans.types[place]), last)]

    pairs = [
        (int(gold.texts[column]), named(gold, column), named(predicted, row))
        for row, column in zip(rows.tolist(), columns.tolist(), strict=True)
    ]
    missed = np.setdiff1d(np.arange(len(gold.types)), columns).tolist()
    spurious = np.setdiff1d(np.arange(len(predicted.types)), rows).tolist()
    pairs += [(int(gold.texts[place]), named(gold, place), MISSED) for place in missed]
    pairs += [(int(predicted.texts[place]), SPURIOUS, named(predicted, place)) for place in spurious]
    counted = Counter(pairs)
    return [
        (text, kit.KeyedCount(CONFUSION, one, other, count)) for (text, one, other), count in counted.items()
    ]


def _diagnoses(
    items: Sequence[kit.Item],
    predicted: matching.Spans,
    gold: matching.Spans,
    partial: tuple[matching.Integers, matching.Integers],
) -> list[tuple[int, kit.Diagnosis]]:
    """What was missed, invented, cut wrongly or given the wrong type."""
    wanted = [entity for item in items for entity in item.case.expected.entities]
    claimed = [entity for item in items for entity in item.output.entities]
    spurious, missed = ~matching.strict_matches(predicted, gold), ~matching.strict_matches(gold, predicted)
    results: list[tuple[int, kit.Diagnosis]] = []

    def tell(kind: str, expected: int | None, got: int | None) -> None:
        one = _told(wanted[gold.origins[expected]]) if expected is not None else ""
        other = _told(claimed[predicted.origins[got]]) if got is not None else ""
        place = gold.texts[expected] if expected is not None else predicted.texts[got]
        results.append((int(place), kit.Diagnosis(kind, one, other)))

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
    return results


def _told(entity: Entity) -> str:
    return f"{entity.type} {entity.text[:80]!r} {entity.start}–{entity.end}"


def errored(case: kit.Case[NerInput, NerExpected], answer: Answer | None) -> kit.CaseScore:
    """An error counts as if it had predicted as many wrong entities as there is gold."""
    nothing = kit.Item(case, 1, Extraction([]), lambda: answer or Answer(case.id))
    scored = score([nothing], kit.Context())
    counts = {name: float(values[0]) for name, values in scored.counts.items()}
    for name, source in WORST.items():
        for kind in matching.TYPES:
            counts[column(name, kind)] = counts[column(source, kind)]
    keyed = [each for _, each in scored.keyed if each.table == CONFUSION]
    keyed += [
        kit.KeyedCount(table, kind, name, counts[column(name, kind)])
        for table in (PER_TYPE, MATCHES)
        for name in WORST
        for kind in matching.TYPES
        if counts[column(name, kind)]
    ]
    return kit.CaseScore(counts, keyed)


def case_passes(sums: kit.Sums) -> NDArray[np.bool_]:
    """A case passes when its entities are exactly the gold ones."""
    gold, predicted, strict = (_pooled(sums, name) for name in ("gold", "predicted", "strict"))
    return np.asarray((strict == gold) & (strict == predicted), dtype=np.bool_)


def _pooled(sums: kit.Sums, count: str) -> kit.Values:
    total: kit.Values = np.sum([sums[column(count, kind)] for kind in matching.TYPES], axis=0)
    return total


def _by_type(sums: kit.Sums, count: str) -> kit.Values:
    """`[type, set]`, the entity types only."""
    return np.array([sums[column(count, kind)] for kind in ENTITY_TYPES])


def _mean_over_types(rate: kit.Values, support: kit.Values) -> kit.Values:
    """The mean over types with gold; a type that is never predicted counts 0, not nothing."""
    rates = np.where(support > 0, np.nan_to_num(rate), 0.0)
    return kit.divide(rates.sum(axis=0), (support > 0).sum(axis=0))


def _rates(mode: str, gold: str, predicted: str, what: str) -> list[kit.Metric]:
    """Precision, recall and F1 of one way to match: pooled, and as a mean over types."""

    def pooled(numerator: str, *denominator: str) -> kit.Formula:
        scale = len(denominator)
        return lambda sums: kit.divide(
            scale * _pooled(sums, numerator), np.sum([_pooled(sums, each) for each in denominator], axis=0)
        )

    def macro(numerator: str, *denominator: str) -> kit.Formula:
        scale = len(denominator)
        return lambda sums: _mean_over_types(
            kit.divide(
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
    results = []
    for name, (denominator, formula) in rates.items():
        explained = "missed" if name == "recall" else "spurious"
        applies = kit.everything if name == "precision" else _has_gold
        results += [
            kit.Metric(
                f"{mode}_{name}",
                f"{formula[0].upper()}{formula[1:]}",
                pooled(mode, *denominator),
                population=applies,
                explained_by=explained,
            ),
            kit.Metric(
                f"{mode}_{name}_macro",
                f"Mean over types with gold of {formula}",
                macro(mode, *denominator),
                population=_has_gold,
            ),
        ]
    return results


def _has_gold(case: NerCase) -> bool:
    return bool(case.expected.entities)


METRICS: tuple[kit.Metric, ...] = (
    *_rates("strict", "gold", "predicted", "entities with the same start, end and type"),
    *_rates("partial", "gold", "predicted", "entities of one type that overlap, one to one"),
    *_rates("token", "token_gold", "token_predicted", "tokens of one type in both"),
    kit.Metric(
        "duplicate_rate",
        "Entities that repeat another one exactly ÷ entities.",
        kit.ratio_of("repeated", "entries"),
        "lower",
    ),
)


def per_type(table: kit.KeyedSums) -> kit.Rows:
    """One row per type: how many there are and how many were predicted, and how well.

    There is no ratio where a type does not occur in the golden set.
    """
    counts = {name: table.column(name)[0] for name in COUNTS}

    def rate(numerator: str, *denominator: str) -> list[float | None]:
        values = kit.divide(
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


def match_counts(table: kit.KeyedSums) -> kit.Rows:
    """One row per type, and one for all: true and false positives and false negatives of each matching."""
    counts = {name: table.column(name)[0] for name in COUNTS}

    def told(name: str, sums: Mapping[str, float]) -> dict[str, str | int]:
        row: dict[str, str | int] = {"type": name}
        for mode, gold, predicted in MATCHINGS:
            row[f"{mode}_tp"] = int(sums[mode])
            row[f"{mode}_fp"] = int(sums[predicted] - sums[mode])
            row[f"{mode}_fn"] = int(sums[gold] - sums[mode])
        return row

    by_type = [
        told(kind, {name: values[number] for name, values in counts.items()})
        for number, kind in enumerate(table.row_keys)
    ]
    return [*by_type, told("all", {name: float(values.sum()) for name, values in counts.items()})]


def confusion(table: kit.KeyedSums) -> kit.Rows:
    """One row per type: what entities of it were taken for; and what was predicted where there is none."""
    columns = [*ENTITY_TYPES, *({matching.OTHER} & {*table.column_keys}), MISSED]
    counts = {name: table.column(name)[0] for name in columns}
    return [
        {"": name, **{each: int(counts[each][table.row_keys.index(name)]) for each in columns}}
        for name in (*ENTITY_TYPES, SPURIOUS)
        if name in table.row_keys
    ]


TABLES = {PER_TYPE: per_type, MATCHES: match_counts, CONFUSION: confusion}
TABLE_UNITS: Mapping[str, kit.Unit] = dict.fromkeys(
    ("ratio", "strict_precision", "strict_recall", "strict_f1", "partial_f1", "token_f1"), "fraction"
)
