"""Questions about heritage institutions, from retrieval to the answer, and where it goes wrong."""

from eval_pipeline.suite import Reporting, Suite
from eval_pipeline.suites._heritage.attributes import GROUPS, HELD_OUT, Settings, in_split
from eval_pipeline.suites.heritage_qa.scoring import CLAIMS, EMBEDDER, annotate, case_passes, claim_rows
from eval_pipeline.suites.heritage_rag import cases, engine, probing, requirements, scoring
from eval_pipeline.suites.heritage_retrieval.engine.corpus import load_corpus

SUITE = Suite(
    name="heritage_rag",
    description="Questions over a corpus about heritage institutions: what was retrieved, and the answer.",
    reader=cases.CorpusCases(),
    input=cases.RagInput,
    expected=cases.RagExpected,
    output=cases.RagAnswer,
    score=scoring.score,
    metrics=scoring.METRICS,
    headline="factual_accuracy",
    case_passes=case_passes,
    embedded=engine.answer,
    held_out=HELD_OUT,
    parameters=engine.Parameters,
    settings=Settings,
    selects=in_split,
    prepared=engine.Prepared,
    prepare=engine.prepare,
    carried=("retrieved_ids",),
    resources=load_corpus,
    annotate=annotate,
    models=(EMBEDDER,),
    errored=scoring.errored,
    groups=("question_type", "answerable", *GROUPS),
    measure=requirements.measure,
    requirements=requirements.REQUIREMENTS,
    reporting=Reporting(tables={"outcomes": scoring.outcome_rows, CLAIMS: claim_rows}),
    probing=probing.PROBING,
)
