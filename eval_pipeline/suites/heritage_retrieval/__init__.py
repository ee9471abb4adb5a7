"""Retrieval of passages about heritage institutions: ranked results against graded judgments."""

from eval_pipeline.suite import Reporting, Suite
from eval_pipeline.suites._heritage.attributes import GROUPS, Settings, in_split
from eval_pipeline.suites.heritage_retrieval.cases import RetrievalExpected, RetrievalInput, TrecCases
from eval_pipeline.suites.heritage_retrieval.engine import Parameters, Prepared, prepare, retrieve
from eval_pipeline.suites.heritage_retrieval.engine.corpus import load_corpus
from eval_pipeline.suites.heritage_retrieval.requirements import REQUIREMENTS, measure
from eval_pipeline.suites.heritage_retrieval.scoring import METRICS, case_passes, errored, score, source_rows
from eval_pipeline.suites.heritage_retrieval.trec import Retrieval, answer_format

SUITE = Suite(
    name="heritage_retrieval",
    description="Passages about heritage institutions, ranked for a query in one of four languages.",
    reader=TrecCases(),
    input=RetrievalInput,
    expected=RetrievalExpected,
    output=Retrieval,
    score=score,
    metrics=METRICS,
    headline="ndcg@10",
    case_passes=case_passes,
    embedded=retrieve,
    parameters=Parameters,
    settings=Settings,
    selects=in_split,
    prepared=Prepared,
    prepare=prepare,
    resources=load_corpus,
    errored=errored,
    answers=answer_format,
    groups=GROUPS,
    measure=measure,
    requirements=REQUIREMENTS,
    reporting=Reporting(
        tables={"sources": source_rows, "passage_sources": source_rows},
        table_units=dict.fromkeys(("share", "top1", "top5", "relevant"), "fraction"),
    ),
)
