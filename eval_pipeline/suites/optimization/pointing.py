"""Where in texts the faults of diagnoses stand."""

import re
from collections.abc import Sequence
from typing import Any

from eval_pipeline.suite import Case
from eval_pipeline.suite.pointing import Pointer

_FAULT = re.compile(r"(?P<text>.+) after (?P<after>.+)", re.DOTALL)
_TERMS = re.compile(r"\d+: (?P<terms>.+)", re.DOTALL)


def pointers(named: str, case: Case[Any, Any]) -> Sequence[Pointer]:
    """What does not fit with what it follows, every technical term, else the words themselves."""
    if terms := _TERMS.fullmatch(named):
        return [Pointer(each) for each in terms["terms"].split(", ")]
    fault = _FAULT.fullmatch(named)
    return [Pointer(f"{fault['after']} {fault['text']}" if fault else named)]
