"""The contract of a suite."""

from eval_pipeline.numbers import Unit
from eval_pipeline.suite.case import AnswerReader, Case, CaseReader, Expected, Input, Item, Items, Place
from eval_pipeline.suite.context import Context, Score, per_case
from eval_pipeline.suite.contract import NoParameters, Suite, all_metrics, quantities
from eval_pipeline.suite.counts import (
    Batch,
    CaseScore,
    Diagnosis,
    KeyedCount,
    KeyedSums,
    Rows,
    Sums,
    Values,
    defined,
    divide,
    matrix_rows,
    mean_counts,
)
from eval_pipeline.suite.diagnoses import DiagnosisVocabulary, Kind, Role, Wanted
from eval_pipeline.suite.faults import PACKAGE, fault, suite_code
from eval_pipeline.suite.judge import UNJUDGED, UNJUDGED_RATE, Judge, Measured, Model, OpenJudge, Verdicts
from eval_pipeline.suite.metric import (
    CASE_PASS_RATE,
    ERROR_RATE,
    Direction,
    Formula,
    Metric,
    Population,
    Ratio,
    TrialMetric,
    everything,
    judged,
    mean,
    ratio_of,
)
from eval_pipeline.suite.probing import OwnProbe, Probing, golden_answer_of
from eval_pipeline.suite.reporting import CrossTable, Experiment, PerTrial, Reading, Reporting, TrialTable
from eval_pipeline.suite.requirements import (
    Overview,
    Requirement,
    Severity,
    case_count,
    each_case,
    every_value,
    no_case_lists,
)
from eval_pipeline.suite.text import EXACT_MATCH, TextInput, exact_match
from eval_pipeline.suite.turns import TURNS, ConversationInput, Turn, Turns, carries_turns

# fmt: off
__all__ = [
    "CASE_PASS_RATE", "ERROR_RATE", "EXACT_MATCH", "PACKAGE", "TURNS", "UNJUDGED", "UNJUDGED_RATE",
    "AnswerReader", "Batch", "Case", "CaseReader", "CaseScore", "Context", "ConversationInput",
    "CrossTable", "Diagnosis", "DiagnosisVocabulary", "Direction", "Expected", "Experiment", "Formula",
    "Input", "Item", "Items", "Judge", "KeyedCount", "KeyedSums", "Kind", "Measured", "Metric", "Model",
    "NoParameters", "OpenJudge", "Overview", "OwnProbe", "PerTrial", "Place", "Population", "Probing",
    "Ratio", "Reading", "Reporting", "Requirement", "Role", "Rows", "Score", "Severity", "Suite", "Sums",
    "TextInput", "TrialMetric", "TrialTable", "Turn", "Turns", "Unit", "Values", "Verdicts", "Wanted",
    "all_metrics", "carries_turns", "case_count", "defined", "divide", "each_case", "every_value",
    "everything", "exact_match", "fault",
    "golden_answer_of", "judged", "matrix_rows", "mean", "mean_counts", "no_case_lists", "per_case",
    "quantities", "ratio_of", "suite_code",
]
# fmt: on
