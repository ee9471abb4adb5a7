"""Scoring types: exactly, by category, per class, and what is confused with what."""

from collections.abc import Sequence

import msgspec
import numpy as np
from numpy.typing import NDArray

import eval_pipeline.suite as kit
from eval_pipeline.answers import Answer
from eval_pipeline.metrics.rates import ratio
from eval_pipeline.metrics.text import normalize
from eval_pipeline.suites._heritage.vocabulary import CUSTODIAN_TYPES, category_of
from eval_pipeline.suites.heritage_typing.cases import TypingCase

LETTERS = tuple(CUSTODIAN_TYPES)
_LETTER_OF = {normalize(letter): letter for letter in LETTERS}
INVALID = "invalid"
"""Whatever is none of the 19 letters: a wrong answer, and no type."""
ERROR = "error"
CONFUSION = "confusion"
TOP_CONFUSIONS = "top_confusions"
PER_TYPE = "per_type"
MOST_CONFUSIONS = 10


class Typing(msgspec.Struct, frozen=True):
    """The output contract."""

    type: str


def score(items: Sequence[kit.Item], context: kit.Context) -> kit.Batch:
    """The counts, tables and diagnoses of a batch of outputs."""
    places = {letter: number for number, letter in enumerate(LETTERS)}
    gold = [item.case.expected.type for item in items]
    predicted = [_letter(item.output.type) for item in items]
    rows = np.arange(len(items))
    marked = {name: np.zeros((len(LETTERS), len(items))) for name in ("gold", "predicted", "correct")}
    for number, (wanted, got) in enumerate(zip(gold, predicted, strict=True)):
        marked["gold"][places[wanted], number] = 1
        if got in places:
            marked["predicted"][places[got], number] = 1
    marked["correct"] = marked["gold"] * marked["predicted"]
    same = np.array(
        [category_of(one) == category_of(other) for one, other in zip(gold, predicted, strict=True)]
    )
    counts = {
        "accuracy": marked["correct"].sum(axis=0),
        "category_accuracy": same.astype(float),
        **{kit.defined(name): np.ones(len(items)) for name in ("accuracy", "category_accuracy")},
        **{
            f"{name}:{letter}": marks[place]
            for name, marks in marked.items()
            for letter, place in places.items()
        },
    }
    pairs = list(zip(rows.tolist(), gold, predicted, strict=True))
    return kit.Batch(
        counts,
        [(row, count) for row, wanted, got in pairs for count in _keyed(wanted, got)],
        [
            (row, _diagnosis(items[row].case, got, items[row].output.type))
            for row, wanted, got in pairs
            if wanted != got
        ],
    )


def _letter(text: str) -> str:
    return _LETTER_OF.get(normalize(text), INVALID)


def _keyed(gold: str, predicted: str) -> list[kit.KeyedCount]:
    rows = [kit.KeyedCount(CONFUSION, gold, predicted, 1), kit.KeyedCount(PER_TYPE, gold, "gold", 1)]
    if predicted in CUSTODIAN_TYPES:
        rows.append(kit.KeyedCount(PER_TYPE, predicted, "predicted", 1))
    if gold == predicted:
        rows.append(kit.KeyedCount(PER_TYPE, gold, "correct", 1))
    else:
        rows.append(kit.KeyedCount(TOP_CONFUSIONS, gold, predicted, 1))
    return rows


def _diagnosis(case: TypingCase, predicted: str, said: str) -> kit.Diagnosis:
    if predicted == INVALID:
        return kit.Diagnosis("invalid_type", _named(case.expected.type), said[:80])
    kind = "secondary_type" if predicted in case.expected.secondary_types else "wrong_type"
    return kit.Diagnosis(kind, _named(case.expected.type), _named(predicted))


def _named(letter: str) -> str:
    return f"{letter} ({CUSTODIAN_TYPES[letter]})"


def errored(case: TypingCase, answer: Answer | None) -> kit.CaseScore:
    """An error is a case of its type that nothing was right about."""
    gold = case.expected.type
    counts = {f"{name}:{letter}": 0.0 for name in ("gold", "predicted", "correct") for letter in LETTERS}
    return kit.CaseScore({**counts, f"gold:{gold}": 1.0}, _keyed(gold, ERROR))


def case_passes(sums: kit.Sums) -> NDArray[np.bool_]:
    """A case passes when the type is right."""
    return np.asarray(sums["accuracy"] == 1, dtype=np.bool_)


def _by_type(sums: kit.Sums, count: str) -> kit.Values:
    """`[letter, set]`."""
    return np.array([sums[f"{count}:{letter}"] for letter in LETTERS])


def _f1(sums: kit.Sums) -> tuple[kit.Values, kit.Values]:
    """F1 = 2 × correct ÷ (gold + predicted) and support, `[letter, set]`; 0 where neither occurs."""
    gold = _by_type(sums, "gold")
    return np.nan_to_num(kit.divide(2 * _by_type(sums, "correct"), gold + _by_type(sums, "predicted"))), gold


def _macro_f1(sums: kit.Sums) -> kit.Values:
    f1, support = _f1(sums)
    return kit.divide(np.where(support > 0, f1, 0.0).sum(axis=0), (support > 0).sum(axis=0))


def _macro_f1_all_types(sums: kit.Sums) -> kit.Values:
    f1, support = _f1(sums)
    return kit.divide(f1.sum(axis=0), len(LETTERS) * (support.sum(axis=0) > 0))


def _weighted_f1(sums: kit.Sums) -> kit.Values:
    f1, support = _f1(sums)
    return kit.divide((f1 * support).sum(axis=0), support.sum(axis=0))


def _hierarchy_gap(sums: kit.Sums) -> kit.Values:
    return kit.divide(sums["category_accuracy"] - sums["accuracy"], sums[kit.defined("accuracy")])


METRICS: tuple[kit.Metric, ...] = (
    kit.mean("accuracy", "Cases with the right type ÷ cases.", explained_by="wrong_type"),
    kit.Metric("macro_f1", "Mean F1 over the types that occur in the golden set.", _macro_f1),
    kit.Metric(
        "macro_f1_all_types",
        "Sum of F1 over all 19 types ÷ 19. A type that does not occur counts 0: where few occur, even a "
        "perfect answer stays low.",
        _macro_f1_all_types,
    ),
    kit.Metric("weighted_f1", "Mean F1 over types, weighted by how often each occurs.", _weighted_f1),
    kit.mean(
        "category_accuracy",
        "Cases whose type is right or of the same category (such as CULTURAL: G, L, A, M) ÷ cases.",
    ),
    kit.Metric(
        "hierarchy_gap",
        "category_accuracy − accuracy: errors that stay within a category ÷ cases.",
        _hierarchy_gap,
        "lower",
    ),
)


def confusion(table: kit.KeyedSums) -> kit.Rows:
    """One row per type that occurs: how often it was taken for each type, for none, or ended in an error."""
    columns = [*LETTERS, INVALID, *({ERROR} & set(table.column_keys))]
    counts = {name: table.column(name)[0] for name in columns}
    return [
        {"": letter, **{name: int(counts[name][table.row_keys.index(letter)]) for name in columns}}
        for letter in LETTERS
        if letter in table.row_keys
    ]


def top_confusions(table: kit.KeyedSums) -> kit.Rows:
    """The most frequent pairs of a type and what it was taken for."""
    counts = table.values[0]
    pairs = [
        (-int(counts[row, column]), true, predicted)
        for row, true in enumerate(table.row_keys)
        for column, predicted in enumerate(table.column_keys)
        if counts[row, column]
    ]
    return [
        {"true_type": true, "predicted_type": predicted, "count": -count}
        for count, true, predicted in sorted(pairs)[:MOST_CONFUSIONS]
    ]


def per_type(table: kit.KeyedSums) -> kit.Rows:
    """One row per type that occurs: how often it is right and predicted, precision, recall and F1."""
    columns = (table.column(name)[0].tolist() for name in ("gold", "predicted", "correct"))
    return [
        {
            "type": letter,
            "name": CUSTODIAN_TYPES[letter],
            "support": int(gold),
            "predicted": int(predicted),
            "correct": int(correct),
            "precision": ratio(correct, predicted),
            "recall": ratio(correct, gold),
            "f1": ratio(2 * correct, gold + predicted),
        }
        for letter, gold, predicted, correct in zip(table.row_keys, *columns, strict=True)
    ]


TABLES = {PER_TYPE: per_type, CONFUSION: confusion, TOP_CONFUSIONS: top_confusions}
