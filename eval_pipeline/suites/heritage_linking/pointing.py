"""Where in texts the mentions and identifiers of diagnoses stand."""

import re
from collections.abc import Sequence
from typing import Any

from eval_pipeline.suite import Case
from eval_pipeline.suite.pointing import Pointer

_MENTION = re.compile(r"(?P<id>\S+) (?P<quote>['\"])(?P<mention>.+)(?P=quote): (?P<wanted>.+)", re.DOTALL)
_NOTHING = {"none", "NIL"}


def pointers(named: str, case: Case[Any, Any]) -> Sequence[Pointer]:
    """The mention, and every identifier."""
    mention = _MENTION.fullmatch(named)
    words = [mention["mention"]] if mention else []
    listed = (mention["wanted"] if mention else named).split(", ")
    identifiers = (each.removeprefix("VIAF ") for each in listed)
    return [Pointer(each) for each in (*words, *identifiers) if each not in _NOTHING]
