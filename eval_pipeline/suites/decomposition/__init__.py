"""Decomposition of a text into concepts and relationships between them."""

from eval_pipeline.golden import JsonCases
from eval_pipeline.suite import Reporting, Suite, per_case
from eval_pipeline.suites.decomposition import calibration, cases, engine, probing, requirements, scoring

SUITE = Suite(
    name="decomposition",
    description="Concepts, their provenance, and relationships between them, from a source text.",
    reader=JsonCases(cases.GoldenEntry, cases.to_case, cases.check_entry),
    input=cases.DecompositionInput,
    expected=cases.DecompositionExpected,
    output=scoring.Decomposition,
    score=per_case(scoring.score_case),
    metrics=scoring.METRICS,
    headline="overall_index",
    case_passes=scoring.case_passes,
    embedded=engine.decompose,
    parameters=engine.Parameters,
    groups=("domain",),
    measure=requirements.measure,
    requirements=requirements.REQUIREMENTS,
    reporting=Reporting(
        tables={calibration.CALIBRATION: calibration.calibration_rows},
        table_units=dict.fromkeys(("share correct", "mean confidence"), "fraction"),
    ),
    probing=probing.PROBING,
)
