"""What people read: numbers, tables, charts and reports."""

from eval_pipeline.reports.blocks import blocks_markdown
from eval_pipeline.reports.brief import VersionState, brief_of, version_reasons, version_table
from eval_pipeline.reports.cases import hidden_problems, named_things, size_of, worst_cases
from eval_pipeline.reports.changelog import changelog_section, keep_in_changelog
from eval_pipeline.reports.charts import image
from eval_pipeline.reports.comparison import comparison_text
from eval_pipeline.reports.gate import Line, comparison_data, line_of, to_junit, to_markdown, to_report
from eval_pipeline.reports.history import history_table, rests_on
from eval_pipeline.reports.investigation import investigation_blocks, investigation_data
from eval_pipeline.reports.markdown import bullets, flat, plain, readable, table, tables
from eval_pipeline.reports.pictures import comparison_chart, confusion_charts, metric_chart
from eval_pipeline.reports.probes import probe_notes, probe_section, probe_table
from eval_pipeline.reports.production import figure_table, one_table
from eval_pipeline.reports.quality import alert_table, contrast_table, quality_table
from eval_pipeline.reports.ratings import rating_table
from eval_pipeline.reports.report import TITLES, report, signed_lines
from eval_pipeline.reports.rows import Cell, Table
from eval_pipeline.reports.run import RunDocument, estimate_data, evaluation_data
from eval_pipeline.reports.scores import cases_data, score_report
from eval_pipeline.reports.standing import incident_table, spent, stand_table, stands
from eval_pipeline.reports.systems import systems_data, systems_table
from eval_pipeline.reports.tables import (
    cross_tables,
    diagnosis_table,
    error_table,
    gate_label,
    group_tables,
    metric_table,
    model_list,
    overview_table,
    suite_tables,
    trend_table,
    units,
    zone_table,
)
from eval_pipeline.reports.trends import trend_chart

# fmt: off
__all__ = [
    "TITLES", "Cell", "Line", "RunDocument", "Table", "VersionState", "alert_table", "blocks_markdown",
    "brief_of", "bullets", "cases_data", "changelog_section", "comparison_chart", "comparison_data",
    "comparison_text", "confusion_charts", "contrast_table", "cross_tables", "diagnosis_table",
    "error_table", "estimate_data", "evaluation_data", "figure_table", "flat", "gate_label",
    "group_tables", "hidden_problems", "history_table", "image", "incident_table", "investigation_blocks",
    "investigation_data", "keep_in_changelog", "line_of", "metric_chart", "metric_table", "model_list",
    "named_things", "one_table", "overview_table", "plain", "probe_notes", "probe_section", "probe_table",
    "quality_table", "rating_table", "readable", "report", "rests_on", "score_report", "signed_lines",
    "size_of", "spent", "stand_table", "stands", "suite_tables", "systems_data",
    "systems_table", "table", "tables", "to_junit",
    "to_markdown", "to_report", "trend_chart", "trend_table", "units", "version_reasons", "version_table",
    "worst_cases", "zone_table",
]
# fmt: on
