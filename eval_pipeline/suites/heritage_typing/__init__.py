"""Which of 19 types a heritage custodian is, from its description."""

from eval_pipeline.suite import Reporting, Suite
from eval_pipeline.suites._heritage.attributes import GROUPS, HELD_OUT, Settings, in_split
from eval_pipeline.suites.heritage_typing import cases, engine, probing, requirements, scoring

SUITE = Suite(
    name="heritage_typing",
    description="The custodian type, one of 19 letters, of an institution that a text describes.",
    reader=requirements.READER,
    input=cases.TypingInput,
    expected=cases.TypingExpected,
    output=scoring.Typing,
    score=scoring.score,
    metrics=scoring.METRICS,
    headline="accuracy",
    case_passes=scoring.case_passes,
    embedded=engine.classify,
    held_out=HELD_OUT,
    parameters=engine.Parameters,
    settings=Settings,
    references=requirements.second_annotations,
    errored=scoring.errored,
    groups=GROUPS,
    measure=requirements.measure,
    requirements=requirements.REQUIREMENTS,
    selects=in_split,
    reporting=Reporting(
        tables=scoring.TABLES,
        table_units=dict.fromkeys(("precision", "recall", "f1"), "fraction"),
        confusions=(scoring.CONFUSION,),
    ),
    probing=probing.PROBING,
)
