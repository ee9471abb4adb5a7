"""From cases and answers to numbers."""

from eval_pipeline.scoring.context import context_for, measured_models
from eval_pipeline.scoring.evaluation import Evaluation, Identity, Point
from eval_pipeline.scoring.files import OutputsScorer, ScoredFile
from eval_pipeline.scoring.identity import SHARED_PACKAGES, scorer_version
from eval_pipeline.scoring.score import score_cases
from eval_pipeline.scoring.scores import ROWS_AT_ONCE, Scores
from eval_pipeline.scoring.summary import (
    NEAR,
    WORST_CASES,
    CaseResult,
    MetricValue,
    Summary,
    case_results,
    summarize,
)

__all__ = [
    "NEAR",
    "ROWS_AT_ONCE",
    "SHARED_PACKAGES",
    "WORST_CASES",
    "CaseResult",
    "Evaluation",
    "Identity",
    "MetricValue",
    "OutputsScorer",
    "Point",
    "ScoredFile",
    "Scores",
    "Summary",
    "case_results",
    "context_for",
    "measured_models",
    "score_cases",
    "scorer_version",
    "summarize",
]
