"""Golden sets: reading them, identifying them, signing them off."""

from eval_pipeline.golden.identity import golden_hash, inputs_hash, resources_folder
from eval_pipeline.golden.overview import OverviewBuilder, joined, shortfalls
from eval_pipeline.golden.readers import JSON_LINES, CasesBySuffix, JsonCases, TsvCases
from eval_pipeline.golden.reading import JUDGE_FILE, GoldenCase, read_case_blocks, read_cases
from eval_pipeline.golden.signoff import sign_off, unsigned_changes

__all__ = [
    "JSON_LINES",
    "JUDGE_FILE",
    "CasesBySuffix",
    "GoldenCase",
    "JsonCases",
    "OverviewBuilder",
    "TsvCases",
    "golden_hash",
    "inputs_hash",
    "joined",
    "read_case_blocks",
    "read_cases",
    "resources_folder",
    "shortfalls",
    "sign_off",
    "unsigned_changes",
]
