"""Grounded question answering: right claims with right citations, and refusals where there is no answer."""

from eval_pipeline.golden import JsonCases
from eval_pipeline.suite import Reporting, Suite
from eval_pipeline.suites.grounded_qa.advice import advise
from eval_pipeline.suites.grounded_qa.cases import (
    GoldEntry,
    GroundedExpected,
    GroundedInput,
    are_sound,
    check_entry,
    to_case,
)
from eval_pipeline.suites.grounded_qa.corpus import Parameters, PreparedQuestion, load_corpus, prepare
from eval_pipeline.suites.grounded_qa.engine import answer
from eval_pipeline.suites.grounded_qa.requirements import REQUIREMENTS
from eval_pipeline.suites.grounded_qa.scoring import (
    METRICS,
    Settings,
    case_passes,
    errored,
    report_keys,
    score,
)
from eval_pipeline.suites.grounded_qa.traces import GroundedAnswer, answer_format

SUITE = Suite(
    name="grounded_qa",
    description="Questions over a corpus: a claim with citations, or a refusal where it has no answer.",
    reader=JsonCases(GoldEntry, to_case, check_entry, are_sound),
    input=GroundedInput,
    expected=GroundedExpected,
    output=GroundedAnswer,
    prepare=prepare,
    prepared=PreparedQuestion,
    carried=("retrieved_ids",),
    resources=load_corpus,
    score=score,
    errored=errored,
    metrics=METRICS,
    headline="accuracy",
    case_passes=case_passes,
    embedded=answer,
    parameters=Parameters,
    settings=Settings,
    answers=answer_format,
    groups=("answerability", "evidence"),
    requirements=REQUIREMENTS,
    reporting=Reporting(advice=advise, report_keys=report_keys),
)
