"""The columns of what assets hold, as the UI shows them: those of the data frames that people get of it."""

from collections.abc import Mapping
from typing import Any

import dagster as dg

from eval_pipeline.comparison import COMPARISON_COLUMNS
from eval_pipeline.files import Kind
from eval_pipeline.scoring import METRIC_COLUMNS
from eval_pipeline.store import ANSWER_COLUMNS, GOLDEN_COLUMNS

OF_STAGES: Mapping[str, Mapping[str, Kind]] = {
    "golden_set": GOLDEN_COLUMNS,
    "model_outputs": ANSWER_COLUMNS,
    "metrics": METRIC_COLUMNS,
    "baseline_comparison": COMPARISON_COLUMNS,
}


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
    return {"dagster/column_schema": dg.TableSchema(shown)}
