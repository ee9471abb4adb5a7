"""What engines answer: the record of an answer, its parsing, and files of recorded ones."""

from eval_pipeline.answers.costs import REMEDIES, TRANSPORT, CostCounter, Costs, Outage, costs_of, error_lines
from eval_pipeline.answers.identity import CaseSample, OutputsIdentity
from eval_pipeline.answers.in_step import AnswersInStep, OutOfStep
from eval_pipeline.answers.line_files import AnswerFile, AnswerFormat, LineFormat, Shortcut, UsualLine
from eval_pipeline.answers.parsing import (
    TOO_LARGE,
    Failure,
    Usable,
    failure_of,
    first_json,
    parse,
    without_own,
)
from eval_pipeline.answers.record import (
    FIRST_TRIAL,
    LARGEST_TRIAL,
    MISSING,
    MOST_TOKENS,
    STALE,
    TIMEOUT,
    Answer,
    AnswerSource,
    OutputSource,
)
from eval_pipeline.answers.recorded import RECORDED, index_answers, recorded_format, recorded_line
from eval_pipeline.answers.trials import (
    AtLeastOne,
    Stopping,
    StopReason,
    TrialRange,
    Trials,
    most_trials,
    parse_trials,
)

# fmt: off
__all__ = [
    "FIRST_TRIAL", "LARGEST_TRIAL", "MISSING", "MOST_TOKENS", "RECORDED", "REMEDIES", "STALE", "TIMEOUT",
    "TOO_LARGE", "TRANSPORT", "Answer", "AnswerFile", "AnswerFormat", "AnswerSource", "AnswersInStep",
    "AtLeastOne", "CaseSample", "CostCounter", "Costs", "Failure", "LineFormat", "OutOfStep", "Outage",
    "OutputSource", "OutputsIdentity", "Shortcut", "StopReason", "Stopping", "TrialRange", "Trials",
    "Usable", "UsualLine", "costs_of", "error_lines", "failure_of", "first_json", "index_answers",
    "most_trials", "parse", "parse_trials", "recorded_format", "recorded_line", "without_own",
]
# fmt: on
