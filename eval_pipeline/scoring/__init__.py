"""From cases and answers to numbers."""

from eval_pipeline.scoring.closure import EVERYTHING, MissingCode, Reference
from eval_pipeline.scoring.context import SETTINGS_FILE, check_settings, context_for, measured_models
from eval_pipeline.scoring.evaluation import Evaluation, Identity, Point, Step
from eval_pipeline.scoring.files import OutputsScorer, ScoredFile
from eval_pipeline.scoring.held_out import ALL, HeldOut, Interval, Part
from eval_pipeline.scoring.identity import (
    PACKAGE,
    Code,
    engine_version,
    function_version,
    prober_version,
    scorer_version,
)
from eval_pipeline.scoring.outages import lost_verdicts, outage_among
from eval_pipeline.scoring.probing import Broken, Probed, ProbeResult, probe_suite
from eval_pipeline.scoring.rows import (
    METRIC_COLUMNS,
    case_rows,
    diagnosis_rows,
    history_rows,
    metric_rows,
    of_version,
    with_units,
)
from eval_pipeline.scoring.score import score_cases
from eval_pipeline.scoring.scores import ATTRIBUTE, Scores, merged, metric_values, row_values
from eval_pipeline.scoring.sources import project_modules
from eval_pipeline.scoring.summary import (
    NEAR,
    WORST_CASES,
    CaseResult,
    MetricValue,
    Summary,
    case_results,
    metric_means,
    summarize,
)

# fmt: off
__all__ = [
    "ALL", "ATTRIBUTE", "EVERYTHING", "METRIC_COLUMNS", "NEAR", "PACKAGE", "SETTINGS_FILE", "WORST_CASES",
    "Broken", "CaseResult", "Code", "Evaluation", "HeldOut", "Identity", "Interval", "MetricValue",
    "MissingCode", "OutputsScorer", "Part", "Point", "ProbeResult", "Probed", "Reference", "ScoredFile",
    "Scores", "Step", "Summary", "case_results", "case_rows", "check_settings", "context_for",
    "diagnosis_rows", "engine_version", "function_version", "history_rows", "lost_verdicts",
    "measured_models", "merged", "metric_means", "metric_rows", "metric_values", "of_version", "outage_among",
    "probe_suite", "prober_version", "project_modules", "row_values", "score_cases", "scorer_version",
    "summarize", "with_units",
]
# fmt: on
