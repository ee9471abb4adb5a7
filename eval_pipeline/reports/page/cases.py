"""Every case as data for the page's script: an index of all of them, and their texts in parts."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, replace
from typing import Any

from eval_pipeline.answers import Answer
from eval_pipeline.comparison import Comparison
from eval_pipeline.numbers import NOTHING, Unit, change, number
from eval_pipeline.reports.by_case import CaseScores, TrialScores, by_case
from eval_pipeline.reports.fields import fields_of, place_of
from eval_pipeline.reports.page.shell import Packed, packed
from eval_pipeline.reports.pointing import pointing_of
from eval_pipeline.reports.tables import units
from eval_pipeline.scoring import Scores, Summary, case_results
from eval_pipeline.stages import Exhibits, Shown
from eval_pipeline.suite import Case, Diagnosis, Suite, all_metrics, suite_code
from eval_pipeline.suite.pointing import Pointer

PART = 100
"""So many cases stand in a part, which the page reads when one of them is looked at."""
MOST_VALUES = 60
"""An attribute of more values is a name, not a group."""
WIDE = "\U00010000"
"""From here on a character takes two places in a text of the browser."""


@dataclass(frozen=True)
class CaseData:
    """The data nodes of a page: `index`, and the parts by number."""

    index: dict[str, Any]
    parts: dict[str, Packed]


def case_data(
    suite: Suite,
    summary: Summary,
    exhibits: Exhibits,
    comparisons: Sequence[Comparison] = (),
    *,
    texts: bool = True,
    only: Set[str] | None = None,
) -> CaseData:
    """Everything that can be looked at, case by case; without texts only values, kinds and errors.

    With `only` it is the cases of these ids.
    """
    writer = _Writer(suite, exhibits if only is None else _narrowed(exhibits, only), texts)
    ids: list[str] = []
    parts: dict[str, Packed] = {}
    waiting: list[dict[str, Any]] = []
    for batch in exhibits.batches(only):
        for shown in batch:
            ids.append(shown.golden.case.id)
            waiting.append(writer.case(shown))
            if len(waiting) == PART:
                parts[f"part-{len(parts)}"] = packed(waiting)
                waiting = []
    if waiting:
        parts[f"part-{len(parts)}"] = packed(waiting)
    return CaseData(_index(suite, summary, writer, ids, comparisons, texts), parts)


def _narrowed(exhibits: Exhibits, only: Set[str]) -> Exhibits:
    """The same with the scores of some cases alone."""
    return replace(
        exhibits, all=tuple(replace(each, scores=each.scores.restricted(only)) for each in exhibits.all)
    )


class _Writer:
    """Turns cases into what the page shows of them."""

    def __init__(self, suite: Suite, exhibits: Exhibits, texts: bool) -> None:
        self._suite = suite
        self.exhibits = exhibits
        self.metrics = [metric.name for metric in all_metrics(suite)]
        self.unit = units(suite)
        self.scores = [by_case(suite, each.scores) for each in exhibits.all]
        self.kinds = sorted({kind for each in self.scores for case in each.values() for kind in case.kinds})
        self._kind_numbers = {kind: number_ for number_, kind in enumerate(self.kinds)}
        self._pointing = pointing_of(suite)
        self._texts = texts

    def case(self, shown: Shown) -> dict[str, Any]:
        """What is shown of a case when it is looked at."""
        case = shown.golden.case
        inputs = fields_of(case.input)
        own = self.scores[0].get(case.id)
        with suite_code(self._suite.name, "pointing", case.id):
            sides = [
                self._side(place, case, answers, own, dict(inputs))
                for place, answers in enumerate(shown.answers)
            ]
        written = {"prompt": shown.prompt, "input": inputs, "expected": fields_of(case.expected)}
        where = place_of(self._suite, shown.golden)
        return {**(written if self._texts else {}), "where": where, "sides": sides}

    def _side(
        self,
        place: int,
        case: Case[Any, Any],
        answers: Sequence[Answer | None],
        own: CaseScores | None,
        inputs: Mapping[str, str],
    ) -> dict[str, Any]:
        """One version's answers to a case, trial by trial, with what they earned."""
        absent = (self.exhibits.all[place].absent or {}).get(case.id)
        if absent:
            return {"absent": absent}
        scores = self.scores[place].get(case.id)
        of_trial = {each.trial: each for each in scores.trials} if scores else {}
        trials = self.exhibits.all[place].answers.trials
        return {
            "trials": [
                self._trial(trial, answer, of_trial.get(trial), case, inputs)
                for trial, answer in zip(trials, answers, strict=True)
            ],
            "values": self._shown(scores),
            **({"changes": self._changes(scores, own)} if place else {}),
        }

    def _trial(
        self,
        trial: int,
        answer: Answer | None,
        scores: TrialScores | None,
        case: Case[Any, Any],
        inputs: Mapping[str, str],
    ) -> dict[str, Any]:
        record: dict[str, Any] = {"trial": trial, **_measures(answer)}
        if self._texts and answer is not None and answer.text is not None:
            record["text"] = answer.text
        if scores is not None:
            record["values"] = [number(scores.metrics[name], self.unit[name]) for name in self.metrics]
            record["passed"] = scores.passed
            if scores.error:
                record["error"] = scores.error
                record["detail"] = scores.detail if self._texts else ""
            record["diagnoses"] = [
                self._diagnosis(each, case, inputs) for each in scores.diagnoses if each.kind != "error"
            ]
        return record

    def _diagnosis(
        self, diagnosis: Diagnosis, case: Case[Any, Any], inputs: Mapping[str, str]
    ) -> dict[str, Any]:
        record: dict[str, Any] = {"kind": self._kind_numbers[diagnosis.kind]}
        if not self._texts:
            return record
        for name, text in (("expected", diagnosis.expected), ("got", diagnosis.got)):
            if text:
                record[name] = text
                record[f"{name}_at"] = [_place(each, inputs) for each in self._pointing(text, case)]
        return record

    def _shown(self, scores: CaseScores | None) -> list[str]:
        return [number(scores.value(name), self.unit[name]) if scores else NOTHING for name in self.metrics]

    def _changes(self, before: CaseScores | None, after: CaseScores | None) -> list[str]:
        def difference(metric: str) -> float | None:
            old, new = (each.value(metric) if each else None for each in (before, after))
            return None if old is None or new is None else new - old

        return [change(difference(name), self.unit[name]) for name in self.metrics]


def _measures(answer: Answer | None) -> dict[str, str]:
    """What an answer took, as far as anybody measured."""
    if answer is None:
        return {}
    of: tuple[tuple[str, float | None, Unit], ...] = (
        ("latency", answer.latency_ms, "milliseconds"),
        ("cost", answer.cost_usd or None, "dollars"),
        ("tokens", answer.token_count, "number"),
    )
    return {name: number(value, unit) for name, value, unit in of if value is not None}


def _place(pointer: Pointer, inputs: Mapping[str, str]) -> str | dict[str, Any]:
    """Words, or more about where they stand; places are counted as a browser does."""
    if pointer.beside:
        return {"words": pointer.words, "beside": pointer.beside}
    text = inputs.get(pointer.field, "")
    if not pointer.field or not 0 <= pointer.start < pointer.end <= len(text):
        return pointer.words
    places = (_units(text[: pointer.start]), _units(text[: pointer.end]))
    return {"words": pointer.words, "field": pointer.field, "at": places}


def _units(text: str) -> int:
    return len(text) + sum(character >= WIDE for character in text)


def _index(
    suite: Suite,
    summary: Summary,
    writer: _Writer,
    ids: Sequence[str],
    comparisons: Sequence[Comparison],
    texts: bool,
) -> dict[str, Any]:
    """What is known of all cases, by columns: what the page filters and sorts by."""
    own = writer.scores[0]
    scored = [own.get(case_id) for case_id in ids]
    gates = {gate.metric: gate for gate in summary.gates}
    gated = [name for name in writer.metrics if name in gates or name == suite.headline]
    order = {each.case_id: rank for rank, each in enumerate(case_results(suite, writer.exhibits.own.scores))}
    held = summary.held_out
    return {
        "suite": suite.name,
        "headline": suite.headline,
        "texts": texts,
        "part": PART,
        "kinds": writer.kinds,
        "metrics": [
            {
                "name": each.name,
                "description": each.description,
                "better": each.direction,
                "kinds": each.explained_by.split(),
            }
            for each in all_metrics(suite)
        ],
        "exhibits": [{"label": each.label, "role": each.role} for each in writer.exhibits.all],
        "comparisons": [{"label": each.before, "role": each.role} for each in comparisons],
        "id": ids,
        "rank": [order.get(case_id, len(order)) for case_id in ids],
        "passed": [_passed(each) for each in scored],
        "failed": [int(each is None or each.failed) for each in scored],
        "differs": [int(each is not None and each.differs) for each in scored],
        "outside": [
            int(bool(held and each and each.attributes.get(held.attribute, "") != held.value))
            for each in scored
        ],
        "wrong": [[writer.kinds.index(kind) for kind in each.kinds] if each else [] for each in scored],
        "values": {name: [each and _rounded(each.value(name)) for each in scored] for name in gated},
        "shown": {
            name: [number(each.value(name) if each else None, writer.unit[name]) for each in scored]
            for name in gated
        },
        "groups": dict(_groups(scored)),
        "moved": [_moved(each, ids) for each in comparisons],
        "cells": dict(_cells(suite, summary.rests_on(writer.exhibits.own.scores), ids)),
    }


def _rounded(value: float | None) -> float | None:
    """A value to sort by; what people read is in `shown`."""
    return None if value is None else round(value, 9)


def _passed(case: CaseScores | None) -> str:
    if case is None or case.passed is None:
        return ""
    return f"{case.passed:,} of {len(case.trials):,}"


def _groups(scored: Sequence[CaseScores | None]) -> Iterator[tuple[str, dict[str, Any]]]:
    """Attributes with few enough values to choose from: the values, and the number of each case's own."""
    axes = sorted({axis for case in scored if case for axis in case.attributes})
    for axis in axes:
        own = [case.attributes.get(axis, "") if case else "" for case in scored]
        values = sorted(set(own))
        if 1 < len(values) <= MOST_VALUES:
            numbers = {value: place for place, value in enumerate(values)}
            yield (
                axis,
                {"values": [value or NOTHING for value in values], "of": [numbers[each] for each in own]},
            )


def _moved(comparison: Comparison, ids: Sequence[str]) -> dict[str, Any]:
    """By the headline: which cases got worse (−1) and better (1), and by how much."""
    changes = {each.case_id: (-1, each) for each in comparison.regressed}
    changes |= {each.case_id: (1, each) for each in comparison.improved}
    found = [changes.get(case_id) for case_id in ids]
    return {
        "way": [each[0] if each else 0 for each in found],
        "by": [_rounded(each[1].difference) if each else 0 for each in found],
        "shown": [change(each[1].difference, comparison.unit) if each else "" for each in found],
    }


def _cells(suite: Suite, scores: Scores, ids: Sequence[str]) -> Iterator[tuple[str, dict[str, list[int]]]]:
    """The cells of confusion matrices: which cases were counted in them, in any trial."""
    places = {case_id: place for place, case_id in enumerate(ids)}
    for name in suite.reporting.confusions:
        cells: dict[str, dict[int, None]] = {}
        for row in scores.keyed.to_pylist():
            if row["table"] == name and row["case_id"] in places:
                cells.setdefault(cell_name(row["row_key"], row["column_key"]), {})[places[row["case_id"]]] = (
                    None
                )
        yield name, {cell: sorted(cases) for cell, cases in cells.items()}


def cell_name(row: str, column: str) -> str:
    """A cell of a confusion matrix as links name it."""
    return f"{row} → {column}"
