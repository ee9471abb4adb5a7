"""Where in texts the errors and findings of diagnoses stand."""

import re
from collections.abc import Sequence

from eval_pipeline.suite.pointing import Pointer

_ERROR = re.compile(r"(?P<id>\S+) [A-Z]+ [A-Z]+: (?P<text>.+)", re.DOTALL)
_FINDING = re.compile(r"[A-Z]+: (?P<quote>.+?)(?: \(line [^)]*\))?", re.DOTALL)


def pointers(named: str) -> Sequence[Pointer]:
    """What the golden set says of an error; what a finding quotes."""
    if error := _ERROR.fullmatch(named):
        return [Pointer(error["text"])]
    finding = _FINDING.fullmatch(named)
    return [Pointer(finding["quote"] if finding else f'"{named}"')]
