"""Review: errors in a design, a change of code or a plan, found by a workflow of concerns and methods."""

from eval_pipeline.golden import JsonCases
from eval_pipeline.suite import Reporting, Suite, per_case
from eval_pipeline.suites.review import (
    advice,
    cases,
    engine,
    experiments,
    findings,
    probing,
    references,
    requirements,
    scoring,
    tables,
)

SUITE = Suite(
    name="review",
    description="Errors in designs, code and plans, found by a workflow of concerns and methods.",
    reader=JsonCases(cases.GoldenTask, cases.to_case, cases.check_task),
    input=cases.ReviewInput,
    expected=cases.ReviewExpected,
    output=findings.Findings,
    score=per_case(scoring.score_case),
    errored=scoring.errored,
    metrics=scoring.METRICS,
    headline="detection_rate",
    case_passes=scoring.case_passes,
    embedded=engine.review,
    parameters=engine.Parameters,
    prepared=cases.Prepared,
    prepare=cases.prepare,
    resources=engine.load_checklist,
    references=references.load_decisions,
    groups=("kind",),
    trial_metrics=experiments.TRIAL_METRICS,
    measure=requirements.measure,
    requirements=requirements.REQUIREMENTS,
    reporting=Reporting(
        tables=tables.TABLES,
        table_units=tables.TABLE_UNITS,
        problems=tables.problems,
        trial_tables=experiments.TRIAL_TABLES,
        cross_tables=experiments.CROSS_TABLES,
        legends=tables.LEGENDS,
        readings=experiments.readings,
        advice=advice.advise,
    ),
    probing=probing.PROBING,
)
