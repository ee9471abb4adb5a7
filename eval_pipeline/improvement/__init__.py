"""From production back to the golden set: suggested cases, people's ratings, and the rhythm of reviews."""

from eval_pipeline.improvement.accepting import Accepted, accept
from eval_pipeline.improvement.drafting import drafting_of
from eval_pipeline.improvement.failures import Failing, Failures, Measures, Ruling, find_failures
from eval_pipeline.improvement.measures import failing_measures
from eval_pipeline.improvement.monthly import Month, Satisfied, month_of
from eval_pipeline.improvement.quarterly import Proposal, Quarter, quarter_of
from eval_pipeline.improvement.ratings import (
    Item,
    Queue,
    Ratings,
    Sheet,
    Taken,
    answers_to_rate,
    make_queue,
    plain_lines,
    queues_of,
    ratings_of,
    take,
)
from eval_pipeline.improvement.ratings import folder_of as ratings_folder
from eval_pipeline.improvement.requests import Request, last_day, requests_of, window
from eval_pipeline.improvement.satisfaction import Satisfaction, rated_accuracy
from eval_pipeline.improvement.suggesting import MOST, Outcome, suggest, write
from eval_pipeline.improvement.suggestions import Suggestion, drop, files_of, undecided
from eval_pipeline.improvement.suggestions import folder_of as suggestions_folder
from eval_pipeline.improvement.weekly import SHOWN, Week, week_of

# fmt: off
__all__ = [
    "MOST", "SHOWN", "Accepted", "Failing", "Failures", "Item", "Measures", "Month", "Outcome", "Proposal",
    "Quarter", "Queue", "Ratings", "Request", "Ruling", "Satisfaction", "Satisfied", "Sheet", "Suggestion",
    "Taken", "Week", "accept", "answers_to_rate", "drafting_of", "drop", "failing_measures", "files_of",
    "find_failures", "last_day", "make_queue", "month_of", "plain_lines", "quarter_of", "queues_of",
    "rated_accuracy", "ratings_folder", "ratings_of", "requests_of", "suggest", "suggestions_folder",
    "take", "undecided", "week_of", "window", "write",
]
# fmt: on
