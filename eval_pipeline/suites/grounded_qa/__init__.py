"""Grounded question answering: right claims with right citations, and refusals where there is no answer."""

from eval_pipeline.golden import JsonCases
from eval_pipeline.suite import Reporting, Suite
from eval_pipeline.suites.grounded_qa import (
    advice,
    cases,
    corpus,
    engine,
    probing,
    requirements,
    scoring,
    traces,
)

SUITE = Suite(
    name="grounded_qa",
    description="Questions over a corpus: a claim with citations, or a refusal where it has no answer.",
    reader=JsonCases(cases.GoldEntry, cases.to_case, cases.check_entry, cases.are_sound),
    input=cases.GroundedInput,
    expected=cases.GroundedExpected,
    output=traces.GroundedAnswer,
    prepare=corpus.prepare,
    prepared=corpus.PreparedQuestion,
    carried=("retrieved_ids",),
    resources=corpus.load_corpus,
    score=scoring.score,
    errored=scoring.errored,
    metrics=scoring.METRICS,
    headline="accuracy",
    case_passes=scoring.case_passes,
    embedded=engine.answer,
    parameters=corpus.Parameters,
    settings=scoring.Settings,
    answers=traces.answer_format,
    groups=("answerability", "evidence"),
    requirements=requirements.REQUIREMENTS,
    reporting=Reporting(advice=advice.advise, report_keys=scoring.report_keys),
    probing=probing.PROBING,
)
