"""Asking engines: questions, trials, what it cost, and the judge."""

from eval_pipeline.asking.adaptive import AllTrials, ComparedLooks
from eval_pipeline.asking.collecting import Looks, collect_outputs, run
from eval_pipeline.asking.judge import judged_context
from eval_pipeline.asking.progress import Progress, Silence, Tally
from eval_pipeline.asking.questions import Questions

# fmt: off
__all__ = [
    "AllTrials", "ComparedLooks", "Looks", "Progress", "Questions", "Silence", "Tally", "collect_outputs",
    "judged_context", "run",
]
# fmt: on
