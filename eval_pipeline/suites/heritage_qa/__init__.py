"""Questions about heritage institutions, answered from passages or rightly refused."""

from eval_pipeline.suite import Reporting, Suite
from eval_pipeline.suites._heritage.attributes import GROUPS, HELD_OUT, in_split
from eval_pipeline.suites.heritage_qa import cases, engine, judge, probing, requirements, scoring

SUITE = Suite(
    name="heritage_qa",
    description="Answers to questions about heritage institutions, from the passages that come with them.",
    reader=cases.READER,
    input=cases.QuestionInput,
    expected=cases.QuestionExpected,
    output=scoring.Answered,
    score=scoring.score,
    metrics=(*scoring.METRICS, *judge.JUDGE.metrics),
    headline="factual_accuracy",
    case_passes=scoring.case_passes,
    embedded=engine.answer,
    held_out=HELD_OUT,
    parameters=engine.Parameters,
    settings=judge.QuestionSettings,
    selects=in_split,
    annotate=scoring.annotate,
    models=(scoring.EMBEDDER,),
    judge=judge.JUDGE,
    groups=("question_type", "answerable", *GROUPS),
    references=requirements.second_annotations,
    measure=requirements.measure,
    requirements=requirements.REQUIREMENTS,
    reporting=Reporting(tables={scoring.CLAIMS: scoring.claim_rows}),
    probing=probing.PROBING,
)
