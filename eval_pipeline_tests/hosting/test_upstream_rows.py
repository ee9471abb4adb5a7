"""Rows of another asset, scored against a golden set: from every kind of table, by partition, with a gate."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import dagster as dg
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from eval_pipeline import build_eval_assets
from eval_pipeline.hosting import Rows
from eval_pipeline.store import Store
from eval_pipeline_tests.hosted import checks, materialize, materialized, rows, write_suite

GATE = "rag/answers:capitals_gate"


@pytest.fixture
def instance() -> Iterator[dg.DagsterInstance]:
    with dg.DagsterInstance.ephemeral() as opened:
        yield opened


def host(root: Path, value: Any, **options: Any) -> dg.Definitions:
    """A host whose asset returns a value, and the evaluation of that."""

    @dg.asset(key=["rag", "answers"])
    def answers() -> Any:
        return value

    options = {"asset": "rag/answers", **options}
    evaluation = build_eval_assets("golden/capitals/suite.yaml", root=root, upstream=Rows(**options))
    own = dg.Definitions(assets=[answers], resources={"io_manager": dg.mem_io_manager})
    return dg.Definitions.merge(own, evaluation)


TABLES = {
    "pandas": lambda: pd.DataFrame(rows()),
    "polars": lambda: pl.DataFrame(rows()),
    "lazy polars": lambda: pl.LazyFrame(rows()),
    "arrow": lambda: pa.Table.from_pylist(rows()),
    "mappings": rows,
}


@pytest.mark.parametrize("kind", TABLES)
def test_every_kind_of_table_is_the_same_evaluation(
    kind: str, tmp_path: Path, instance: dg.DagsterInstance
) -> None:
    write_suite(tmp_path)
    defs = host(tmp_path, TABLES[kind]())
    chain = [
        f"capitals/{stage}"
        for stage in (
            "golden_set",
            "model_outputs",
            "case_scores",
            "metrics",
            "baseline_comparison",
            "report",
        )
    ]
    result = materialize(defs, "rag/answers", *chain, instance=instance)
    assert result.success
    assert materialized(result) == {"rag/answers", *chain}
    evaluation = Store(tmp_path / ".eval").evaluation("capitals", "answers@latest")
    assert evaluation is not None
    assert evaluation.summary.metrics["equals"].value == 1.0
    assert checks(result)[GATE] == (True, "answers@latest: ✓ passes")
