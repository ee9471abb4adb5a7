"""Where in texts the spans of diagnoses stand."""

import re
from collections.abc import Sequence
from typing import Any

from eval_pipeline.suite import Case
from eval_pipeline.suite.pointing import Pointer

_LABELED = re.compile(r"(?P<text>.*) \[[^\]]*\]", re.DOTALL)
_PLACED = re.compile(r"(?P<text>.*) at (?P<start>-?\d+)–(?P<end>-?\d+)", re.DOTALL)


def pointers(named: str, case: Case[Any, Any]) -> Sequence[Pointer]:
    """The span's text; where it was put beside the text, the place that was claimed."""
    if labeled := _LABELED.fullmatch(named):
        return [Pointer(labeled["text"])]
    placed = _PLACED.fullmatch(named)
    if placed is None:
        return [Pointer(named)]
    return [Pointer(placed["text"], "prompt", int(placed["start"]), int(placed["end"]))]
