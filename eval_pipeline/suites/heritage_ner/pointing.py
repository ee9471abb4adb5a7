"""Where in texts the entities of diagnoses stand."""

import re
from collections.abc import Sequence
from typing import Any

from eval_pipeline.suite import Case
from eval_pipeline.suite.pointing import Pointer

_ENTITY = re.compile(r"\S+ (?P<quote>['\"])(?P<text>.*)(?P=quote) (?P<start>\d+)–(?P<end>\d+)", re.DOTALL)


def pointers(named: str, case: Case[Any, Any]) -> Sequence[Pointer]:
    """The entity's own place in the text."""
    entity = _ENTITY.fullmatch(named)
    if entity is None:
        return [Pointer(named)]
    return [Pointer(entity["text"], "text", int(entity["start"]), int(entity["end"]))]
