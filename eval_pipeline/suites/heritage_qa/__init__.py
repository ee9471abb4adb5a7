"""Questions about heritage institutions, answered from passages or rightly refused."""

from eval_pipeline.golden import JsonCases
from eval_pipeline.suite import Suite
from eval_pipeline.suites._heritage.attributes import GROUPS, in_split
from eval_pipeline.suites.heritage_qa.cases import (
    GoldenEntry,
    QuestionExpected,
    QuestionInput,
    check_entry,
    to_case,
)
from eval_pipeline.suites.heritage_qa.engine import Parameters, answer
from eval_pipeline.suites.heritage_qa.judge import JUDGE, QuestionSettings
from eval_pipeline.suites.heritage_qa.requirements import REQUIREMENTS, measure
from eval_pipeline.suites.heritage_qa.scoring import EMBEDDER, METRICS, Answered, annotate, case_passes, score

SUITE = Suite(
    name="heritage_qa",
    description="Answers to questions about heritage institutions, from the passages that come with them.",
    reader=JsonCases(GoldenEntry, to_case, check_entry),
    input=QuestionInput,
    expected=QuestionExpected,
    output=Answered,
    score=score,
    metrics=(*METRICS, *JUDGE.metrics),
    headline="factual_accuracy",
    case_passes=case_passes,
    embedded=answer,
    parameters=Parameters,
    settings=QuestionSettings,
    selects=in_split,
    annotate=annotate,
    models=(EMBEDDER,),
    judge=JUDGE,
    groups=("question_type", "answerable", *GROUPS),
    measure=measure,
    requirements=REQUIREMENTS,
)
