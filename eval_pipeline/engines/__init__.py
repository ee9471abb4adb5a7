"""Engines: what answers a case."""

from eval_pipeline.engines.budget import Purse
from eval_pipeline.engines.configuration import (
    EnginesFile,
    answered_from,
    changed_engines,
    check_engine,
    default_engine,
    engines_for,
    open_engine,
    open_judge,
    read_engines,
    shards_of,
)
from eval_pipeline.engines.estimates import Estimate
from eval_pipeline.engines.interface import Engine, Request
from eval_pipeline.engines.journal import Journal, Usage
from eval_pipeline.engines.journal_tables import journal_tables
from eval_pipeline.engines.kinds import MeteredEntry
from eval_pipeline.engines.metered import MeteredEngine
from eval_pipeline.engines.readiness import readiness

# fmt: off
__all__ = [
    "Engine", "EnginesFile", "Estimate", "Journal", "MeteredEngine", "MeteredEntry", "Purse", "Request",
    "Usage", "answered_from", "changed_engines", "check_engine", "default_engine", "engines_for",
    "journal_tables", "open_engine", "open_judge", "read_engines", "readiness", "shards_of",
]
# fmt: on
