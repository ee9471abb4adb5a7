"""Where in texts the types of diagnoses stand."""

import re
from collections.abc import Sequence
from typing import Any

from eval_pipeline.suite import Case
from eval_pipeline.suite.pointing import Pointer

_TYPE = re.compile(r"(?P<letter>[A-Z]) \(.+\)")


def pointers(named: str, case: Case[Any, Any]) -> Sequence[Pointer]:
    """The letter as JSON has it: a letter by itself is also a word of some languages."""
    letter = _TYPE.fullmatch(named)
    return [Pointer(f'"{letter["letter"]}"' if letter else named)]
