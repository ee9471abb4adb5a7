"""Where in texts what a diagnosis names is to be found."""

import re
from collections.abc import Sequence
from typing import Any

from eval_pipeline.suite import Case
from eval_pipeline.suite.pointing import Pointer

_PASSAGES = re.compile(r"(?P<ids>\S+(?:, \S+)*): (?P<fact>.+)", re.DOTALL)


def pointers(named: str, case: Case[Any, Any]) -> Sequence[Pointer]:
    """The passages of a fact that was missed; else the words themselves."""
    match = _PASSAGES.fullmatch(named)
    known = {each for holders in case.expected.passages for each in holders}
    ids = match["ids"].split(", ") if match else []
    return [Pointer(each) for each in ids] if ids and known.issuperset(ids) else [Pointer(named)]
