"""Golden sets: reading them, identifying them, signing them off."""

from eval_pipeline.golden.golden_set import GoldenSet
from eval_pipeline.golden.overview import OverviewBuilder, joined, shortfalls
from eval_pipeline.golden.readers import JSON_LINES, CasesBySuffix, JsonCases, TsvCases, reader_of
from eval_pipeline.golden.reading import JUDGE_FILE, GoldenCase, read_case_blocks, read_cases

# fmt: off
__all__ = [
    "JSON_LINES", "JUDGE_FILE", "CasesBySuffix", "GoldenCase", "GoldenSet", "JsonCases", "OverviewBuilder",
    "TsvCases", "joined", "read_case_blocks", "read_cases", "reader_of", "shortfalls",
]
# fmt: on
