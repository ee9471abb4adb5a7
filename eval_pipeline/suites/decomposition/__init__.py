"""Decomposition of a text into concepts and relationships between them."""

from eval_pipeline.golden import JsonCases
from eval_pipeline.suite import Suite, per_case
from eval_pipeline.suites.decomposition.cases import (
    DecompositionExpected,
    DecompositionInput,
    GoldenEntry,
    check_entry,
    to_case,
)
from eval_pipeline.suites.decomposition.engine import Parameters, decompose
from eval_pipeline.suites.decomposition.requirements import REQUIREMENTS, measure
from eval_pipeline.suites.decomposition.scoring import METRICS, Decomposition, case_passes, score_case

SUITE = Suite(
    name="decomposition",
    description="Concepts, their provenance, and relationships between them, from a source text.",
    reader=JsonCases(GoldenEntry, to_case, check_entry),
    input=DecompositionInput,
    expected=DecompositionExpected,
    output=Decomposition,
    score=per_case(score_case),
    metrics=METRICS,
    headline="overall_index",
    case_passes=case_passes,
    embedded=decompose,
    parameters=Parameters,
    groups=("domain",),
    measure=measure,
    requirements=REQUIREMENTS,
)
