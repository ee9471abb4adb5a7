"""Where in texts the documents of diagnoses stand."""

import re
from collections.abc import Sequence
from typing import Any

from eval_pipeline.suite import Case
from eval_pipeline.suite.pointing import Pointer

_DOCUMENT = re.compile(r"(?P<document>\S+) \((?:grade \d+|not relevant|not judged)\)")


def pointers(named: str, case: Case[Any, Any]) -> Sequence[Pointer]:
    """The document; a rank stands nowhere."""
    document = _DOCUMENT.fullmatch(named)
    return [Pointer(document["document"])] if document else []
