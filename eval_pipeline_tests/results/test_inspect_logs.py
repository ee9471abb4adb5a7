"""Logs of Inspect: archives and JSON say the same; epochs are trials, letters are numbers."""

from __future__ import annotations

import json
import zipfile
from pathlib import Path
from typing import Any

import pytest

from eval_pipeline.results import Row
from eval_pipeline_tests.results.files_of_results import FIXTURES, WRONG, problems_of, results

HEADER = {"status": "success", "eval": {"model": "m", "created": "2026-01-02T03:04:05+00:00"}}


def archive(path: Path, *samples: Any, header: Any = HEADER, name: str = "header.json") -> Path:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as entries:
        for number, sample in enumerate(samples):
            entries.writestr(f"samples/{number}.json", json.dumps(sample))
        entries.writestr("summaries.json", "[")
        if header is not None:
            entries.writestr(name, json.dumps(header))
    return path


def rows(path: Path) -> list[Row]:
    (read,) = results(path)
    return sorted(read.rows, key=lambda row: (row.case_id, row.trial))


def test_an_archive_of_two_epochs() -> None:
    (second,) = results(FIXTURES / "inspect_second.eval")
    assert (second.kind, second.model, second.notes) == ("Inspect", "mockllm/model", ())
    assert second.created.startswith("2026-")
    by_name = {(row.case_id, row.trial): row for row in second.rows}
    assert len(by_name) == 24
    assert {name for (name, _), row in by_name.items() if row.scores.get("includes") == 0.0} == WRONG
    failed = {name: row.error for (name, _), row in by_name.items() if row.error}
    assert failed == {"iraq": "RuntimeError('the tool is broken')"}
    peru = by_name["peru", 2]
    assert (peru.input, peru.expected, peru.output) == ("What is the capital of Peru?", "Lima", "Peru City")


def test_archives_and_json_say_the_same() -> None:
    packed, plain = (rows(FIXTURES / f"inspect_scorers.{ending}") for ending in ("eval", "json"))
    assert packed == plain
    assert packed[0].scores == {"includes": 1.0, "style/words": 1.0, "style/capitalised": 1.0, "odd": None}
    assert packed[-1].scores["odd"] == 0.5


@pytest.mark.parametrize(
    ("value", "score"), [("C", 1.0), ("P", 0.5), ("I", 0.0), ("N", 0.0), (True, 1.0), ("0.25", 0.25)]
)
def test_values_of_scorers(tmp_path: Path, value: Any, score: float) -> None:
    path = archive(tmp_path / "a", {"id": 1, "epoch": 1, "scores": {"s": {"value": value}}})
    assert [(row.case_id, row.scores) for row in rows(path)] == [("1", {"s": score})]


def test_messages_are_compared_without_their_ids(tmp_path: Path) -> None:
    def asked(mark: str) -> str:
        messages = [{"id": mark, "role": "user", "content": "Why?", "source": "input"}]
        return rows(archive(tmp_path / "a", {"id": 1, "epoch": 1, "input": messages}))[0].input_hash

    assert asked("x") == asked("y")


def test_a_log_that_was_not_finished_says_so(tmp_path: Path) -> None:
    sample = {"id": 1, "epoch": 1}
    started = archive(tmp_path / "a", sample, header={"eval": {}}, name="_journal/start.json")
    assert "is a log of status started: samples may be missing." in results(started)[0].notes[0]
    failed = archive(tmp_path / "b", sample, header={**HEADER, "status": "error\n; fine"})
    assert "is a log of status error ; fine #" in results(failed)[0].notes[0]


@pytest.mark.parametrize(
    ("sample", "message"),
    [
        ({"epoch": 1}, ": samples/0.json: cannot be understood: Object missing required field `id`"),
        ({"id": 1, "epoch": -1}, ": samples/0.json: cannot be understood: Expected `int` >= 0"),
        ([], ": samples/0.json: cannot be understood: Expected `object`"),
    ],
)
def test_samples_of_another_shape_are_named(tmp_path: Path, sample: Any, message: str) -> None:
    assert problems_of(archive(tmp_path / "a", sample))[0].startswith(message)


def test_archives_of_something_else_are_named(tmp_path: Path) -> None:
    assert (
        "is no log of Inspect: it has no header.json" in problems_of(archive(tmp_path / "a", header=None))[0]
    )
    assert "holds no samples" in problems_of(archive(tmp_path / "b"))[0]
