"""A toy: which animal makes a sound? With a confusion matrix, a macro average and a resource."""

import json
from collections.abc import Iterable, Mapping
from typing import Any

import msgspec
import numpy as np

import eval_pipeline.suite as kit
from eval_pipeline.golden import JsonCases


class Entry(msgspec.Struct):
    id: str
    sound: str
    animal: str


class Prepared(msgspec.Struct):
    sound: str
    hints: list[str] = []


class Guess(msgspec.Struct):
    animal: str
    hints: list[str]


def prepare(given: Prepared, parameters: Any, sounds: Mapping[str, str]) -> Prepared:
    return Prepared(given.sound, [sounds.get(given.sound, "unknown")])


def score(item: kit.Item, context: kit.Context) -> kit.CaseScore:
    gold, guess = item.case.expected, item.output.animal
    counts = {"right": float(gold == guess), "hinted": float(gold in item.output.hints)}
    wrong = [] if gold == guess else [kit.Diagnosis("confused", gold, guess)]
    return kit.CaseScore(counts, [kit.KeyedCount("confusion", gold, guess, 1)], wrong)


def macro_recall(sums: kit.Sums) -> kit.Values:
    table = sums.table("confusion")
    right = np.stack([table.column(key)[:, row] for row, key in enumerate(table.row_keys)], axis=1)
    recall = kit.divide(right, table.values.sum(axis=2))
    return np.asarray(np.nanmean(recall, axis=1), dtype=float)


def agreement(values: Any, keyed: Iterable[tuple[str, int, kit.KeyedCount]]) -> float:
    answers = {(case_id, count.column_key) for case_id, _, count in keyed}
    return len({case_id for case_id, _ in answers}) / len(answers)


SUITE = kit.Suite(
    name="toy",
    description="Animals by their sounds.",
    reader=JsonCases(Entry, lambda entry: kit.Case(entry.id, Prepared(entry.sound), entry.animal)),
    input=Prepared,
    output=Guess,
    prepare=prepare,
    carried=("hints",),
    resources=lambda folder: json.loads((folder / "sounds.json").read_text()),
    score=kit.per_case(score),
    errored=lambda case, answer: kit.CaseScore(
        {"right": 0.0, "hinted": 0.0}, [kit.KeyedCount("confusion", case.expected, "error", 1)]
    ),
    metrics=(
        kit.Metric("accuracy", "Right ÷ all.", kit.ratio_of("right", "answers"), explained_by="confused"),
        kit.Metric("hint_rate", "Hinted ÷ all.", kit.ratio_of("hinted", "answers")),
        kit.Metric("macro_recall", "Mean recall over animals.", macro_recall),
    ),
    trial_metrics=(kit.TrialMetric("agreement", "Cases with one answer ÷ cases.", agreement),),
    embedded=lambda prepared, parameters, resources: {"animal": prepared.hints[0]},
    reporting=kit.Reporting(
        tables={"confusion": kit.matrix_rows},
        confusions=("confusion",),
        problems=lambda tables: [row[""] for row in tables["confusion"] if not row.get(row[""])],
    ),
)
