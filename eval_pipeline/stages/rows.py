"""Rows that another asset produced, in the place of an engine's answers."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import msgspec

from eval_pipeline.answers import FIRST_TRIAL, LARGEST_TRIAL, MISSING, Answer, OutputsIdentity, failure_of
from eval_pipeline.files import content_hash, plain_value
from eval_pipeline.files.words import did_you_mean
from eval_pipeline.problems import Problems
from eval_pipeline.stages.answers import DEFAULT_SAMPLE
from eval_pipeline.stages.workbench import Workbench
from eval_pipeline.store import AnswerTable, GoldenTable

MOST_NAMED = 5
MEASURES = ("latency_ms", "cost_usd")


@dataclass(frozen=True)
class RowColumns:
    """Which columns of the rows hold what; the last five are used where they are there."""

    case_id: str = "case_id"
    output: str = "output"
    trial: str = "trial"
    error: str = "error"
    latency_ms: str = "latency_ms"
    cost_usd: str = "cost_usd"
    tokens: str = "tokens"


@dataclass(frozen=True)
class RowAnswers:
    """What rows came to: a table of answers, and how many rows are of no golden case."""

    table: AnswerTable
    rows: int
    beside: int


def answer_with_rows(
    bench: Workbench,
    golden: GoldenTable,
    rows: Iterable[Mapping[str, Any]],
    version: str,
    source: str,
    columns: RowColumns,
) -> RowAnswers:
    """Take rows as the answers to the golden cases whose ids they name; a case without a row is an error.

    What identifies them is the hash of these rows, in the place of a prompt's. Rows of other cases count for
    nothing. Everything that is wrong with rows is raised at once.
    """
    wanted = golden.hashes("input_hash")
    problems = Problems()
    answers, counted = _by_case(rows, wanted, source, columns, problems)
    if not counted:
        problems.add(source, "has no rows", "Materialize it with rows, one for each golden case.")
    elif not answers and not len(problems):
        named = ", ".join(map(repr, list(wanted)[:MOST_NAMED]))
        remedy = f"Let {columns.case_id!r} hold the ids of golden cases: {named}…"
        problems.add(source, "no row is of a golden case", remedy, field=columns.case_id)
    problems.stop_if_any()
    trials = max(trial for _, trial in answers)
    identity = OutputsIdentity(
        suite=bench.suite.name,
        version=version,
        prompt_hash=content_hash([answers[key] for key in sorted(answers)]),
        inputs_hash=golden.facts.inputs_hash,
        engine=source,
        model="",
        sample=DEFAULT_SAMPLE,
        trials=trials,
    )
    folder = bench.store.outputs_folder(bench.suite.name, version)
    with AnswerTable.writing(folder) as writer:
        for trial in range(FIRST_TRIAL, trials + 1):
            for case_id, input_hash in wanted.items():
                missing = Answer(case_id, trial, error=MISSING, detail=f"{source} has no row for this case")
                answer = answers.get((case_id, trial), missing)
                writer.add(answer, input_hash, failure_of(answer, bench.suite.output))
        writer.finish(identity, varies=False)
    return RowAnswers(AnswerTable.open(folder / f"{identity.id}.parquet"), counted, counted - len(answers))


def _by_case(
    rows: Iterable[Mapping[str, Any]],
    wanted: Mapping[str, str],
    source: str,
    columns: RowColumns,
    problems: Problems,
) -> tuple[dict[tuple[str, int], Answer], int]:
    """The rows of golden cases as answers, and the number of all rows."""
    answers: dict[tuple[str, int], Answer] = {}
    number = 0
    for number, row in enumerate(rows, 1):
        if number == 1 and not _has_columns(row, source, columns, problems):
            break
        case_id = plain_value(row[columns.case_id])
        if case_id is None:
            problems.add(source, f"row {number} names no case", "Give it an id.", field=columns.case_id)
            continue
        if (name := str(case_id)) not in wanted:
            continue
        answer = _answer(name, row, columns)
        if isinstance(answer, str):
            problems.add(source, f"row {number}: {answer}", "Correct the row.")
        elif (key := (name, answer.trial)) in answers:
            remedy = f"Keep one row for each case, or number them in {columns.trial!r}."
            problems.add(source, f"row {number} answers {name!r} again", remedy, field=columns.case_id)
        else:
            answers[key] = answer
    return answers, number


def _has_columns(row: Mapping[str, Any], source: str, columns: RowColumns, problems: Problems) -> bool:
    missing = [name for name in (columns.case_id, columns.output) if name not in row]
    for name in missing:
        there = [str(each) for each in row]
        remedy = f"{did_you_mean(name, there)}Columns: {', '.join(there)}."
        problems.add(source, f"there is no column {name!r}", remedy, field=name)
    return not missing


def _answer(case_id: str, row: Mapping[str, Any], columns: RowColumns) -> Answer | str:
    """A row as an answer, or what is wrong with it."""
    trial = plain_value(row.get(columns.trial))
    trial = FIRST_TRIAL if trial is None else trial
    if not isinstance(trial, int) or not FIRST_TRIAL <= trial < LARGEST_TRIAL:
        return f"{columns.trial} is {trial!r}, not a number from {FIRST_TRIAL} on"
    measures: dict[str, Any] = {}
    for name in MEASURES:
        value = plain_value(row.get(getattr(columns, name)))
        if value is not None and (not isinstance(value, int | float) or value < 0):
            return f"{getattr(columns, name)} is {value!r}, not a number from 0 on"
        measures[name] = value
    tokens = plain_value(row.get(columns.tokens))
    error = plain_value(row.get(columns.error))
    output = plain_value(row[columns.output])
    return Answer(
        case_id,
        trial,
        text=output if output is None or isinstance(output, str) else msgspec.json.encode(output).decode(),
        error=str(error) if error else None,
        tokens=tokens if isinstance(tokens, int) else None,
        **measures,
    )
