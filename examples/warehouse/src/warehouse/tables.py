"""The warehouse: a file of DuckDB with one table."""

from pathlib import Path
from typing import Any

import dagster as dg
import duckdb

FILE = Path(__file__).parents[2] / "warehouse.duckdb"
DAYS = dg.DailyPartitionsDefinition("2026-01-01", end_date="2026-02-01")


def answers_of_day(context: dg.AssetExecutionContext | dg.AssetCheckExecutionContext) -> Any:
    """The rows of a run's day, as a table of Arrow."""
    with duckdb.connect(FILE, read_only=True) as warehouse:
        query = "SELECT ticket_id, label, milliseconds FROM model_answers WHERE day = ?"
        return warehouse.sql(query, params=[context.partition_key]).to_arrow_table()
