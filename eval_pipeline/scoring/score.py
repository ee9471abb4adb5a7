"""From cases and answers to counts: parsing, scoring in batches, errors at their worst."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import islice
from typing import Any, NamedTuple

import numpy as np

from eval_pipeline import suite as kit
from eval_pipeline.answers import Answer, AnswerSource, Failure, OutputSource, parse
from eval_pipeline.golden import GoldenCase
from eval_pipeline.problems import BadInput, bad_value
from eval_pipeline.scoring.scores import Scores
from eval_pipeline.scoring.tables import TableBuilder

BATCH = 500
POPULATION = "population:"


def score_cases(
    suite: kit.Suite,
    cases: Iterable[GoldenCase],
    answers: AnswerSource,
    context: kit.Context,
    *,
    keep_diagnoses: bool = True,
) -> Scores:
    """Score every case in every trial that `answers` has, in batches: memory does not grow with texts."""

    def batches() -> Iterator[_Batch]:
        iterator = iter(cases)
        while batch := list(islice(iterator, BATCH)):
            yield _Batch([each.case for each in batch], [each.input_hash for each in batch])

    return _score(suite, batches(), answers, context, keep_diagnoses)


def score_blocks(
    suite: kit.Suite,
    blocks: Iterable[Sequence[kit.Case[Any, Any]]],
    answers: AnswerSource,
    context: kit.Context,
    *,
    keep_diagnoses: bool = True,
) -> Scores:
    """The same for cases that come many at a time, and for answers that do not say to which input."""

    def batches() -> Iterator[_Batch]:
        waiting: list[kit.Case[Any, Any]] = []
        for block in blocks:
            waiting += block
            if len(waiting) >= BATCH:
                yield _Batch(waiting, [""] * len(waiting))
                waiting = []
        if waiting:
            yield _Batch(waiting, [""] * len(waiting))

    return _score(suite, batches(), answers, context, keep_diagnoses)


class _Batch(NamedTuple):
    """Some cases, and the hashes of their inputs."""

    cases: Sequence[kit.Case[Any, Any]]
    input_hashes: Sequence[str]

    def selected(self, selects: Callable[[kit.Case[Any, Any], Any], bool], settings: Any) -> _Batch:
        """Those of the cases that scoring uses."""
        kept = [index for index, case in enumerate(self.cases) if selects(case, settings)]
        return _Batch([self.cases[index] for index in kept], [self.input_hashes[index] for index in kept])


def _score(
    suite: kit.Suite,
    batches: Iterable[_Batch],
    answers: AnswerSource,
    context: kit.Context,
    keep_diagnoses: bool,
) -> Scores:
    table = TableBuilder(keep_diagnoses)
    trials = answers.trials
    with kit.suite_code(suite.name):
        if suite.selects:
            batches = (batch.selected(suite.selects, context.settings) for batch in batches)
        if context.judge:
            batches = list(batches)  # everything is asked in one go, so that a budget holds for all of it
            context = replace(context, verdicts=context.judge.verdicts(_usable(suite, batches, answers)))
        for batch in batches:
            for trial in trials:
                _score_batch(suite, batch, trial, answers, context, table)
    if table.empty:
        raise bad_value("settings", "they select no case", "Choose others, or add cases to the golden set.")
    return table.build()


def _usable(suite: kit.Suite, batches: Iterable[_Batch], answers: AnswerSource) -> Iterator[kit.Item]:
    for batch in batches:
        for trial in answers.trials:
            yield from _parsed(suite, batch, trial, answers)[0]


def _score_batch(
    suite: kit.Suite,
    batch: _Batch,
    trial: int,
    answers: AnswerSource,
    context: kit.Context,
    table: TableBuilder,
) -> None:
    items, failed = _parsed(suite, batch, trial, answers)
    if items:
        _add_scored(suite, items, trial, context, table)
    if failed:
        _add_failed(suite, failed, trial, context, table)


def _add_scored(
    suite: kit.Suite, items: kit.Items, trial: int, context: kit.Context, table: TableBuilder
) -> None:
    if suite.annotate:
        with kit.suite_code(suite.name, "annotate"):
            context = replace(context, annotations=suite.annotate(items, context))
    scored = _scored(suite, items, context)
    ruled = _ruled(suite.judge, items, context) if suite.judge else kit.Batch({})
    counts = {
        **scored.counts,
        **ruled.counts,
        **_populations(suite, items.cases, context),
        "answers": np.ones(len(items)),
        "errors": np.zeros(len(items)),
        "passable": _members(suite.passable, items.cases, context),
    }
    with kit.suite_code(suite.name, "case_passes"):
        counts["passed"] = suite.passes(kit.Sums(counts, {})) * counts["passable"]
    table.add(items.cases, trial, None, counts)
    table.count(
        (items.cases[index].id, trial, row.table, row.row_key, row.column_key, row.value)
        for index, row in scored.keyed
    )
    for diagnoses in (scored.diagnoses, ruled.diagnoses):
        table.diagnose((items.cases[index].id, trial, *row) for index, row in diagnoses)


def _scored(suite: kit.Suite, items: kit.Items, context: kit.Context) -> kit.Batch:
    """What the suite's code makes of some items. Where it raises, the first item it raises for is named."""

    def score(some: kit.Items) -> kit.Batch:
        scored = suite.score(some, context)
        lengths = {name: len(column) for name, column in scored.counts.items() if len(column) != len(some)}
        if lengths:
            raise ValueError(f"{len(some)} answers were scored, but the columns have {lengths} values")
        return scored

    try:
        with kit.suite_code(suite.name, "score"):
            return score(items)
    except BadInput as bad:
        for item in items if bad.__cause__ else ():
            try:
                with kit.suite_code(suite.name, "score", item.case.id):
                    score(kit.Items.of([item]))
            except BadInput as alone:
                if type(alone.__cause__) is type(bad.__cause__):
                    raise
        raise


def _ruled(judge: kit.Judge, items: kit.Items, context: kit.Context) -> kit.Batch:
    """What each answer earns by the judge's verdict: the worst without one, nothing where it is off."""
    off = kit.CaseScore(kit.mean_counts({metric.name: None for metric in judge.metrics}))
    worst = kit.mean_counts({metric.name: metric.on_error for metric in judge.metrics})

    def rule(item: kit.Item, context: kit.Context) -> kit.CaseScore:
        if context.judge is None:
            return off
        result = context.verdicts[item.case.id, item.trial]
        if isinstance(result, Failure):
            return kit.CaseScore(worst, diagnoses=[kit.Diagnosis(kit.UNJUDGED, result.kind, result.detail)])
        scored = judge.score(result.output)
        return replace(scored, counts={**scored.counts, **kit.mean_counts({kit.UNJUDGED_RATE.name: 0.0})})

    return kit.per_case(rule)(items, context)


_Failed = tuple[kit.Case[Any, Any], Answer | None, Failure]


def _add_failed(
    suite: kit.Suite, failed: Sequence[_Failed], trial: int, context: kit.Context, table: TableBuilder
) -> None:
    cases = [case for case, _, _ in failed]
    worst = [_at_worst(suite, case, answer) for case, answer, _ in failed]
    counts = {
        **{name: np.array([each.counts[name] for each in worst], dtype=float) for name in worst[0].counts},
        **_worst_means(suite, cases, context),
        **_populations(suite, cases, context),
        "answers": np.ones(len(failed)),
        "errors": np.ones(len(failed)),
        "passable": _members(suite.passable, cases, context),
        "passed": np.zeros(len(failed)),
    }
    table.add(cases, trial, [failure for _, _, failure in failed], counts)
    table.count(
        (case.id, trial, *row) for (case, _, _), each in zip(failed, worst, strict=True) for row in each.keyed
    )
    table.diagnose((case.id, trial, "error", failure.kind, failure.detail) for case, _, failure in failed)


def _at_worst(suite: kit.Suite, case: kit.Case[Any, Any], answer: Answer | None) -> kit.CaseScore:
    with kit.suite_code(suite.name, "errored", case.id):
        return suite.errored(case, answer) if suite.errored else kit.CaseScore({})


def _parsed(
    suite: kit.Suite, batch: _Batch, trial: int, answers: AnswerSource
) -> tuple[kit.Items, list[_Failed]]:
    """Usable outputs with their cases, and the cases that have none."""
    cases: Sequence[kit.Case[Any, Any]] = batch.cases
    outputs: list[Any] = [None] * len(cases)
    if isinstance(answers, OutputSource):
        outputs = answers.outputs([case.id for case in cases], trial)
    given: dict[int, Answer] = {}
    failures: dict[int, _Failed] = {}
    for index in [number for number, output in enumerate(outputs) if output is None]:
        answer = answers.get(cases[index].id, trial, batch.input_hashes[index])
        parsed = parse(answer, suite.output)
        if isinstance(parsed, Failure):
            failures[index] = (cases[index], answer, parsed)
        elif answer is not None:
            outputs[index], given[index] = parsed.output, answer
    usable: Sequence[int] = range(len(cases))
    if failures:
        usable = [number for number in range(len(cases)) if number not in failures]
        cases, outputs = [cases[number] for number in usable], [outputs[number] for number in usable]

    def answer_of(index: int) -> Answer:
        result = given.get(usable[index]) or answers.get(cases[index].id, trial, "")
        assert result is not None
        return result

    return kit.Items(cases, outputs, trial, answer_of), list(failures.values())


def _worst_means(
    suite: kit.Suite, cases: Sequence[kit.Case[Any, Any]], context: kit.Context
) -> dict[str, kit.Values]:
    """What errored cases count in means: the worst value where the metric applies, else nothing."""
    counts: dict[str, kit.Values] = {}
    for metric in suite.metrics:
        if metric.on_error is not None:
            applies = _members(metric.population, cases, context)
            counts[metric.name] = metric.on_error * applies
            counts[kit.defined(metric.name)] = applies
    return counts


def population_column(suite: kit.Suite, metric: kit.Metric) -> str:
    """The column that tells which rows a metric applies to; metrics with the same population share it."""
    first = next(each for each in suite.metrics if each.population is metric.population)
    return POPULATION + first.name


def _populations(
    suite: kit.Suite, cases: Sequence[kit.Case[Any, Any]], context: kit.Context
) -> dict[str, kit.Values]:
    columns = {
        population_column(suite, metric): metric.population
        for metric in suite.metrics
        if metric.population is not kit.everything
    }
    return {name: _members(applies, cases, context) for name, applies in columns.items()}


def _members(
    population: kit.Population, cases: Sequence[kit.Case[Any, Any]], context: kit.Context
) -> kit.Values:
    """1 for each case that a population holds; what a judge decides holds nobody while it is off."""
    if population is kit.everything:
        return np.ones(len(cases))
    if population is kit.judged and context.judge is None:
        return np.zeros(len(cases))
    return np.fromiter(map(population, cases), float, len(cases))
