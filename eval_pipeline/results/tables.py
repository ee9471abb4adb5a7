"""Rows as lines of JSON, as a list in JSON, or as a table in CSV; and the samples of lm-eval."""

from __future__ import annotations

import csv
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from eval_pipeline.files import RawLine, content_hash, decode_line, json_lines, may_repeat_keys, repeated_key
from eval_pipeline.problems import Problems
from eval_pipeline.results.decoding import decoded
from eval_pipeline.results.rows import Results, Row, as_id, as_score, as_text, as_trial, listed, scores_of

LONGEST_CELL = 16 * 2**20
IDS = ("case_id", "id", "doc_id", "sample_id", "test_id")
"""The fields that name a case, the first that a record has."""
TRIALS = ("trial", "epoch", "repeat")
WORDS = frozenset({"error", "detail", "scores", "suite", "version", "input", "expected", "output", *TRIALS})
"""Fields that are no scores."""
SCORES = "scores"
"""A field that holds several scores by name."""
LM_EVAL = "lm-eval"
SAMPLE = frozenset({"doc_id", "resps", "filtered_resps"})
"""What every sample of lm-eval has."""
SAMPLE_WORDS = frozenset(
    {"doc", "target", "arguments", "filter", "doc_hash", "prompt_hash", "target_hash", *SAMPLE}
)
"""What else a sample holds that is no metric: versions before 0.4.8 do not list theirs."""


class Record(NamedTuple):
    """Fields by name, and the line they stand on."""

    fields: Mapping[str, Any]
    line: int


def read_lines(path: Path, id_field: str | None, problems: Problems) -> Results:
    """The rows of a JSON Lines file."""
    records = (
        Record(value, raw.number)
        for raw in json_lines(path, problems)
        if (value := _object(raw, path, problems)) is not None
    )
    first = next(records, None)
    if first is None:
        if not problems:
            problems.add(path, "the file is empty", "Write a line for each case.", line=1)
        return Results(path, "JSON Lines", ())
    every = _again(first, records)
    if first.fields.keys() >= SAMPLE:
        return Results(path, LM_EVAL, _samples(every, path, problems))
    return Results(path, "JSON Lines", list(_rows(every, path, id_field, problems)))


def read_list(path: Path, values: list[Any], id_field: str | None, problems: Problems) -> Results:
    """The rows of a list of objects."""
    records = []
    for number, value in enumerate(values):
        if isinstance(value, dict):
            records.append(Record(value, 0))
        else:
            problems.add(path, "is no object", "A row is an object.", field=f"[{number}]")
    if not values:
        problems.add(path, "the list is empty", "Add a row for each case.", line=1)
    return Results(path, "JSON", list(_rows(iter(records), path, id_field, problems)))


def read_csv(path: Path, id_field: str | None, problems: Problems) -> Results:
    """The rows of a table whose first line names the columns; cells are separated by , ; or tabs."""
    return Results(path, "CSV", list(_rows(_csv_records(path, problems), path, id_field, problems)))


def _csv_records(path: Path, problems: Problems) -> Iterator[Record]:
    csv.field_size_limit(LONGEST_CELL)
    with path.open("rb") as raw:
        header = raw.readline(LONGEST_CELL)
    with path.open(encoding="utf-8-sig", newline="") as file:
        reader = csv.reader(
            file, delimiter=max(",;\t", key=header.decode(errors="replace").count), strict=True
        )
        try:
            names = [name.strip() for name in next(reader, [])]
            for name in sorted({name for name in names if names.count(name) > 1}):
                problems.add(
                    path, "stands twice in the header", "Keep one of them.", line=1, field=as_id(name)
                )
            yield from _cells(reader, names, path, problems)
        except (csv.Error, UnicodeDecodeError) as error:
            message = "it is not UTF-8" if isinstance(error, UnicodeDecodeError) else str(error)
            problems.add(path, f"cannot be read as CSV: {message}", "Correct it.", line=reader.line_num + 1)


def _cells(reader: Any, names: list[str], path: Path, problems: Problems) -> Iterator[Record]:
    empty = True
    for cells in reader:
        empty = empty and not any(cells)
        if len(cells) == len(names):
            yield Record(dict(zip(names, cells, strict=True)), reader.line_num)
        elif any(cells):
            message = f"{len(cells)} cells, the header has {len(names)}"
            problems.add(path, message, "Quote cells that hold separators.", line=reader.line_num)
    if empty:
        problems.add(path, "the table has no rows", "Add one for each case.", line=1)


def _rows(records: Iterator[Record], path: Path, id_field: str | None, problems: Problems) -> Iterator[Row]:
    for number, (fields, line) in enumerate(records):
        name = id_field or next((each for each in IDS if each in fields), None)
        case_id = fields.get(name) if name else None
        if case_id is None or case_id == "" or isinstance(case_id, dict | list):
            remedy = f"Name the field of ids by --id. There are: {listed(fields)}."
            problems.add(path, "there is no case id", remedy, line=line, field=id_field or IDS[0])
            if not number:  # no other row will have one
                return
            continue
        trial_field = next((each for each in TRIALS if each in fields), TRIALS[0])
        trial = as_trial(fields.get(trial_field))
        if trial is None:
            message = "is not the number of a trial"
            problems.add(path, message, "Write a whole number.", line=line, field=trial_field)
            continue
        yield Row(
            as_id(case_id),
            trial,
            scores_of(_scores(fields, name)),
            _error(fields),
            line,
            input_hash=content_hash(fields["input"]) if "input" in fields else "",
            input=as_text(fields.get("input")),
            expected=as_text(fields.get("expected")),
            output=as_text(fields.get("output")),
        )


def _scores(fields: Mapping[str, Any], id_field: str | None) -> dict[str, Any]:
    plain = {
        name: value for name, value in fields.items() if name not in WORDS and name not in (*IDS, id_field)
    }
    several = fields.get(SCORES)
    return {**plain, **several} if isinstance(several, dict) else plain


def _error(fields: Mapping[str, Any]) -> str:
    """Why a row has no result; null, false and 0 say that it has one."""
    error = fields.get("error")
    return "" if not error or as_score(error) in (None, 0.0) else as_text(error)


def _samples(records: Iterator[Record], path: Path, problems: Problems) -> list[Row]:
    """The samples of lm-eval: a line for each document and filter; with several filters, metrics of each."""
    rows: dict[str, Row] = {}
    filters: list[str] = []
    for fields, line in records:
        if "doc_id" not in fields:
            problems.add(path, "is missing", "Make the samples anew.", line=line, field="doc_id")
            continue
        case_id, filter_ = as_id(fields["doc_id"]), str(fields.get("filter", "none"))
        filters += [filter_] if filter_ not in filters else []
        listed_metrics = fields.get("metrics", [name for name in fields if name not in SAMPLE_WORDS])
        metrics = [str(each) for each in listed_metrics] if isinstance(listed_metrics, list) else []
        scores = {f"{name},{filter_}": fields.get(name) for name in metrics}
        row = rows.setdefault(
            case_id,
            Row(
                case_id,
                1,
                {},
                "",
                line,
                input_hash=as_text(fields.get("doc_hash")),
                input=as_text(fields.get("doc")),
                expected=as_text(fields.get("target")),
                output=as_text(fields.get("filtered_resps")),
            ),
        )
        if row.scores.keys() & scores.keys():
            message = f"document {case_id} is there twice"
            problems.add(path, message, "Compare one task at a time.", line=line, field="doc_id")
        row.scores.update(scores_of(scores))
    if len(filters) == 1:
        for row in rows.values():
            row.scores = {name.removesuffix(f",{filters[0]}"): each for name, each in row.scores.items()}
    return list(rows.values())


def _object(raw: RawLine, path: Path, problems: Problems) -> dict[str, Any] | None:
    """The object on a line."""
    try:
        if may_repeat_keys(raw.data) and repeated_key(raw.data) is not None:
            raise ValueError
        value = decoded(raw.data, object)
    except (ValueError, RecursionError):
        decode_line(raw.data, raw.number, path, problems)
        return None
    if isinstance(value, dict):
        return value
    problems.add(path, "is no object", "A line is an object with an id and scores.", line=raw.number)
    return None


def _again(first: Record, records: Iterator[Record]) -> Iterator[Record]:
    yield first
    yield from records
