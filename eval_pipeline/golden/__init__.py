"""Golden sets: reading them, identifying them, signing them off, probing them."""

from eval_pipeline.golden.dataset import DATASET_FILE, Dataset, read_dataset
from eval_pipeline.golden.golden_set import GoldenSet
from eval_pipeline.golden.identity import golden_hash, resources_folder
from eval_pipeline.golden.overview import OverviewBuilder, joined, shortfalls
from eval_pipeline.golden.probes import ANSWERS_FILE, ORACLE, Probes, make_probes, shuffled_sets
from eval_pipeline.golden.readers import JSON_LINES, CasesBySuffix, JsonCases, TsvCases, reader_of
from eval_pipeline.golden.reading import JUDGE_FILE, GoldenCase, read_case_blocks, read_cases
from eval_pipeline.golden.shapes import as_value, strings
from eval_pipeline.golden.signoff import HEAD_FILE, LEDGER_FILE, Unsigned, unsigned_changes

# fmt: off
__all__ = [
    "ANSWERS_FILE", "DATASET_FILE", "HEAD_FILE", "JSON_LINES", "JUDGE_FILE", "LEDGER_FILE", "ORACLE",
    "CasesBySuffix", "Dataset", "GoldenCase", "GoldenSet", "JsonCases", "OverviewBuilder", "Probes",
    "TsvCases", "Unsigned", "as_value", "golden_hash", "joined", "make_probes", "read_case_blocks",
    "read_cases", "read_dataset", "reader_of", "resources_folder", "shortfalls", "shuffled_sets",
    "strings", "unsigned_changes",
]
# fmt: on
