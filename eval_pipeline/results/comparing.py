"""Two files of results as the sides of a comparison like any other."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import NamedTuple

import msgspec
import numpy as np

from eval_pipeline.answers import Answer, OutputsIdentity
from eval_pipeline.comparison import ChosenTest, Comparison, MetricChange, Side, compare, overlap_of
from eval_pipeline.files import content_hash
from eval_pipeline.gates import ERROR_GATE, TOLERANCE, Gate, Regression
from eval_pipeline.golden import GoldenCase
from eval_pipeline.numbers import Unit, counted, number
from eval_pipeline.problems import bad_value
from eval_pipeline.results.rows import Results, Row, as_id
from eval_pipeline.scoring import metric_means, score_cases
from eval_pipeline.suite import (
    CASE_PASS_RATE,
    ERROR_RATE,
    Batch,
    Case,
    CaseScore,
    Context,
    Direction,
    Items,
    Metric,
    Score,
    Suite,
    defined,
    mean,
)

NAME = "results"
"""What the suite is called that two files are compared in."""
FAILED, NO_SCORE = "failed", "no_score"
"""A case without a result, and one without a score."""
INVESTIGATE, BLOCK = 0.01, 0.05
"""Drops that a person looks at, and that stop a change: points, or parts of the value before."""
NOWHERE = 1.7e308
"""A bound that no value passes."""
PASSES = "said_to_pass"
TAKEN = {PASSES, "answers", "errors", "passable", "passed", "case_id", "trial", "error", "detail"} | {
    ERROR_RATE.name,
    CASE_PASS_RATE.name,
}
"""Names of other columns of scores."""


class Compared(NamedTuple):
    """A comparison, and the suite that was made for it."""

    suite: Suite
    comparison: Comparison


def compare_results(
    before: Results, after: Results, metric: str, direction: Direction, test: ChosenTest | None = None
) -> Compared:
    """Pair two files by case and say what moved, as for two versions of a prompt.

    Errors count as the worst value there can be, or as the worst there is where nothing bounds a metric.
    """
    before, after, left_out = _where_it_applies(before, after, metric)
    values = [value for each in (before, after) for value in _values(each, metric)]
    suite, how = _suite(metric, direction, values)
    cases = list(_cases(after, before))
    sides = [
        _side(suite, each, metric, cases) for each, cases in ((before, _cases(before, after)), (after, cases))
    ]
    present = sides[1].input_hashes
    shared = overlap_of(present, sides[0]).shared
    scores = sides[0].scores
    level = metric_means(suite, scores.restricted(shared)) if scores and shared else {}
    gates = {suite.headline: _gate(suite, level.get(suite.headline)), ERROR_RATE.name: ERROR_GATE}
    (comparison,) = compare(
        suite, present, lambda only=None: cases, sides[:1], sides[1], gates, Context(), test
    )
    notes = (*comparison.notes, *before.notes, *after.notes, *left_out, *how)
    changes = tuple(_without_zones(each, suite.headline) for each in comparison.metrics)
    return Compared(suite, msgspec.structs.replace(comparison, notes=notes, metrics=changes))


class Output(NamedTuple):
    """A score that was given, and whether the case passed; None where nobody says."""

    value: float
    passed: bool | None


class Scored:
    """The rows of one side, looked up by case and trial: scores for scoring, texts for examples."""

    def __init__(self, results: Results, metric: str) -> None:
        self._metric = metric
        self._rows: dict[int, dict[str, Row]] = {}
        for row in results.rows:
            self._rows.setdefault(row.trial, {})[row.case_id] = row

    @property
    def trials(self) -> tuple[int, ...]:
        """The trials that any row is of, in order."""
        return tuple(sorted(self._rows))

    def get(self, case_id: str, trial: int, input_hash: str) -> Answer | None:
        """What was answered, or why that has no score; None where there is no row."""
        row = self._rows[trial].get(case_id)
        if row is None:
            return None
        if row.error:
            return Answer(case_id, trial, error=FAILED, detail=row.error)
        if _value(row, self._metric) is None:
            return Answer(case_id, trial, error=NO_SCORE, detail=f"{self._metric} is missing")
        return Answer(case_id, trial, row.output)

    def outputs(self, case_ids: Sequence[str], trial: int) -> list[Output | None]:
        """The score of each case; None where `get` says why there is none."""
        return [self._output(self._rows[trial].get(case_id)) for case_id in case_ids]

    def _output(self, row: Row | None) -> Output | None:
        value = _value(row, self._metric) if row else None
        return None if row is None or value is None else Output(value, row.passed)


def _value(row: Row, metric: str) -> float | None:
    value = row.scores.get(metric)
    return value if isinstance(value, float) and not row.error else None


def _values(results: Results, metric: str) -> Iterator[float]:
    yield from (value for row in results.rows if (value := _value(row, metric)) is not None)


def _where_it_applies(before: Results, after: Results, metric: str) -> tuple[Results, Results, list[str]]:
    """Both sides without the cases that nobody measured by this metric, such as tests without its assertion.

    Where one side has a value, the other must have one, too; and a null is no reason to be left out.
    """
    rows = [*before.rows, *after.rows]
    without = {row.case_id for row in rows if metric not in row.scores and not row.error}
    left_out = without - {row.case_id for row in rows if metric in row.scores}
    before, after = (
        replace(each, rows=[row for row in each.rows if row.case_id not in left_out])
        for each in (before, after)
    )
    if not any(True for each in (before, after) for _ in _values(each, metric)):
        raise bad_value("--metric", f"no case has a value of {as_id(metric)}", "Name another.")
    for each in (before, after):
        if not each.rows:
            raise bad_value("--metric", f"no case of {each.label} has {as_id(metric)}", "Name another.")
    cases = counted(len(left_out), "case")
    return before, after, [f"{cases} without {as_id(metric)} on either side left out."] if left_out else []


def _suite(metric: str, direction: Direction, values: Sequence[float]) -> tuple[Suite, list[str]]:
    """A suite of one metric, whose answers are scores already; and what to know about its scale."""
    name = re.sub(r"[^A-Za-z0-9_@]", "_", metric)
    name = f"{name}_score" if name in TAKEN else name
    least, most = min(values), max(values)
    fraction = least >= 0.0 and most <= 1.0
    higher = direction == "higher"
    worst = 0.0 if fraction and higher else 1.0 if fraction else min(least, 0.0) if higher else max(most, 0.0)
    unit: Unit = "fraction" if fraction else "number"
    measured = mean(name, f"Mean of {metric} over cases.", on_error=worst, direction=direction, unit=unit)
    note = (
        f"{name} is not between 0 and 1: drops count in percent of the value before, "
        f"and an error as {number(worst, unit)}."
    )
    suite = Suite(
        NAME,
        output=Output,
        score=_score(measured),
        metrics=(measured,),
        case_passes=lambda sums: sums[PASSES] > 0,
        errored=lambda case, answer: CaseScore({PASSES: 0.0}),
    )
    return suite, [] if fraction else [note]


def _score(metric: Metric) -> Score:
    """Takes scores as they were given. A case passes that its file says so of, else one that is perfect.

    Where nothing bounds a metric nothing is perfect: then every case passes that has a value.
    """
    perfect = None if metric.unit != "fraction" else 1.0 if metric.direction == "higher" else 0.0

    def score(items: Items, context: Context) -> Batch:
        values = np.array([each.value for each in items.outputs])
        by_value = np.ones(len(values)) if perfect is None else np.abs(values - perfect) <= TOLERANCE
        given = [each.passed for each in items.outputs]
        passed = [own if said is None else said for own, said in zip(by_value, given, strict=True)]
        return Batch(
            {
                metric.name: values,
                defined(metric.name): np.ones(len(values)),
                PASSES: np.array(passed, dtype=float),
            }
        )

    return score


def _cases(results: Results, other: Results) -> Iterator[GoldenCase]:
    """The cases of a side; whether they ask the same is known where one program wrote both files."""
    theirs = {row.case_id: row.input_hash for row in other.rows} if results.kind == other.kind else {}
    label = results.label
    for row in {row.case_id: row for row in reversed(results.rows)}.values():
        hash_ = row.input_hash if theirs.get(row.case_id) else ""
        case = Case(row.case_id, row.input, row.expected)
        yield GoldenCase(case, label, row.place, hash_, hash_)


def _side(suite: Suite, results: Results, metric: str, cases: Iterable[GoldenCase]) -> Side:
    answers = Scored(results, metric)
    known = list(cases)
    content = [(row.case_id, row.trial, _value(row, metric)) for row in results.rows]
    identity = OutputsIdentity(
        suite=NAME,
        version=results.label,
        prompt_hash="",
        inputs_hash=content_hash(sorted(content, key=lambda each: each[:2])),
        engine=results.kind,
        model=results.model,
        sample="",
        trials=len(answers.trials),
    )
    scores = score_cases(suite, known, answers, Context(), keep_diagnoses=False)
    hashes = {each.case.id: each.input_hash for each in known}
    return Side(results.label, identity, answers, hashes, "", scores)


def _gate(suite: Suite, before: float | None) -> Gate:
    """A gate without zones: nobody said which values are good, but drops matter all the same."""
    metric = suite.metric(suite.headline)
    scale = 1.0 if metric.unit == "fraction" else abs(before or 0.0)
    drops = Regression(investigate=INVESTIGATE * scale, block=BLOCK * scale)
    worse, fine, bound = ("<", ">=", -NOWHERE) if metric.direction == "higher" else (">", "<=", NOWHERE)
    return Gate(fail=f"{worse} {bound}", passes=f"{fine} {bound}", regression=drops)


def _without_zones(change: MetricChange, metric: str) -> MetricChange:
    if change.metric != metric:
        return change
    return msgspec.structs.replace(change, zone_before=None, zone_after=None)
