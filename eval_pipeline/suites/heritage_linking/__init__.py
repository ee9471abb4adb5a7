"""Linking of mentions of heritage institutions to a knowledge base."""

from eval_pipeline.golden import JsonCases
from eval_pipeline.suite import Reporting, Suite, per_case
from eval_pipeline.suites._heritage.attributes import GROUPS, Settings, in_split
from eval_pipeline.suites.heritage_linking.cases import (
    GoldenEntry,
    LinkingExpected,
    LinkingInput,
    check_entry,
    to_case,
)
from eval_pipeline.suites.heritage_linking.engine import Parameters, Prepared, link, prepare
from eval_pipeline.suites.heritage_linking.engine.knowledge import load_knowledge_base
from eval_pipeline.suites.heritage_linking.requirements import REQUIREMENTS, measure
from eval_pipeline.suites.heritage_linking.scoring import (
    METRICS,
    Linking,
    case_passes,
    errored,
    phenomenon_rows,
    score_case,
)

SUITE = Suite(
    name="heritage_linking",
    description="Mentions of heritage institutions, linked to a knowledge base or said to be missing there.",
    reader=JsonCases(GoldenEntry, to_case, check_entry),
    input=LinkingInput,
    expected=LinkingExpected,
    output=Linking,
    score=per_case(score_case),
    metrics=METRICS,
    headline="hits@1",
    case_passes=case_passes,
    embedded=link,
    parameters=Parameters,
    settings=Settings,
    selects=in_split,
    prepared=Prepared,
    prepare=prepare,
    resources=load_knowledge_base,
    errored=errored,
    groups=GROUPS,
    measure=measure,
    requirements=REQUIREMENTS,
    reporting=Reporting(tables={"phenomena": phenomenon_rows}, table_units={"share": "fraction"}),
)
