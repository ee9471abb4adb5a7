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
    DATABASE_VARIABLE,
    Database,
    Stored,
    database_file,
    database_url,
    embedded_database,
    is_dagster_shared,
    is_database_shared,
    shared_database,
    text_type,
)
from eval_pipeline.store.history import History, export, history_table, point_of
from eval_pipeline.store.names import PAGE, TWIN
from eval_pipeline.store.objects import STORE_VARIABLE
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
from eval_pipeline.store.proposals import Proposal, ProposalFiles, proposals_of
from eval_pipeline.store.published import DASHBOARD, WEEKLY, Shelf, note_address, report_shelf
from eval_pipeline.store.sharing import SharedCopies, is_store_shared, shared_files
from eval_pipeline.store.state import LARGEST_RECORD, Compared, Scored, Store
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
    "ANSWER_COLUMNS", "DASHBOARD", "DATABASE_VARIABLE", "GOLDEN_COLUMNS", "LARGEST_RECORD", "PAGE",
    "STORE_VARIABLE", "TWIN", "WEEKLY", "AnswerMerger", "AnswerPart", "AnswerTable", "AnswerWriter",
    "Baseline", "Compared", "Database", "GoldenFacts", "GoldenTable", "History", "PieceOfScores",
    "Proposal", "ProposalFiles", "Scored", "SharedCopies", "Shelf", "Store", "Stored", "baseline_file",
    "baseline_side", "database_file", "database_url", "embedded_database", "export", "history_table",
    "is_dagster_shared", "is_database_shared", "is_store_shared", "keep_baseline", "keep_piece",
    "kept_piece", "merged_scores", "note_address", "part_of_answers", "point_of",
    "proposals_of", "read_baseline", "read_baselines", "report_shelf", "shared_database", "shared_files",
    "text_type", "usable_answers",
]
# fmt: on
