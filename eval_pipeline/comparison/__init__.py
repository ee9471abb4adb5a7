"""Two evaluations side by side: what moved, by how much, and whether that is noise."""

from eval_pipeline.comparison.chosen_test import ChosenTest
from eval_pipeline.comparison.compare import compare
from eval_pipeline.comparison.evidence import looks_of, partition, rules_for
from eval_pipeline.comparison.examples import Cases
from eval_pipeline.comparison.held_out import metric_intervals, summarize_held_out
from eval_pipeline.comparison.overlap import Overlap, Side, overlap_of
from eval_pipeline.comparison.pairing import paired_metrics
from eval_pipeline.comparison.records import (
    ACTIONS,
    Action,
    CaseChange,
    Comparison,
    MetricChange,
    Role,
    rounded,
)
from eval_pipeline.comparison.rows import COLUMNS as COMPARISON_COLUMNS
from eval_pipeline.comparison.rows import comparison_rows
from eval_pipeline.comparison.trends import MetricTrend, comparable, metric_trends, series, step_between

# fmt: off
__all__ = [
    "ACTIONS", "COMPARISON_COLUMNS", "Action", "CaseChange", "Cases", "ChosenTest", "Comparison",
    "MetricChange", "MetricTrend", "Overlap", "Role", "Side", "comparable", "compare",
    "comparison_rows", "looks_of", "metric_intervals", "metric_trends", "overlap_of", "paired_metrics",
    "partition", "rounded", "rules_for", "series", "step_between", "summarize_held_out",
]
# fmt: on
