"""What the numbers allow: gates, objections, approvals, and what a change touches."""

from eval_pipeline.decisions.approvals import (
    Approval,
    approvals_of,
    keep_approval,
    read_approvals,
    result_key,
)
from eval_pipeline.decisions.candidates import candidates
from eval_pipeline.decisions.gate import (
    ALL_VERSIONS,
    BROKEN,
    EXIT_CODES,
    SIGNS,
    Decision,
    State,
    crashed,
    decide,
    lost,
    unusable,
    worst,
)
from eval_pipeline.decisions.incidents import (
    COMPLETE,
    PRODUCTION,
    Finding,
    Incident,
    Incidents,
    Kind,
    Look,
    Message,
)
from eval_pipeline.decisions.laid_over import measured_tree, named_by_whose
from eval_pipeline.decisions.measure import (
    TouchedMeasure,
    lost_suites,
    stray_prompts,
    touched_measure,
    touched_measures,
)
from eval_pipeline.decisions.moving import Moved, move_database
from eval_pipeline.decisions.objections import (
    MEASURE,
    FailedCheck,
    Objections,
    Standing,
    Standings,
    objections,
    of_measure,
    paused_by,
)
from eval_pipeline.decisions.production import (
    UNKNOWN,
    is_production_known,
    look_at_production,
    open_incidents,
    watched_now,
)
from eval_pipeline.decisions.proposals import live_proposals
from eval_pipeline.decisions.pruning import (
    KEPT_DAYS,
    KEPT_LAST,
    Keeping,
    Superfluous,
    size_of,
    superfluous_files,
)
from eval_pipeline.decisions.purging import Purged, purge, purgeable
from eval_pipeline.decisions.release import Refused, allow_activation, approving, promote
from eval_pipeline.decisions.results import (
    Result,
    latest_result,
    objections_of_production,
    objections_to,
    propose,
    standing_of,
    standings_of,
)
from eval_pipeline.decisions.rules import altered_cases, engines_at, rules_at, touched_rules
from eval_pipeline.decisions.served import Key, Sampled, Served, Timeline, served_by
from eval_pipeline.decisions.survey import MOST_INCIDENTS, SuiteSurvey, Survey, VersionSurvey, survey_of
from eval_pipeline.decisions.touched import (
    Change,
    Touched,
    change_since,
    only_unread_text_changed,
    touched_suites,
)

# fmt: off
__all__ = [
    "ALL_VERSIONS", "BROKEN", "COMPLETE", "EXIT_CODES", "KEPT_DAYS", "KEPT_LAST", "MEASURE",
    "MOST_INCIDENTS", "PRODUCTION", "SIGNS", "UNKNOWN", "Approval", "Change", "Decision", "FailedCheck",
    "Finding", "Incident", "Incidents", "Keeping", "Key", "Kind", "Look", "Message", "Moved",
    "Objections", "Purged", "Refused", "Result", "Sampled", "Served", "Standing", "Standings", "State",
    "SuiteSurvey", "Superfluous", "Survey", "Timeline", "Touched", "TouchedMeasure", "VersionSurvey",
    "allow_activation", "altered_cases", "approvals_of", "approving", "candidates", "change_since",
    "crashed", "decide", "engines_at", "is_production_known", "keep_approval", "latest_result",
    "live_proposals", "look_at_production", "lost", "lost_suites", "measured_tree", "move_database",
    "named_by_whose", "objections", "objections_of_production", "objections_to", "of_measure",
    "only_unread_text_changed", "open_incidents", "paused_by", "promote", "propose", "purge", "purgeable",
    "read_approvals", "result_key", "rules_at", "served_by", "size_of", "standing_of", "standings_of",
    "stray_prompts", "superfluous_files", "survey_of", "touched_measure", "touched_measures",
    "touched_rules", "touched_suites", "unusable", "watched_now", "worst",
]
# fmt: on
