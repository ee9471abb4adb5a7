"""Linking of mentions of heritage institutions to a knowledge base."""

from eval_pipeline.suite import Reporting, Suite, per_case
from eval_pipeline.suites._heritage.attributes import GROUPS, HELD_OUT, Settings, in_split
from eval_pipeline.suites.heritage_linking import cases, engine, probing, requirements, scoring
from eval_pipeline.suites.heritage_linking.engine.knowledge import load_knowledge_base

SUITE = Suite(
    name="heritage_linking",
    description="Mentions of heritage institutions, linked to a knowledge base or said to be missing there.",
    reader=cases.READER,
    input=cases.LinkingInput,
    expected=cases.LinkingExpected,
    output=scoring.Linking,
    score=per_case(scoring.score_case),
    metrics=scoring.METRICS,
    headline="hits@1",
    case_passes=scoring.case_passes,
    embedded=engine.link,
    held_out=HELD_OUT,
    parameters=engine.Parameters,
    settings=Settings,
    selects=in_split,
    prepared=engine.Prepared,
    prepare=engine.prepare,
    resources=load_knowledge_base,
    references=requirements.second_annotations,
    errored=scoring.errored,
    groups=GROUPS,
    measure=requirements.measure,
    requirements=requirements.REQUIREMENTS,
    reporting=Reporting(tables=scoring.TABLES, table_units={"share": "fraction"}),
    probing=probing.PROBING,
)
