"""Where in texts the claims and citations of diagnoses stand."""

import re
from collections.abc import Sequence
from typing import Any

from eval_pipeline.suite import Case
from eval_pipeline.suite.pointing import Pointer

_CITATION = re.compile(r"[^\s,]+#\d+")


def pointers(named: str, case: Case[Any, Any]) -> Sequence[Pointer]:
    """Every citation; else every wording that is accepted."""
    words = _CITATION.findall(named) or named.split(" | ")
    return [Pointer(each) for each in words]
