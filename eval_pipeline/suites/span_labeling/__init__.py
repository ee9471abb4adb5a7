"""Labelling the visual control points of a video prompt: who, what, where, and how it is filmed."""

from eval_pipeline.suite import Reporting, Suite
from eval_pipeline.suites.span_labeling import cases, engine, probing, requirements, resources, scoring

SUITE = Suite(
    name="span_labeling",
    description="The visual control points of a video prompt, as spans with a category each.",
    reader=cases.SpanCases(),
    input=cases.SpanInput,
    expected=cases.SpanExpected,
    output=scoring.Labels,
    score=scoring.score,
    metrics=scoring.METRICS,
    headline="relaxed_f1",
    case_passes=scoring.case_passes,
    embedded=engine.label,
    parameters=engine.Parameters,
    settings=scoring.Settings,
    resources=resources.load_resources,
    errored=scoring.errored,
    groups=("kind",),
    requests_per_minute=10,
    measure=requirements.measure,
    requirements=requirements.REQUIREMENTS,
    reporting=Reporting(
        tables={scoring.CATEGORIES: scoring.category_rows, scoring.CONFUSION: scoring.confusion_rows},
        table_units=dict.fromkeys(("precision", "recall", "f1"), "fraction"),
        confusions=(scoring.CONFUSION,),
        problems=scoring.problem_categories,
    ),
    probing=probing.PROBING,
)
