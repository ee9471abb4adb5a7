"""Comparisons as tables of rows, for data frames."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

from eval_pipeline.comparison.records import Comparison, Evidence, GroupChange, MetricChange
from eval_pipeline.files import Kind, typed_table

if TYPE_CHECKING:
    import pyarrow as pa

COLUMNS: Mapping[str, Kind] = {
    "suite": "text",
    "version": "text",
    "against": "text",
    "role": "text",
    "metric": "text",
    "axis": "text?",
    "group": "text?",
    "before": "float?",
    "after": "float?",
    "difference": "float?",
    "low": "float?",
    "high": "float?",
    "p_value": "float?",
    "adjusted_p": "float?",
    "verdict": "text",
    "action": "text?",
    "gated": "flag",
    "zone_before": "text?",
    "zone_after": "text?",
    "cases": "int?",
    "minimum_detectable_effect": "float?",
    "cases_needed": "int?",
    "trials_needed": "int?",
    "reason": "text?",
}


def comparison_rows(comparisons: Iterable[Comparison]) -> pa.Table:
    """Of each comparison a row for each metric on all shared cases, then for each gated metric and group."""
    return typed_table(COLUMNS, (row for comparison in comparisons for row in _rows(comparison)))


def _rows(comparison: Comparison) -> Iterator[dict[str, Any]]:
    about = {
        "suite": comparison.suite,
        "version": comparison.after,
        "against": comparison.before,
        "role": comparison.role,
    }
    for change in comparison.metrics:
        yield {**about, **_fields(change.evidence), **_fields(change)}
    for group in comparison.groups:
        yield {**about, "gated": True, **_fields(group)}


def _fields(record: MetricChange | Evidence | GroupChange | None) -> dict[str, Any]:
    """What of a record has a column."""
    return {name: getattr(record, name) for name in COLUMNS if hasattr(record, name)}
