"""Suggestions: alternatives to a highlighted span of a video prompt."""

from eval_pipeline.golden import JsonCases
from eval_pipeline.suite import Reporting, Suite, matrix_rows, per_case
from eval_pipeline.suites.suggestions import cases, engine, models, probing, requirements, scoring

SUITE = Suite(
    name="suggestions",
    description="Alternatives to a highlighted span of a video prompt: coherent, diverse, new and usable.",
    reader=JsonCases(cases.GoldenEntry, cases.to_case, cases.check_entry),
    input=cases.SuggestionInput,
    expected=cases.SuggestionExpected,
    output=scoring.Suggestions,
    annotate=scoring.annotate,
    score=per_case(scoring.score_case),
    errored=scoring.errored,
    metrics=scoring.METRICS,
    headline="category_coherence",
    case_passes=scoring.case_passes,
    embedded=engine.suggest,
    parameters=engine.Parameters,
    resources=engine.load_resources,
    references=models.load_references,
    models=models.MODELS,
    trained=models.trained_models,
    groups=("category", "parent"),
    requests_per_minute=20,
    measure=requirements.measure,
    requirements=requirements.REQUIREMENTS,
    reporting=Reporting(tables={scoring.CLASSIFIED_AS: matrix_rows}),
    probing=probing.PROBING,
)
