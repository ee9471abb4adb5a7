"""What evaluations leave behind: tables, records, history. No policy."""

from eval_pipeline.store.baselines import (
    Baseline,
    baseline_file,
    baseline_side,
    keep_baseline,
    read_baseline,
    read_baselines,
)
from eval_pipeline.store.database import (
    Database,
    Stored,
    database_file,
    database_url,
    is_database_shared,
    text_type,
)
from eval_pipeline.store.history import History, export, point_of
from eval_pipeline.store.pieces import (
    AnswerMerger,
    AnswerPart,
    PieceOfScores,
    keep_piece,
    kept_piece,
    merged_scores,
    part_of_answers,
    usable_answers,
)
from eval_pipeline.store.published import DASHBOARD, PAGE, TWIN, WEEKLY, Shelf, note_address, report_shelf
from eval_pipeline.store.state import LARGEST_RECORD, Compared, Proposal, Scored, Store, latest_in
from eval_pipeline.store.tables import (
    ANSWER_COLUMNS,
    GOLDEN_COLUMNS,
    AnswerTable,
    AnswerWriter,
    GoldenFacts,
    GoldenTable,
)

# fmt: off
__all__ = [
    "ANSWER_COLUMNS", "DASHBOARD", "GOLDEN_COLUMNS", "LARGEST_RECORD", "PAGE", "TWIN", "WEEKLY",
    "AnswerMerger", "AnswerPart", "AnswerTable", "AnswerWriter", "Baseline", "Compared", "Database",
    "GoldenFacts", "GoldenTable", "History", "PieceOfScores", "Proposal", "Scored", "Shelf", "Store",
    "Stored", "baseline_file", "baseline_side", "database_file", "database_url", "export",
    "is_database_shared", "keep_baseline", "keep_piece", "kept_piece", "latest_in", "merged_scores",
    "note_address", "part_of_answers", "point_of", "read_baseline", "read_baselines", "report_shelf",
    "text_type", "usable_answers",
]
# fmt: on
