"""Logs of Inspect: `.eval` archives and JSON; epochs are trials."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any

import msgspec

from eval_pipeline.answers import LARGEST_TRIAL
from eval_pipeline.files import archive_entries, content_hash
from eval_pipeline.problems import Problems, shown_path
from eval_pipeline.results.decoding import decoded
from eval_pipeline.results.rows import NO_MODEL, Results, Row, Score, as_id, as_score, as_text

KIND = "Inspect"
HEADER, START = "header.json", "_journal/start.json"
"""What an archive says of the whole evaluation, at its end and at its beginning."""
SAMPLES = "samples/"
FINISHED = "success"
NOTHING = msgspec.Raw(b"null")
LETTERS: Mapping[Any, float] = {"P": 0.5, "N": 0.0}
"""Partially right, and no answer; C and I are understood everywhere."""


class Spec(msgspec.Struct, frozen=True):
    """What was evaluated."""

    task: str = ""
    model: str = NO_MODEL
    created: str = ""


class Header(msgspec.Struct, frozen=True):
    """What a log says of the whole evaluation."""

    eval: Spec
    status: str = "started"


class Judged(msgspec.Struct, frozen=True):
    """What a scorer said: a value, or several by name."""

    value: Any


class Failed(msgspec.Struct, frozen=True):
    """Why a sample has no scores."""

    message: str = "error"


class Output(msgspec.Struct, frozen=True):
    """What the model said."""

    completion: str = ""


class Sample(msgspec.Struct, frozen=True):
    """A sample of one epoch."""

    id: str | int
    epoch: Annotated[int, msgspec.Meta(ge=0, le=LARGEST_TRIAL)]
    input: msgspec.Raw = NOTHING
    target: msgspec.Raw = NOTHING
    scores: dict[str, Judged] | None = None
    error: Failed | None = None
    output: Output | None = None


class Log(Header, frozen=True):
    """A log in JSON."""

    samples: list[Sample] | None = None


def read_archive(path: Path, problems: Problems) -> Results:
    """The samples of a `.eval` archive, one entry after the other."""
    header: Header | None = None
    rows: list[Row] = []
    for name, data in archive_entries(path, _is_wanted, problems):
        try:
            if name.startswith(SAMPLES):
                rows.append(_row(decoded(data, Sample)))
            elif header is None or name == HEADER:
                header = decoded(data, Header)
        except (ValueError, RecursionError) as error:
            problems.add(path, f"cannot be understood: {error}", "Make the log anew.", field=as_id(name))
    if header is None and not problems:
        problems.add(path, f"is no log of Inspect: it has no {HEADER}", "Name a file of results.")
    return _results(path, header or Header(Spec()), rows, problems)


def read_log(path: Path, content: bytes, problems: Problems) -> Results:
    """The samples of a log in JSON."""
    log = decoded(content, Log)
    return _results(path, log, [_row(each) for each in log.samples or ()], problems)


def _is_wanted(name: str) -> bool:
    return name in (HEADER, START) or (name.startswith(SAMPLES) and name.endswith(".json"))


def _results(path: Path, header: Header, rows: Sequence[Row], problems: Problems) -> Results:
    if not rows and not problems:
        problems.add(path, "holds no samples", "Log them: log_samples is off, or none was finished.")
    notes: tuple[str, ...] = ()
    if header.status != FINISHED:
        notes = (f"{shown_path(path)} is a log of status {as_id(header.status)}: samples may be missing.",)
    return Results(path, KIND, rows, as_id(header.eval.model), header.eval.created, notes)


def _row(sample: Sample) -> Row:
    question = _question(decoded(sample.input, object))
    return Row(
        as_id(sample.id),
        sample.epoch,
        dict(_scores(sample.scores or {})),
        as_text(sample.error.message) if sample.error else "",
        input_hash=content_hash(question),
        input=as_text(question),
        expected=as_text(decoded(sample.target, object)),
        output=as_text(sample.output.completion) if sample.output else "",
    )


def _scores(scores: Mapping[str, Judged]) -> Iterator[tuple[str, Score]]:
    """Every value by the name of its scorer; where a scorer gave several, with the name of each."""
    for name, judged in scores.items():
        if isinstance(judged.value, dict):
            for key, value in judged.value.items():
                yield f"{name}/{key}", _value(value)
        else:
            yield name, _value(judged.value)


def _value(value: Any) -> Score:
    return LETTERS[value] if isinstance(value, str) and value in LETTERS else as_score(value)


def _question(given: Any) -> Any:
    """The input as its author wrote it: messages have other ids each time."""
    if not isinstance(given, list):
        return given
    return [
        {name: each.get(name) for name in ("role", "content")} if isinstance(each, dict) else each
        for each in given
    ]
