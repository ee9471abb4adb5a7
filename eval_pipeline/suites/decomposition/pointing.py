"""Where in texts the concepts and relationships of diagnoses stand."""

import re
from collections.abc import Sequence
from typing import Any

from eval_pipeline.suite import Case
from eval_pipeline.suite.pointing import Pointer

_TRIPLE = re.compile(r"(?P<source>.+?) (?P<predicate>[A-Z]+(?:_[A-Z]+)*) (?P<target>.+)", re.DOTALL)
_FORM = re.compile(r"(?P<label>.+) \(a form of .+\)", re.DOTALL)


def pointers(named: str, case: Case[Any, Any]) -> Sequence[Pointer]:
    """A concept's label or quote; of a relationship the object with both ends and the predicate."""
    if triple := _TRIPLE.fullmatch(named):
        return [Pointer(triple["source"], beside=(triple["predicate"], triple["target"]))]
    form = _FORM.fullmatch(named)
    return [Pointer(form["label"] if form else named)]
