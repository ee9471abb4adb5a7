"""What probes score in the decomposition suite, case by case, kept for all processes of a run of tests.

Many tests change a case of its golden set, and what cheating would score is then computed for all the others
as well. Nothing but probes takes what is kept here: what a test evaluates is scored anew.
"""

from __future__ import annotations

import hashlib
import os
import pickle
from dataclasses import replace
from pathlib import Path
from typing import Any

import msgspec

from eval_pipeline.scoring import Scores, probing
from eval_pipeline.scoring.score import score_blocks
from eval_pipeline.suite import CaseScore, Context, Item, Suite, per_case
from eval_pipeline.suites import decomposition
from eval_pipeline.suites.decomposition import scoring

FOLDER = "EVAL_PIPELINE_TESTS_SCORES"
"""The variable that names where they are kept; without it, every process scores by itself."""


def _score_case(item: Item, context: Context) -> CaseScore:
    content = msgspec.json.encode([item.case.id, item.case.input, item.case.expected, item.output])
    file = Path(os.environ[FOLDER], hashlib.sha256(content).hexdigest())
    if file.is_file():
        known: CaseScore = pickle.loads(file.read_bytes())  # noqa: S301 - written by this run of tests
        return known
    score = scoring.score_case(item, context)
    aside = file.with_suffix(f".{os.getpid()}")
    aside.write_bytes(pickle.dumps(score))
    aside.replace(file)
    return score


_REMEMBERING = replace(decomposition.SUITE, score=per_case(_score_case))


def _score_blocks(suite: Suite, *given: Any, **options: Any) -> Scores:
    remembers = suite is decomposition.SUITE and FOLDER in os.environ
    return score_blocks(_REMEMBERING if remembers else suite, *given, **options)


def share_scores() -> None:
    """Let probes of this process and of those that it forks look first for what another one has scored."""
    probing.score_blocks = _score_blocks  # type: ignore[attr-defined]
