"""Suites from a file: `golden/<suite>/suite.yaml`, or the same in a few lines of Python."""

from eval_pipeline.declarative.cases import CaseFiles, case_files
from eval_pipeline.declarative.catalogue import SCORERS
from eval_pipeline.declarative.declared import (
    DeclaredSuite,
    declared_names,
    files_of_cases,
    module_in,
    read_suite,
)
from eval_pipeline.declarative.file import KINDS, RESERVED, SUITE_FILE, read_declaration, suite_schema
from eval_pipeline.declarative.kinds import Json, Kind, Label, Labels, List, Number, Text
from eval_pipeline.declarative.records import SUFFIXES, read_rows, separator_of
from eval_pipeline.declarative.scorers import (
    F1,
    AllOf,
    AnyOf,
    Assertions,
    Citations,
    Contains,
    ContainsAll,
    ContainsAny,
    Cost,
    Equals,
    IsJson,
    JsonEquals,
    JsonSchema,
    Latency,
    Length,
    Levenshtein,
    MeanOf,
    NoneOf,
    NotContains,
    OneOf,
    Python,
    Ranking,
    Refusal,
    Regex,
    Reply,
    Rouge,
    Scorer,
    SetF1,
    Similarity,
    StartsWith,
)
from eval_pipeline.declarative.task import Task, WarnedOf, input_type

# fmt: off
__all__ = [
    "F1", "KINDS", "RESERVED", "SCORERS", "SUFFIXES", "SUITE_FILE", "AllOf", "AnyOf", "Assertions",
    "CaseFiles", "Citations", "Contains", "ContainsAll", "ContainsAny", "Cost", "DeclaredSuite", "Equals",
    "IsJson", "Json", "JsonEquals", "JsonSchema", "Kind", "Label", "Labels", "Latency", "Length",
    "Levenshtein", "List", "MeanOf", "NoneOf", "NotContains", "Number", "OneOf", "Python", "Ranking",
    "Refusal", "Regex", "Reply", "Rouge", "Scorer", "SetF1", "Similarity", "StartsWith", "Task", "Text",
    "WarnedOf", "case_files", "declared_names", "files_of_cases", "input_type", "module_in",
    "read_declaration", "read_rows", "read_suite", "separator_of", "suite_schema",
]
# fmt: on
