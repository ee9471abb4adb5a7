"""Suggestions: alternatives to a highlighted span of a video prompt."""

from eval_pipeline.golden import JsonCases
from eval_pipeline.suite import Reporting, Suite, matrix_rows, per_case
from eval_pipeline.suites.suggestions.cases import (
    GoldenEntry,
    SuggestionExpected,
    SuggestionInput,
    check_entry,
    to_case,
)
from eval_pipeline.suites.suggestions.engine import Parameters, load_resources, suggest
from eval_pipeline.suites.suggestions.models import MODELS, load_references, trained_models
from eval_pipeline.suites.suggestions.requirements import REQUIREMENTS, measure
from eval_pipeline.suites.suggestions.scoring import (
    CLASSIFIED_AS,
    METRICS,
    Suggestions,
    annotate,
    case_passes,
    errored,
    score_case,
)

SUITE = Suite(
    name="suggestions",
    description="Alternatives to a highlighted span of a video prompt: coherent, diverse, new and usable.",
    reader=JsonCases(GoldenEntry, to_case, check_entry),
    input=SuggestionInput,
    expected=SuggestionExpected,
    output=Suggestions,
    annotate=annotate,
    score=per_case(score_case),
    errored=errored,
    metrics=METRICS,
    headline="category_coherence",
    case_passes=case_passes,
    embedded=suggest,
    parameters=Parameters,
    resources=load_resources,
    references=load_references,
    models=MODELS,
    trained=trained_models,
    groups=("category", "parent"),
    requests_per_minute=20,
    measure=measure,
    requirements=REQUIREMENTS,
    reporting=Reporting(tables={CLASSIFIED_AS: matrix_rows}),
)
