"""Optimization: a short or vague video prompt, worked out for a target model."""

from eval_pipeline.suite import Suite, per_case
from eval_pipeline.suites.optimization import cases, engine, models, requirements, scoring

SUITE = Suite(
    name="optimization",
    description="A video prompt worked out in full: intent kept, nothing missing, fit for its target model.",
    reader=cases.OptimizationCases(),
    input=cases.OptimizationInput,
    expected=cases.OptimizationExpected,
    output=scoring.OptimizedPrompt,
    annotate=scoring.annotate,
    score=per_case(scoring.score_case),
    errored=scoring.errored,
    metrics=scoring.METRICS,
    headline="intent_preservation",
    case_passes=scoring.case_passes,
    embedded=engine.optimize,
    parameters=engine.Parameters,
    resources=models.load_resources,
    models=models.MODELS,
    trained=models.trained_models,
    groups=("size", "target_model"),
    requests_per_minute=5,
    measure=requirements.measure,
    requirements=requirements.REQUIREMENTS,
)
