"""Entities of the heritage domain in a text: institutions by kind, places, times and identifiers."""

from eval_pipeline.suite import Reporting, Suite
from eval_pipeline.suites._heritage.attributes import GROUPS, Settings, in_split
from eval_pipeline.suites.heritage_ner.cases import NerExpected, NerInput
from eval_pipeline.suites.heritage_ner.engine import Parameters, Resources, extract
from eval_pipeline.suites.heritage_ner.requirements import READER, REQUIREMENTS, measure, second_annotations
from eval_pipeline.suites.heritage_ner.scoring import (
    METRICS,
    TABLE_UNITS,
    TABLES,
    Extraction,
    case_passes,
    errored,
    score,
)

SUITE = Suite(
    name="heritage_ner",
    description="Museums, archives, libraries, societies, places, times and identifiers in a text.",
    reader=READER,
    input=NerInput,
    expected=NerExpected,
    output=Extraction,
    score=score,
    metrics=METRICS,
    headline="strict_f1",
    case_passes=case_passes,
    embedded=extract,
    parameters=Parameters,
    settings=Settings,
    resources=Resources.load,
    references=second_annotations,
    errored=errored,
    groups=GROUPS,
    measure=measure,
    requirements=REQUIREMENTS,
    selects=in_split,
    reporting=Reporting(tables=TABLES, table_units=TABLE_UNITS),
)
