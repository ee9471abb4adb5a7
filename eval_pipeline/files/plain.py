"""Cells of tables that other libraries made, as plain data."""

import datetime
import decimal
import math
from collections.abc import Mapping
from typing import Any

NOTHING = ("NAType", "NaTType")
"""What pandas has for a cell that is not there."""


def plain_row(row: Mapping[str, Any]) -> dict[str, Any]:
    """A row as plain data."""
    return {str(name): plain_value(value) for name, value in row.items()}


def plain_value(value: Any) -> Any:
    """A cell as plain data: what stands for nothing is None, arrays are lists, times are texts."""
    if hasattr(value, "tolist"):
        value = value.tolist()
    if type(value).__name__ in NOTHING or (isinstance(value, float) and math.isnan(value)):
        return None
    if isinstance(value, datetime.date | datetime.time):
        return value.isoformat()
    if isinstance(value, decimal.Decimal):
        return float(value)
    if isinstance(value, bytes):
        return value.decode("utf-8", "replace")
    if isinstance(value, Mapping):
        return plain_row(value)
    return [plain_value(each) for each in value] if isinstance(value, list | tuple) else value
