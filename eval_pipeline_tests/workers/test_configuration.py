"""`shards:` of engines.yaml."""

from __future__ import annotations

from pathlib import Path

import pytest

from eval_pipeline.engines import read_engines
from eval_pipeline.problems import Problems
from eval_pipeline.workers import Shards

HEAD = "default: a\nengines: {a: {kind: embedded}}\n"


def read(folder: Path, text: str) -> tuple[object, list[str]]:
    file = folder / "engines.yaml"
    file.write_text(HEAD + text)
    problems = Problems()
    engines = read_engines(file, problems)
    return engines and engines.shards, [f"{each.line}: {each.field}: {each.message}" for each in problems]


@pytest.mark.parametrize(
    ("text", "meant"),
    [
        ("", None),
        ("shards: none", None),
        ("shards: {processes: 2}", Shards(processes=2)),
        ("shards: {dask: 'tcp://10.0.0.5:8786', cases: 3}", Shards(dask="tcp://10.0.0.5:8786", cases=3)),
    ],
)
def test_it_names_nobody_processes_or_a_cluster(tmp_path: Path, text: str, meant: Shards | None) -> None:
    assert read(tmp_path, text) == (meant, [])


@pytest.mark.parametrize(
    ("text", "field", "message"),
    [
        ("shards: {}", "shards", "names neither processes nor a cluster"),
        ("shards: 4", "shards", "4 says nowhere"),
        ("shards: {processes: 0}", "shards.processes", "is less than 1"),
        ("shards: {processes: 2, cases: 0}", "shards.cases", "is less than 1"),
        ("shards: {dask: 10.0.0.5}", "shards.dask", "'10.0.0.5' is not the address of a scheduler"),
        ("shards: {processes: 1, dask: 'tcp://h:1'}", "shards.dask", "stands beside processes"),
        ("shards: {proceses: 1}", "shards.proceses", "is not a known field"),
    ],
)
def test_what_is_wrong_is_said_in_its_place(tmp_path: Path, text: str, field: str, message: str) -> None:
    assert read(tmp_path, text) == (None, [f"3: {field}: {message}"])
