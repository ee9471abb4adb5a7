"""Where in texts the errors and findings of diagnoses stand."""

import re
from collections.abc import Sequence
from typing import Any

from eval_pipeline.suite import Case
from eval_pipeline.suite.pointing import Pointer

_ERROR = re.compile(r"(?P<id>\S+) [A-Z]+ [A-Z]+: (?P<text>.+)", re.DOTALL)
_FINDING = re.compile(r"[A-Z]+: (?P<quote>.+?)(?: \(line [^)]*\))?", re.DOTALL)


def pointers(named: str, case: Case[Any, Any]) -> Sequence[Pointer]:
    """What the golden set says of an error, and the place in the document; what a finding quotes."""
    if error := _ERROR.fullmatch(named):
        quotes = [each.quote for each in case.expected.errors if each.id == error["id"] and each.quote]
        return [Pointer(each) for each in (error["text"], *quotes)]
    finding = _FINDING.fullmatch(named)
    return [Pointer(finding["quote"] if finding else f'"{named}"')]
