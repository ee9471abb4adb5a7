"""Where in texts the suggestions of diagnoses stand."""

import re
from collections.abc import Sequence
from typing import Any

from eval_pipeline.suite import Case
from eval_pipeline.suite.pointing import Pointer

_CATEGORIZED = re.compile(r"(?P<text>.+) → .+", re.DOTALL)
_BROKEN = re.compile(r".+ \(at (?P<words>.+)\)", re.DOTALL)


def pointers(named: str, case: Case[Any, Any]) -> Sequence[Pointer]:
    """The suggestion, or the words at which a sentence breaks."""
    if categorized := _CATEGORIZED.fullmatch(named):
        return [Pointer(categorized["text"])]
    broken = _BROKEN.fullmatch(named)
    return [Pointer(broken["words"] if broken else named)]
