"""What scoring may use, and the form that a suite's scoring has."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from eval_pipeline.suite.case import Item, Items
from eval_pipeline.suite.counts import Batch, CaseScore
from eval_pipeline.suite.judge import OpenJudge, Verdicts


@dataclass(frozen=True)
class Context:
    """What scoring may use besides cases and outputs."""

    settings: Any = None
    resources: Any = None
    references: Any = None
    annotations: Any = None
    hash: str = ""
    """Settings, references and models in one word."""
    judge: OpenJudge | None = None
    """What rules on answers; None where the suite has no judge, or it is off."""
    verdicts: Verdicts = field(default_factory=dict)
    """What the judge said of every usable answer."""


Score = Callable[[Items, Context], Batch]


def per_case(score: Callable[[Item, Context], CaseScore]) -> Score:
    """Lift a function of one item to the batched form."""

    def score_batch(items: Items, context: Context) -> Batch:
        scores = [score(item, context) for item in items]
        names = scores[0].counts.keys() if scores else ()
        return Batch(
            counts={name: np.array([each.counts[name] for each in scores], dtype=float) for name in names},
            keyed=[(index, row) for index, each in enumerate(scores) for row in each.keyed],
            diagnoses=[(index, row) for index, each in enumerate(scores) for row in each.diagnoses],
        )

    return score_batch
