"""From production back to the golden set: suggested cases, people's ratings, and the rhythm of reviews."""

from eval_pipeline.improvement.accepting import Accepted, accept
from eval_pipeline.improvement.drafting import drafting_of
from eval_pipeline.improvement.failures import Failing, Failures, Measures, Ruling, find_failures
from eval_pipeline.improvement.requests import Request, requests_of, window
from eval_pipeline.improvement.suggesting import MOST, Outcome, suggest, write
from eval_pipeline.improvement.suggestions import Suggestion, drop, files_of, undecided

# fmt: off
__all__ = [
    "MOST", "Accepted", "Failing", "Failures", "Measures", "Outcome", "Request", "Ruling", "Suggestion",
    "accept", "drafting_of", "drop", "files_of", "find_failures", "requests_of", "suggest", "undecided",
    "window", "write",
]
# fmt: on
