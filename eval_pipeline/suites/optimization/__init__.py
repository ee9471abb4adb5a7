"""Optimization: a short or vague video prompt, worked out for a target model."""

from eval_pipeline.suite import Suite, per_case
from eval_pipeline.suites.optimization.cases import OptimizationCases, OptimizationExpected, OptimizationInput
from eval_pipeline.suites.optimization.engine import Parameters, optimize
from eval_pipeline.suites.optimization.models import MODELS, load_resources, trained_models
from eval_pipeline.suites.optimization.requirements import REQUIREMENTS, measure
from eval_pipeline.suites.optimization.scoring import (
    METRICS,
    OptimizedPrompt,
    annotate,
    case_passes,
    errored,
    score_case,
)

SUITE = Suite(
    name="optimization",
    description="A video prompt worked out in full: intent kept, nothing missing, fit for its target model.",
    reader=OptimizationCases(),
    input=OptimizationInput,
    expected=OptimizationExpected,
    output=OptimizedPrompt,
    annotate=annotate,
    score=per_case(score_case),
    errored=errored,
    metrics=METRICS,
    headline="intent_preservation",
    case_passes=case_passes,
    embedded=optimize,
    parameters=Parameters,
    resources=load_resources,
    models=MODELS,
    trained=trained_models,
    groups=("size", "target_model"),
    requests_per_minute=5,
    measure=measure,
    requirements=REQUIREMENTS,
)
