"""What evaluations leave behind: tables, records, history. No policy."""

from eval_pipeline.store.baselines import (
    Baseline,
    baseline_file,
    baseline_side,
    keep_baseline,
    read_baseline,
    read_baselines,
)
from eval_pipeline.store.database import Database, Stored, database_file, database_url, text_type
from eval_pipeline.store.history import History, export, point_of
from eval_pipeline.store.state import LARGEST_RECORD, Compared, Proposal, Scored, Store, latest_in
from eval_pipeline.store.tables import AnswerTable, AnswerWriter, GoldenFacts, GoldenTable

# fmt: off
__all__ = [
    "LARGEST_RECORD", "AnswerTable", "AnswerWriter", "Baseline", "Compared", "Database", "GoldenFacts",
    "GoldenTable", "History", "Proposal", "Scored", "Store", "Stored", "baseline_file", "baseline_side",
    "database_file", "database_url", "export", "keep_baseline", "latest_in", "point_of", "read_baseline",
    "read_baselines", "text_type",
]
# fmt: on
