"""The stages of an evaluation as plain functions: the same for the UI, the command line and tests."""

from eval_pipeline.stages.answers import (
    DEFAULT_SAMPLE,
    NotCurrent,
    answer_cases,
    current_answers,
    estimate_cost,
    prepare_asking,
)
from eval_pipeline.stages.comparisons import (
    Incomplete,
    compare_evaluation,
    compare_versions,
    compare_with_baseline,
    estimate_replaced,
)
from eval_pipeline.stages.exhibits import Exhibit, Exhibits, Shown, exhibits_of
from eval_pipeline.stages.golden import GOLDEN_ROWS, LoadedGolden, keep_golden_rows, load_golden
from eval_pipeline.stages.history import add_to_history
from eval_pipeline.stages.investigations import investigate_evaluation
from eval_pipeline.stages.probes import probe_cases, probe_golden
from eval_pipeline.stages.rows import RowAnswers, RowColumns, answer_with_rows
from eval_pipeline.stages.samples import draw_cases
from eval_pipeline.stages.scores import evaluate, evaluations_beside, outage_of, score_answers
from eval_pipeline.stages.systems import System, compare_systems, systems_of
from eval_pipeline.stages.workbench import Workbench

# fmt: off
__all__ = [
    "DEFAULT_SAMPLE", "GOLDEN_ROWS", "Exhibit", "Exhibits", "Incomplete", "LoadedGolden", "NotCurrent",
    "RowAnswers", "RowColumns", "Shown", "System", "Workbench", "add_to_history", "answer_cases",
    "answer_with_rows", "compare_evaluation", "compare_systems", "compare_versions",
    "compare_with_baseline", "current_answers", "draw_cases", "estimate_cost", "estimate_replaced",
    "evaluate", "evaluations_beside", "exhibits_of", "investigate_evaluation", "keep_golden_rows",
    "load_golden", "outage_of", "prepare_asking", "probe_cases", "probe_golden", "score_answers",
    "systems_of",
]
# fmt: on
