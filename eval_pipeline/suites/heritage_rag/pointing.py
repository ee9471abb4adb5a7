"""Where in texts the facts and passages of diagnoses stand."""

import re
from collections.abc import Sequence
from typing import Any

from eval_pipeline.suite import Case
from eval_pipeline.suite.pointing import Pointer

_MISSED = re.compile(r"(?P<fact>.+) \(in (?P<passages>\S+(?:, \S+)*)\)", re.DOTALL)


def pointers(named: str, case: Case[Any, Any]) -> Sequence[Pointer]:
    """A fact that was missed, and the passages that hold it; else the words themselves."""
    missed = _MISSED.fullmatch(named)
    words = [missed["fact"], *missed["passages"].split(", ")] if missed else [named]
    return [Pointer(each) for each in words]
