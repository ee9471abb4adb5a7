"""Asking engines: questions, trials, what it cost, and the judge."""

from eval_pipeline.asking.adaptive import AllTrials, ComparedLooks
from eval_pipeline.asking.collecting import Looks, TrialAnswers, collect_outputs, collect_part, run
from eval_pipeline.asking.judge import judged_context, share_judge
from eval_pipeline.asking.progress import Progress, Silence, SoFar, Tally
from eval_pipeline.asking.questions import Questions

# fmt: off
__all__ = [
    "AllTrials", "ComparedLooks", "Looks", "Progress", "Questions", "Silence", "SoFar", "Tally",
    "TrialAnswers", "collect_outputs", "collect_part", "judged_context", "run", "share_judge",
]
# fmt: on
