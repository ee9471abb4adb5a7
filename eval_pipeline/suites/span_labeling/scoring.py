"""Scoring labelled spans: relaxed positions, categories, fragments, and what was missed or made up.

A batch is scored as columns: only spans that could be matched in more than one way need a matching.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Annotated, NamedTuple

import msgspec
import numpy as np
from numpy.typing import NDArray

from eval_pipeline.answers import Answer
from eval_pipeline.metrics.matching import Overlaps, maximum_matching, overlaps
from eval_pipeline.metrics.text import normalize
from eval_pipeline.reports.numbers import number
from eval_pipeline.suite import (
    Batch,
    CaseScore,
    Context,
    Diagnosis,
    Item,
    KeyedCount,
    KeyedSums,
    Metric,
    Rows,
    Sums,
    Values,
    divide,
    ratio_of,
)
from eval_pipeline.suites.span_labeling.cases import Span, SpanCase
from eval_pipeline.suites.span_labeling.resources import ERROR, INVALID, MISSED, SPURIOUS

Indices = NDArray[np.int64]
Flags = NDArray[np.bool_]

CONFUSION, CATEGORIES = "confusion", "categories"
GOLD, PREDICTED, MATCHED = "gold", "predicted", "matched"
GOOD, PROBLEM = 0.80, 0.70
"""An F1 from which a category is fine, and one below which it is a problem."""
TOLERANCE = 1e-9
LONGEST_TOLD = 120


class Labels(msgspec.Struct, frozen=True):
    """The output contract."""

    spans: Annotated[list[Span], msgspec.Meta(max_length=2000)]


class Settings(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """When two spans agree in position."""

    minimum_iou: Annotated[float, msgspec.Meta(gt=0, le=1)] = 0.4
    """Characters in both ÷ characters in either, from which on they agree."""
    boundary_drift: Annotated[int, msgspec.Meta(ge=0, le=1000)] = 2
    """Overlapping spans also agree when neither boundary is off by more characters than this."""


class Located(NamedTuple):
    """A span of an answer where it really stands; one that stands nowhere is empty."""

    start: int
    end: int
    category: str
    text: str


class Reading(NamedTuple):
    """The spans of one answer, without duplicates and in a fixed order, and how they were given."""

    spans: list[Located]
    entries: int
    distinct: int
    misaligned: list[Located]


def read_spans(spans: Sequence[Span], prompt: str) -> Reading:
    """Merge exact duplicates, and relocate every span whose text is not what stands at its offsets."""
    given = {(span.start, span.end, normalize(span.category), span.text) for span in spans}
    misaligned = []
    found = set()
    for start, end, category, text in given:
        if 0 <= start < end <= len(prompt):
            stands = prompt[start:end]
            if stands == text or normalize(stands) == normalize(text):
                found.add(Located(start, end, category, stands))
                continue
        place = nearest(text, prompt, start)
        located = (
            Located(place, place + len(text), category, text) if place >= 0 else Located(0, 0, category, text)
        )
        found.add(located)
        misaligned.append(Located(start, end, category, text))
    return Reading(sorted(found), len(spans), len(given), sorted(misaligned))


def nearest(text: str, prompt: str, start: int) -> int:
    """Where the occurrence of a text begins that is nearest to an offset, the earlier of two; −1: nowhere."""
    if not text:
        return -1
    start = min(max(start, 0), len(prompt))
    after = prompt.find(text, start)
    before = prompt.rfind(text, 0, max(start + len(text) - 1, 0))
    if before < 0 or after < 0:
        return max(before, after)
    return before if start - before <= after - start else after


class Side(NamedTuple):
    """Spans of many cases as columns, in order of case, start, end and category."""

    case: Indices
    start: Indices
    end: Indices
    label: Indices
    texts: list[str]

    @classmethod
    def of(cls, cases: list[int], spans: list[Located], codes: Mapping[str, int], labels: list[str]) -> Side:
        """The columns of spans whose cases and labels are given beside them."""
        starts, ends, _, texts = zip(*spans, strict=True) if spans else ((), (), (), ())
        return cls(
            np.array(cases, dtype=np.int64),
            np.array(starts, dtype=np.int64),
            np.array(ends, dtype=np.int64),
            np.array([codes[label] for label in labels], dtype=np.int64),
            list(texts),
        )


class Read(NamedTuple):
    """A batch as columns."""

    gold: Side
    predicted: Side
    names: list[str]
    """The label of every code."""
    lengths: Indices
    """How long each prompt is."""
    readings: list[Reading]


def read_batch(items: Sequence[Item], categories: frozenset[str]) -> Read:
    """Golden and predicted spans of a batch; a category that neither taxonomy nor case knows is `invalid`."""
    gold_cases: list[int] = []
    gold_spans: list[Located] = []
    gold_labels: list[str] = []
    found_cases: list[int] = []
    found_spans: list[Located] = []
    found_labels: list[str] = []
    readings = []
    for index, item in enumerate(items):
        expected = sorted(
            Located(span.start, span.end, normalize(span.category), span.text)
            for span in item.case.expected.spans
        )
        gold_cases += [index] * len(expected)
        gold_spans += expected
        own = [span.category for span in expected]
        gold_labels += own
        reading = read_spans(item.output.spans, item.case.input.prompt)
        found_cases += [index] * len(reading.spans)
        found_spans += reading.spans
        found_labels += [
            span.category if span.category in categories or span.category in own else INVALID
            for span in reading.spans
        ]
        readings.append(reading)
    names = sorted({*gold_labels, *found_labels, MISSED, SPURIOUS})
    codes = {name: code for code, name in enumerate(names)}
    return Read(
        Side.of(gold_cases, gold_spans, codes, gold_labels),
        Side.of(found_cases, found_spans, codes, found_labels),
        names,
        np.array([len(item.case.input.prompt) for item in items], dtype=np.int64),
        readings,
    )


class Pairs(NamedTuple):
    """Pairs of a golden and a predicted span of one case that overlap."""

    gold: Indices
    predicted: Indices
    length: Indices
    agree: Flags
    same: Flags


def find_pairs(gold: Side, predicted: Side, lengths: Indices, settings: Settings) -> Pairs:
    """All overlapping pairs: whether they agree in position, and whether their categories are the same.

    Prompts are laid end to end with a gap between them, so that no span meets one of another case.
    """
    base = np.concatenate([[0], np.cumsum(lengths + 1)[:-1]])
    gold_base, predicted_base = base[gold.case], base[predicted.case]
    found: Overlaps = overlaps(
        gold.start + gold_base,
        gold.end + gold_base,
        predicted.start + predicted_base,
        predicted.end + predicted_base,
    )
    g, p = found.first, found.second
    union = (gold.end - gold.start)[g] + (predicted.end - predicted.start)[p] - found.length
    drift = settings.boundary_drift
    close = (np.abs(gold.start[g] - predicted.start[p]) <= drift) & (
        np.abs(gold.end[g] - predicted.end[p]) <= drift
    )
    agree = (found.length >= settings.minimum_iou * union - TOLERANCE) | close
    return Pairs(g, p, found.length, agree, gold.label[g] == predicted.label[p])


def match(pairs: Pairs, wanted: Flags, predicted: Side) -> tuple[Indices, Indices]:
    """A maximum matching of the wanted pairs: golden spans, and the predicted ones matched to them.

    Most matches, then the most characters in common, then the most equal categories, then the
    predictions that start and end first. A pair whose spans are in no other pair needs no search.
    """
    rows, columns = pairs.gold[wanted], pairs.predicted[wanted]
    alone = np.ones(len(rows), dtype=bool)
    for side in (rows, columns):
        if len(side):
            alone &= np.bincount(side)[side] == 1
    rest = np.flatnonzero(~alone)
    if not len(rest):
        return rows, columns
    lengths, same = pairs.length[wanted], pairs.same[wanted]
    candidates = (
        (row, column, (length, equal, -start, -end))
        for row, column, length, equal, start, end in zip(
            rows[rest].tolist(),
            columns[rest].tolist(),
            lengths[rest].tolist(),
            same[rest].astype(int).tolist(),
            predicted.start[columns[rest]].tolist(),
            predicted.end[columns[rest]].tolist(),
            strict=True,
        )
    )
    settled = np.array(maximum_matching(candidates), dtype=np.int64).reshape(-1, 2)
    return np.concatenate([rows[alone], settled[:, 0]]), np.concatenate([columns[alone], settled[:, 1]])


def find_fragments(pairs: Pairs, predicted: Side) -> tuple[Indices, Indices]:
    """Predicted spans that lie at least half inside the golden span they overlap most, and that span.

    Of golden spans that a prediction overlaps equally, the first one counts.
    """
    order = np.lexsort((pairs.gold, -pairs.length, pairs.predicted))
    columns = pairs.predicted[order]
    best = order[np.concatenate([[True], columns[1:] != columns[:-1]])] if len(order) else order
    sizes = (predicted.end - predicted.start)[pairs.predicted[best]]
    inside = best[2 * pairs.length[best] >= sizes]
    return pairs.gold[inside], pairs.predicted[inside]


class Outcome(NamedTuple):
    """What became of every span of a batch."""

    exact_gold: Indices
    """Golden spans matched in position and category."""
    gold: Indices
    """Golden spans matched in position, and beside them the predicted ones."""
    predicted: Indices
    fragmented: Flags
    """Golden spans that hold two or more fragments."""
    missed: Flags
    spurious: Flags
    """Predicted spans that are matched to nothing."""
    over_extracted: Flags
    """Spurious ones that are no fragment of a golden span either."""


def judge(read: Read, settings: Settings) -> Outcome:
    """Match the spans of a batch."""
    gold, predicted = read.gold, read.predicted
    pairs = find_pairs(gold, predicted, read.lengths, settings)
    exact_gold, _ = match(pairs, pairs.agree & pairs.same, predicted)
    matched_gold, matched_predicted = match(pairs, pairs.agree, predicted)
    holders, fragments = find_fragments(pairs, predicted)
    missed, spurious = np.ones(len(gold.case), dtype=bool), np.ones(len(predicted.case), dtype=bool)
    missed[matched_gold] = False
    spurious[matched_predicted] = False
    over_extracted = spurious.copy()
    over_extracted[fragments] = False
    fragmented = np.bincount(holders, minlength=len(gold.case)) >= 2
    return Outcome(exact_gold, matched_gold, matched_predicted, fragmented, missed, spurious, over_extracted)


def score(items: Sequence[Item], context: Context) -> Batch:
    """Counts, tables and diagnoses of a batch of answers."""
    settings = context.settings or Settings()
    read = read_batch(items, context.resources.categories if context.resources else frozenset())
    outcome = judge(read, settings)
    return Batch(
        _counts(read, outcome),
        list(_keyed(read, outcome)),
        list(_diagnoses(read, outcome)),
    )


def _counts(read: Read, outcome: Outcome) -> dict[str, Values]:
    gold, predicted, size = read.gold, read.predicted, len(read.readings)

    def per_case(cases: Indices) -> Values:
        return np.bincount(cases, minlength=size).astype(float)

    def told(value: Callable[[Reading], int]) -> Values:
        return np.array([value(reading) for reading in read.readings], dtype=float)

    right = gold.label[outcome.gold] == predicted.label[outcome.predicted]
    return {
        "gold": per_case(gold.case),
        "predicted": per_case(predicted.case),
        "matched": per_case(gold.case[outcome.exact_gold]),
        "positioned": per_case(gold.case[outcome.gold]),
        "categorized": per_case(gold.case[outcome.gold[right]]),
        "fragmented": per_case(gold.case[outcome.fragmented]),
        "over_extracted": per_case(predicted.case[outcome.over_extracted]),
        "misaligned": told(lambda reading: len(reading.misaligned)),
        "distinct": told(lambda reading: reading.distinct),
        "repeated": told(lambda reading: reading.entries - len(reading.spans)),
        "entries": told(lambda reading: reading.entries),
    }


def _keyed(read: Read, outcome: Outcome) -> Iterator[tuple[int, KeyedCount]]:
    """The cells of the confusion matrix and of the table of categories."""
    gold, predicted, names = read.gold, read.predicted, read.names
    missed, spurious = names.index(MISSED), names.index(SPURIOUS)
    cells = (
        (gold.case[outcome.gold], gold.label[outcome.gold], predicted.label[outcome.predicted]),
        (gold.case[outcome.missed], gold.label[outcome.missed], missed),
        (predicted.case[outcome.spurious], spurious, predicted.label[outcome.spurious]),
    )
    for case, row, column, count in _summed(cells, len(names)):
        yield case, KeyedCount(CONFUSION, names[row], names[column], count)
    matched = outcome.exact_gold
    for key, cases, labels in (
        (GOLD, gold.case, gold.label),
        (PREDICTED, predicted.case, predicted.label),
        (MATCHED, gold.case[matched], gold.label[matched]),
    ):
        for case, label, _, count in _summed(((cases, labels, 0),), len(names)):
            yield case, KeyedCount(CATEGORIES, names[label], key, count)


def _summed(
    cells: Iterable[tuple[Indices, Indices | int, Indices | int]], size: int
) -> Iterator[tuple[int, int, int, float]]:
    """How often each (case, row, column) occurs."""
    codes = np.concatenate([(case * size + row) * size + column for case, row, column in cells])
    found, counts = np.unique(codes, return_counts=True)
    cases, rest = np.divmod(found, size * size)
    rows, columns = np.divmod(rest, size)
    return zip(cases.tolist(), rows.tolist(), columns.tolist(), counts.astype(float).tolist(), strict=True)


def _diagnoses(read: Read, outcome: Outcome) -> Iterator[tuple[int, Diagnosis]]:
    gold, predicted, names = read.gold, read.predicted, read.names

    def told(side: Side, index: int) -> str:
        return f"{side.texts[index][:LONGEST_TOLD]} [{names[side.label[index]]}]"

    for index in np.flatnonzero(outcome.missed).tolist():
        yield int(gold.case[index]), Diagnosis("missed", told(gold, index), "")
    wrong = gold.label[outcome.gold] != predicted.label[outcome.predicted]
    for row, column in zip(outcome.gold[wrong].tolist(), outcome.predicted[wrong].tolist(), strict=True):
        yield int(gold.case[row]), Diagnosis("wrong_category", told(gold, row), told(predicted, column))
    for index in np.flatnonzero(outcome.fragmented).tolist():
        yield int(gold.case[index]), Diagnosis("fragmented", told(gold, index), "")
    for index in np.flatnonzero(outcome.over_extracted).tolist():
        yield int(predicted.case[index]), Diagnosis("over_extracted", "", told(predicted, index))
    for case, reading in enumerate(read.readings):
        for span in reading.misaligned:
            yield case, Diagnosis("misaligned", "", f"{span.text[:LONGEST_TOLD]} at {span.start}–{span.end}")


def errored(case: SpanCase, answer: Answer | None) -> CaseScore:
    """An error counts as if as many spans had been predicted as are golden, at least one, and all wrong."""
    labels = [normalize(span.category) for span in case.expected.spans]
    gold = float(len(labels))
    wrong = max(gold, 1.0)
    counts = {
        "gold": gold,
        "predicted": wrong,
        "matched": 0.0,
        "positioned": gold,
        "categorized": 0.0,
        "fragmented": gold,
        "over_extracted": wrong,
        "misaligned": wrong,
        "distinct": wrong,
        "repeated": wrong,
        "entries": wrong,
    }
    keyed = [
        KeyedCount(table, label, column, float(labels.count(label)))
        for label in sorted(set(labels))
        for table, column in ((CONFUSION, ERROR), (CATEGORIES, GOLD), (CATEGORIES, PREDICTED))
    ]
    return CaseScore(counts, keyed)


def f1(matched: Values, gold: Values, predicted: Values) -> Values:
    """2·matched ÷ (gold + predicted): the harmonic mean of precision and recall."""
    return divide(2 * matched, gold + predicted)


def category_rows(table: KeyedSums) -> Rows:
    """Precision, recall, F1 and support of every category: ✗ below 0.70, ⚠ below 0.80, ✓ from there on."""
    gold, predicted, matched = (table.column(key)[0] for key in (GOLD, PREDICTED, MATCHED))
    rates = {
        "precision": divide(matched, predicted),
        "recall": divide(matched, gold),
        "f1": f1(matched, gold, predicted),
    }
    return [
        {
            "category": name,
            **{
                key: None if np.isnan(values[index]) else float(values[index])
                for key, values in rates.items()
            },
            "support": int(gold[index]),
            "sign": _sign(float(rates["f1"][index])) if gold[index] else "",
        }
        for index, name in enumerate(table.row_keys)
    ]


def _sign(value: float) -> str:
    if value < PROBLEM - TOLERANCE:
        return "✗"
    return "⚠" if value < GOOD - TOLERANCE else "✓"


def problem_categories(tables: Mapping[str, Rows]) -> list[str]:
    """The categories with ✗ and their F1, the worst first."""
    bad = [row for row in tables[CATEGORIES] if row["sign"] == "✗"]
    return [
        f"{row['category']} = {number(row['f1'])}"
        for row in sorted(bad, key=lambda row: (row["f1"], row["category"]))
    ]


def case_passes(sums: Sums) -> NDArray[np.bool_]:
    """A case passes when every golden span is matched with its category and nothing is over-extracted."""
    complete: NDArray[np.bool_] = (sums["matched"] >= sums["gold"]) & (sums["over_extracted"] == 0)
    return complete


def has_spans(case: SpanCase) -> bool:
    """Whether there is anything to find in a case."""
    return bool(case.expected.spans)


METRICS: tuple[Metric, ...] = (
    Metric(
        "relaxed_f1",
        "2 · matched ÷ (golden + predicted spans); matched in position (IoU ≥ 0.4, or both boundaries within "
        "2 characters) and in category.",
        lambda sums: f1(sums["matched"], sums["gold"], sums["predicted"]),
        population=has_spans,
    ),
    Metric(
        "relaxed_precision",
        "Spans matched in position and category ÷ predicted spans.",
        ratio_of("matched", "predicted"),
        population=has_spans,
        explained_by="over_extracted",
    ),
    Metric(
        "relaxed_recall",
        "Spans matched in position and category ÷ golden spans.",
        ratio_of("matched", "gold"),
        population=has_spans,
        explained_by="missed",
    ),
    Metric(
        "taxonomy_accuracy",
        "Spans with the right category ÷ spans matched in position alone.",
        ratio_of("categorized", "positioned"),
        population=has_spans,
        explained_by="wrong_category",
    ),
    Metric(
        "fragmentation_rate",
        "Golden spans that hold two or more predicted fragments ÷ golden spans.",
        ratio_of("fragmented", "gold"),
        "lower",
        population=has_spans,
        explained_by="fragmented",
    ),
    Metric(
        "over_extraction_rate",
        "Predicted spans that neither match a golden span nor are a fragment of one ÷ predicted spans.",
        ratio_of("over_extracted", "predicted"),
        "lower",
        explained_by="over_extracted",
    ),
    Metric(
        "misaligned_rate",
        "Distinct predicted spans whose text is not what stands at their offsets ÷ distinct predicted spans.",
        ratio_of("misaligned", "distinct"),
        "lower",
        explained_by="misaligned",
    ),
    Metric(
        "duplicate_rate",
        "Predicted spans that repeat another one ÷ predicted spans as given.",
        ratio_of("repeated", "entries"),
        "lower",
    ),
)
