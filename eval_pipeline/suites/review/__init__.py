"""Review: errors in a design, a change of code or a plan, found by a workflow of concerns and methods."""

from eval_pipeline.golden import JsonCases
from eval_pipeline.suite import Reporting, Suite, per_case
from eval_pipeline.suites.review.advice import advise
from eval_pipeline.suites.review.cases import (
    GoldenTask,
    Prepared,
    ReviewExpected,
    ReviewInput,
    check_task,
    prepare,
    to_case,
)
from eval_pipeline.suites.review.engine import Parameters, load_checklist, review
from eval_pipeline.suites.review.experiments import CROSS_TABLES, TRIAL_METRICS, TRIAL_TABLES
from eval_pipeline.suites.review.findings import Findings
from eval_pipeline.suites.review.references import load_decisions
from eval_pipeline.suites.review.requirements import REQUIREMENTS, measure
from eval_pipeline.suites.review.scoring import METRICS, case_passes, errored, score_case
from eval_pipeline.suites.review.tables import TABLE_UNITS, TABLES, problems

SUITE = Suite(
    name="review",
    description="Errors in designs, code and plans, found by a workflow of concerns and methods.",
    reader=JsonCases(GoldenTask, to_case, check_task),
    input=ReviewInput,
    expected=ReviewExpected,
    output=Findings,
    score=per_case(score_case),
    errored=errored,
    metrics=METRICS,
    headline="detection_rate",
    case_passes=case_passes,
    embedded=review,
    parameters=Parameters,
    prepared=Prepared,
    prepare=prepare,
    resources=load_checklist,
    references=load_decisions,
    groups=("kind",),
    trial_metrics=TRIAL_METRICS,
    measure=measure,
    requirements=REQUIREMENTS,
    reporting=Reporting(
        tables=TABLES,
        table_units=TABLE_UNITS,
        problems=problems,
        trial_tables=TRIAL_TABLES,
        cross_tables=CROSS_TABLES,
        advice=advise,
    ),
)
