"""The columns of what assets hold, as the UI shows them: those of the data frames that people get of it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import dagster as dg

from eval_pipeline.comparison import COMPARISON_COLUMNS
from eval_pipeline.files import Kind
from eval_pipeline.orchestration.io_manager import REPORT_COLUMNS
from eval_pipeline.scoring import METRIC_COLUMNS
from eval_pipeline.store import ANSWER_COLUMNS, GOLDEN_COLUMNS

if TYPE_CHECKING:
    import pyarrow as pa

OF_STAGES: Mapping[str, Mapping[str, Kind]] = {
    "golden_set": GOLDEN_COLUMNS,
    "model_outputs": ANSWER_COLUMNS,
    "metrics": METRIC_COLUMNS,
    "baseline_comparison": COMPARISON_COLUMNS,
    "report": REPORT_COLUMNS,
}

COLUMN_SCHEMA = "dagster/column_schema"


def columns_metadata(stage: str) -> dict[str, Any]:
    """The columns of a stage, where they are the same for all suites."""
    columns = OF_STAGES.get(stage)
    if columns is None:
        return {}
    shown = [
        dg.TableColumn(
            name, kind.rstrip("?"), constraints=dg.TableColumnConstraints(nullable=kind.endswith("?"))
        )
        for name, kind in columns.items()
    ]
    return {COLUMN_SCHEMA: dg.TableSchema(shown)}


def table_metadata(table: pa.Table) -> dict[str, Any]:
    """The columns of a table that differ from suite to suite."""
    shown = [
        dg.TableColumn(
            each.name, str(each.type), constraints=dg.TableColumnConstraints(nullable=each.nullable)
        )
        for each in table.schema
    ]
    return {COLUMN_SCHEMA: dg.TableSchema(shown)}
