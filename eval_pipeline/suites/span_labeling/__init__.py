"""Labelling the visual control points of a video prompt: who, what, where, and how it is filmed."""

from eval_pipeline.suite import Reporting, Suite
from eval_pipeline.suites.span_labeling.cases import SpanCases, SpanExpected, SpanInput
from eval_pipeline.suites.span_labeling.engine import Parameters, label
from eval_pipeline.suites.span_labeling.requirements import REQUIREMENTS, measure
from eval_pipeline.suites.span_labeling.resources import load_resources
from eval_pipeline.suites.span_labeling.scoring import (
    CATEGORIES,
    CONFUSION,
    METRICS,
    Labels,
    Settings,
    case_passes,
    category_rows,
    confusion_rows,
    errored,
    problem_categories,
    score,
)

SUITE = Suite(
    name="span_labeling",
    description="The visual control points of a video prompt, as spans with a category each.",
    reader=SpanCases(),
    input=SpanInput,
    expected=SpanExpected,
    output=Labels,
    score=score,
    metrics=METRICS,
    headline="relaxed_f1",
    case_passes=case_passes,
    embedded=label,
    parameters=Parameters,
    settings=Settings,
    resources=load_resources,
    errored=errored,
    groups=("kind",),
    requests_per_minute=10,
    measure=measure,
    requirements=REQUIREMENTS,
    reporting=Reporting(
        tables={CATEGORIES: category_rows, CONFUSION: confusion_rows},
        table_units=dict.fromkeys(("precision", "recall", "f1"), "fraction"),
        confusions=(CONFUSION,),
        problems=problem_categories,
    ),
)
