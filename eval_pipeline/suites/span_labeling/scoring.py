"""Scoring labelled spans: relaxed positions, categories, fragments, and what was missed or made up.

A batch is scored as columns: only spans that could be matched in more than one way need a matching.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import partial
from typing import Annotated

import msgspec
import numpy as np
from numpy.typing import NDArray

import eval_pipeline.suite as kit
from eval_pipeline.answers import Answer
from eval_pipeline.metrics.rates import ratio
from eval_pipeline.metrics.text import normalize
from eval_pipeline.numbers import number
from eval_pipeline.suites.span_labeling.cases import Span, SpanCase
from eval_pipeline.suites.span_labeling.matching import TOLERANCE, Outcome, match_spans
from eval_pipeline.suites.span_labeling.reading import Indices, Reading, Side, read_batch
from eval_pipeline.suites.span_labeling.resources import ERROR, MISSED, RESERVED, SPURIOUS

CONFUSION, CATEGORIES = "confusion", "categories"
MATCHED, EXTRA = "matched", "extra"
GOOD, PROBLEM = 0.80, 0.70
"""An F1 from which a category is fine, and one below which it is a problem."""
LONGEST_TOLD = 120
MOST_SPANS = 2000
"""More spans than that are no answer."""


class Labels(msgspec.Struct, frozen=True):
    """The output contract."""

    spans: Annotated[list[Span], msgspec.Meta(max_length=MOST_SPANS)]


class Settings(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """When two spans agree in position."""

    minimum_iou: Annotated[float, msgspec.Meta(gt=0, le=1)] = 0.4
    """Characters in both ÷ characters in either, from which on they agree."""
    boundary_drift: Annotated[int, msgspec.Meta(ge=0, le=1000)] = 2
    """Overlapping spans also agree when neither boundary is off by more characters than this."""


def score(items: Sequence[kit.Item], context: kit.Context) -> kit.Batch:
    """Counts, tables and diagnoses of a batch of answers."""
    settings = context.settings or Settings()
    read = read_batch(items, context.resources.categories if context.resources else frozenset())
    outcome = match_spans(read, settings.minimum_iou, settings.boundary_drift)
    return kit.Batch(_counts(read, outcome), list(_keyed(read, outcome)), list(_diagnoses(read, outcome)))


def _counts(read: Reading, outcome: Outcome) -> dict[str, kit.Values]:
    gold, predicted, size = read.gold, read.predicted, len(read.base)

    def per_case(cases: Indices) -> kit.Values:
        return np.bincount(cases, minlength=size).astype(float)

    right = gold.label[outcome.gold] == predicted.label[outcome.predicted]
    return {
        "gold": per_case(gold.case),
        "predicted": per_case(predicted.case),
        "matched": per_case(gold.case[outcome.exact]),
        "positioned": per_case(gold.case[outcome.gold]),
        "categorized": per_case(gold.case[outcome.gold[right]]),
        "fragmented": per_case(gold.case[outcome.fragmented]),
        "over_extracted": per_case(predicted.case[outcome.over_extracted]),
        "misaligned": per_case(np.array([stray.case for stray in read.misaligned], dtype=np.int64)),
        "distinct": read.distinct.astype(float),
        "repeated": read.entries - per_case(predicted.case),
        "entries": read.entries.astype(float),
    }


def _keyed(read: Reading, outcome: Outcome) -> Iterator[tuple[int, kit.KeyedCount]]:
    """The cells of the confusion matrix and of the table of categories."""
    gold, predicted, names = read.gold, read.predicted, read.names
    missed, spurious = names.index(MISSED), names.index(SPURIOUS)
    yield from _summed(
        CONFUSION,
        names,
        (
            (gold.case[outcome.gold], gold.label[outcome.gold], predicted.label[outcome.predicted]),
            (gold.case[outcome.missed], gold.label[outcome.missed], missed),
            (predicted.case[outcome.spurious], spurious, predicted.label[outcome.spurious]),
        ),
        names,
    )
    sides = ((gold, outcome.exact), (gold, ~outcome.exact), (predicted, ~outcome.exact_predicted))
    cells = ((side.case[chosen], side.label[chosen], key) for key, (side, chosen) in enumerate(sides))
    yield from _summed(CATEGORIES, names, cells, (MATCHED, MISSED, EXTRA))


def _summed(
    table: str,
    rows: Sequence[str],
    counted: Iterable[tuple[Indices, Indices | int, Indices | int]],
    columns: Sequence[str],
) -> Iterator[tuple[int, kit.KeyedCount]]:
    """How often each cell (case, row, column) occurs."""
    height, width = len(rows), len(columns)
    codes = np.concatenate([(case * height + row) * width + column for case, row, column in counted])
    result, counts = np.unique(codes, return_counts=True)
    cases, cells = np.divmod(result, height * width)
    # The same few cells come back in every case: each is made once.
    kinds, which = np.unique(cells * (counts.max(initial=0) + 1) + counts, return_inverse=True)
    places, values = np.divmod(kinds, counts.max(initial=0) + 1)
    keyed = [
        kit.KeyedCount(table, rows[place // width], columns[place % width], float(value))
        for place, value in zip(places.tolist(), values.tolist(), strict=True)
    ]
    return zip(cases.tolist(), [keyed[at] for at in which.tolist()], strict=True)


def _diagnoses(read: Reading, outcome: Outcome) -> Iterator[tuple[int, kit.Diagnosis]]:
    gold, predicted = read.gold, read.predicted
    wrong = gold.label[outcome.gold] != predicted.label[outcome.predicted]
    for case, message in _told(gold, np.flatnonzero(outcome.missed), read.names):
        yield case, kit.Diagnosis("missed", message, "")
    for (case, message), (_, got) in zip(
        _told(gold, outcome.gold[wrong], read.names),
        _told(predicted, outcome.predicted[wrong], read.names),
        strict=True,
    ):
        yield case, kit.Diagnosis("wrong_category", message, got)
    for case, message in _told(gold, np.flatnonzero(outcome.fragmented), read.names):
        yield case, kit.Diagnosis("fragmented", message, "")
    for case, message in _told(predicted, np.flatnonzero(outcome.over_extracted), read.names):
        yield case, kit.Diagnosis("over_extracted", "", message)
    for stray in read.misaligned:
        message = f"{stray.text[:LONGEST_TOLD]} at {stray.start}–{stray.end}"
        yield stray.case, kit.Diagnosis("misaligned", "", message)


def _told(side: Side, chosen: Indices, names: Sequence[str]) -> Iterator[tuple[int, str]]:
    """The case of some spans, and what they are: `red dress [subject.wardrobe]`."""
    for case, label, given in zip(
        side.case[chosen].tolist(), side.label[chosen].tolist(), side.given[chosen].tolist(), strict=True
    ):
        yield case, f"{side.listed[given].text[:LONGEST_TOLD]} [{names[label]}]"


def errored(case: SpanCase, answer: Answer | None) -> kit.CaseScore:
    """An error counts as if as many spans had been predicted as are golden, at least one, and all wrong."""
    labels = [normalize(span.category) for span in case.expected.spans]
    gold = float(len(labels))
    wrong = max(gold, 1.0)
    counts = {
        **dict.fromkeys(("gold", "positioned", "fragmented"), gold),
        **dict.fromkeys(
            ("predicted", "over_extracted", "misaligned", "distinct", "repeated", "entries"), wrong
        ),
        **dict.fromkeys(("matched", "categorized"), 0.0),
    }
    keyed = [
        kit.KeyedCount(table, label, column, float(labels.count(label)))
        for label in sorted(set(labels))
        for table, column in ((CONFUSION, ERROR), (CATEGORIES, MISSED), (CATEGORIES, EXTRA))
    ]
    return kit.CaseScore(counts, keyed)


def confusion_rows(table: kit.KeyedSums) -> kit.Rows:
    """Golden categories down, predicted ones across; what is no category comes last.

    Golden spans that nothing matches stand in the column `missed`, predictions that match nothing in
    the row `spurious`, unknown categories in the column `invalid`, errored cases in the column `error`.
    """

    def places(keys: Sequence[str]) -> list[int]:
        return sorted(range(len(keys)), key=lambda at: (keys[at] in RESERVED, keys[at]))

    cells = table.values[0].astype(int)
    return [
        {
            "": table.row_keys[row],
            **{table.column_keys[at]: int(cells[row, at]) for at in places(table.column_keys)},
        }
        for row in places(table.row_keys)
    ]


def category_rows(table: kit.KeyedSums) -> kit.Rows:
    """Precision, recall, F1 and support of every category: ✗ below 0.70, ⚠ below 0.80, ✓ from there on."""
    columns = (table.column(key)[0].tolist() for key in (MATCHED, MISSED, EXTRA))
    return [
        {
            "category": name,
            "precision": ratio(matched, matched + extra),
            "recall": ratio(matched, matched + missed),
            "f1": (f1 := ratio(2 * matched, 2 * matched + missed + extra)),
            "support": int(matched + missed),
            "sign": _sign(f1) if f1 is not None and matched + missed else "",
        }
        for name, matched, missed, extra in zip(table.row_keys, *columns, strict=True)
    ]


def _sign(value: float) -> str:
    if value < PROBLEM - TOLERANCE:
        return "✗"
    return "⚠" if value < GOOD - TOLERANCE else "✓"


def problem_categories(tables: Mapping[str, kit.Rows]) -> list[str]:
    """The categories with ✗ and their F1, the worst first."""
    bad = [row for row in tables[CATEGORIES] if row["sign"] == "✗"]
    return [
        f"{row['category']} = {number(row['f1'])}"
        for row in sorted(bad, key=lambda row: (row["f1"], row["category"]))
    ]


def case_passes(sums: kit.Sums) -> NDArray[np.bool_]:
    """A case passes when every golden span is matched with its category, whole, and nothing else is there."""
    nothing_else = (sums["over_extracted"] == 0) & (sums["fragmented"] == 0)
    return np.asarray((sums["matched"] >= sums["gold"]) & nothing_else, dtype=np.bool_)


def has_spans(case: SpanCase) -> bool:
    """Whether there is anything to find in a case."""
    return bool(case.expected.spans)


of_spans = partial(kit.Metric, population=has_spans)

METRICS: tuple[kit.Metric, ...] = (
    of_spans(
        "relaxed_f1",
        "2 · matched ÷ (golden + predicted spans); matched in position (IoU ≥ 0.4, or both boundaries within "
        "2 characters) and in category.",
        lambda sums: kit.divide(2 * sums["matched"], sums["gold"] + sums["predicted"]),
    ),
    of_spans(
        "relaxed_precision",
        "Spans matched in position and category ÷ predicted spans.",
        kit.ratio_of("matched", "predicted"),
        explained_by="over_extracted",
    ),
    of_spans(
        "relaxed_recall",
        "Spans matched in position and category ÷ golden spans.",
        kit.ratio_of("matched", "gold"),
        explained_by="missed",
    ),
    of_spans(
        "taxonomy_accuracy",
        "Spans with the right category ÷ spans matched in position alone.",
        kit.ratio_of("categorized", "positioned"),
        explained_by="wrong_category",
    ),
    of_spans(
        "fragmentation_rate",
        "Golden spans that hold two or more predicted fragments ÷ golden spans.",
        kit.ratio_of("fragmented", "gold"),
        "lower",
        explained_by="fragmented",
    ),
    kit.Metric(
        "over_extraction_rate",
        "Predicted spans that neither match a golden span nor are a fragment of one ÷ predicted spans.",
        kit.ratio_of("over_extracted", "predicted"),
        "lower",
        explained_by="over_extracted",
    ),
    kit.Metric(
        "misaligned_rate",
        "Distinct predicted spans whose text is not what stands at their offsets ÷ distinct predicted spans.",
        kit.ratio_of("misaligned", "distinct"),
        "lower",
        explained_by="misaligned",
    ),
    kit.Metric(
        "duplicate_rate",
        "Predicted spans that repeat another one ÷ predicted spans as given.",
        kit.ratio_of("repeated", "entries"),
        "lower",
    ),
)
