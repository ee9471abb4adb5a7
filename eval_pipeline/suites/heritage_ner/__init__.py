"""Entities of the heritage domain in a text: institutions by kind, places, times and identifiers."""

from eval_pipeline.suite import Reporting, Suite
from eval_pipeline.suites._heritage.attributes import GROUPS, HELD_OUT, Settings, in_split
from eval_pipeline.suites.heritage_ner import cases, engine, probing, requirements, scoring

SUITE = Suite(
    name="heritage_ner",
    description="Museums, archives, libraries, societies, places, times and identifiers in a text.",
    reader=requirements.READER,
    input=cases.NerInput,
    expected=cases.NerExpected,
    output=scoring.Extraction,
    score=scoring.score,
    metrics=scoring.METRICS,
    headline="strict_f1",
    case_passes=scoring.case_passes,
    embedded=engine.extract,
    held_out=HELD_OUT,
    parameters=engine.Parameters,
    settings=Settings,
    resources=engine.Resources.load,
    references=requirements.second_annotations,
    errored=scoring.errored,
    groups=GROUPS,
    measure=requirements.measure,
    requirements=requirements.REQUIREMENTS,
    selects=in_split,
    reporting=Reporting(
        tables=scoring.TABLES, table_units=scoring.TABLE_UNITS, confusions=(scoring.CONFUSION,)
    ),
    probing=probing.PROBING,
)
