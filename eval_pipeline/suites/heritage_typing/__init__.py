"""Which of 19 types a heritage custodian is, from its description."""

from eval_pipeline.suite import Reporting, Suite
from eval_pipeline.suites._heritage.attributes import GROUPS, Settings, in_split
from eval_pipeline.suites.heritage_typing.cases import TypingExpected, TypingInput
from eval_pipeline.suites.heritage_typing.engine import Parameters, classify
from eval_pipeline.suites.heritage_typing.requirements import (
    READER,
    REQUIREMENTS,
    measure,
    second_annotations,
)
from eval_pipeline.suites.heritage_typing.scoring import METRICS, TABLES, Typing, case_passes, errored, score

SUITE = Suite(
    name="heritage_typing",
    description="The custodian type, one of 19 letters, of an institution that a text describes.",
    reader=READER,
    input=TypingInput,
    expected=TypingExpected,
    output=Typing,
    score=score,
    metrics=METRICS,
    headline="accuracy",
    case_passes=case_passes,
    embedded=classify,
    parameters=Parameters,
    settings=Settings,
    references=second_annotations,
    errored=errored,
    groups=GROUPS,
    measure=measure,
    requirements=REQUIREMENTS,
    selects=in_split,
    reporting=Reporting(tables=TABLES, table_units=dict.fromkeys(("precision", "recall", "f1"), "fraction")),
)
