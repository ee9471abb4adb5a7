from __future__ import annotations

import gzip
import os

import pyarrow as pa
import pytest

from eval_pipeline.monitoring import FileOutcome, figures_of, open_ingest
from eval_pipeline.monitoring.flat import FEW
from eval_pipeline.project import Project
from eval_pipeline_tests.monitoring.events_of import DAY, MONDAY, drop, flat, lines

MANY = [flat(number, topic="x" * 60) for number in range(1000)]
"""More than are read one by one."""
assert len(lines(MANY)) > FEW


def ingest(project: Project, *, now: bool = True) -> dict[str, FileOutcome]:
    with open_ingest(project) as taking:
        return {outcome.name: outcome for outcome in taking.files(now=now)}


def counted(project: Project) -> int:
    with open_ingest(project) as taking:
        rows = figures_of(taking.store, "toy", MONDAY, MONDAY + 7 * DAY, 7)
    return rows[0].requests if rows else 0


def zstd(data: bytes) -> bytes:
    compressed: bytes = pa.compress(data, "zstd", asbytes=True)
    return compressed


@pytest.mark.parametrize("pack", [bytes, gzip.compress, zstd])
@pytest.mark.parametrize("rows", [MANY[:10], MANY])
def test_a_file_is_taken_once(toy: Project, pack: type[bytes], rows: list[dict[str, object]]) -> None:
    drop(toy, "a", pack(lines(rows)))
    assert ingest(toy)["a"] == FileOutcome("a", "taken", "flat", len(rows))
    assert ingest(toy) == {}
    assert counted(toy) == len(rows)


def test_renamed_and_delivered_again_it_counts_once(toy: Project) -> None:
    path = drop(toy, "a.jsonl", MANY)
    ingest(toy)
    path.rename(path.with_name("b.jsonl"))
    drop(toy, "sub/c.jsonl.gz", gzip.compress(lines(MANY)))
    drop(toy, "part.jsonl", MANY[500:])
    outcomes = ingest(toy)
    assert {name: each.outcome for name, each in outcomes.items()} == {
        "b.jsonl": "known",
        "sub/c.jsonl.gz": "taken",
        "part.jsonl": "taken",
    }
    assert counted(toy) == len(MANY)


def test_what_may_still_grow_waits(toy: Project) -> None:
    path = drop(toy, "a.jsonl", MANY)
    assert ingest(toy, now=False)["a.jsonl"].outcome == "waiting"
    os.utime(path, (0, 0))
    assert ingest(toy, now=False)["a.jsonl"].outcome == "taken"
    path.write_bytes(lines([*MANY, flat(2000)]))
    assert ingest(toy)["a.jsonl"].events == len(MANY) + 1
    assert counted(toy) == len(MANY) + 1


def test_a_file_of_nothing(toy: Project) -> None:
    drop(toy, "empty", b"")
    drop(toy, ".hidden", MANY)
    assert ingest(toy) == {"empty": FileOutcome("empty", "taken", "flat")}
