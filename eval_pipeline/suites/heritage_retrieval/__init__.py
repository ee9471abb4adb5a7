"""Retrieval of passages about heritage institutions: ranked results against graded judgments."""

from eval_pipeline.suite import Reporting, Suite
from eval_pipeline.suites._heritage.attributes import GROUPS, HELD_OUT, Settings, in_split
from eval_pipeline.suites.heritage_retrieval import cases, engine, probing, requirements, scoring, trec
from eval_pipeline.suites.heritage_retrieval.engine.corpus import load_corpus

SUITE = Suite(
    name="heritage_retrieval",
    description="Passages about heritage institutions, ranked for a query in one of four languages.",
    reader=cases.TrecCases(),
    input=cases.RetrievalInput,
    expected=cases.RetrievalExpected,
    output=trec.Retrieval,
    score=scoring.score,
    metrics=scoring.METRICS,
    headline="ndcg@10",
    case_passes=scoring.case_passes,
    passable=scoring.has_relevant,
    embedded=engine.retrieve,
    held_out=HELD_OUT,
    parameters=engine.Parameters,
    settings=Settings,
    selects=in_split,
    prepared=engine.Prepared,
    prepare=engine.prepare,
    resources=load_corpus,
    references=requirements.second_annotations,
    errored=scoring.errored,
    answers=trec.answer_format,
    groups=GROUPS,
    measure=requirements.measure,
    requirements=requirements.REQUIREMENTS,
    reporting=Reporting(
        tables={"sources": scoring.source_rows, "passage_sources": scoring.source_rows},
        table_units=dict.fromkeys(("share", "top1", "top5", "relevant"), "fraction"),
    ),
    probing=probing.PROBING,
)
