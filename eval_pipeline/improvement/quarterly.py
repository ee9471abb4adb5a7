"""Whether thresholds still fit (8.3): proposals, and what they would have blocked or let through."""

from __future__ import annotations

import datetime
from collections.abc import Mapping, Sequence
from typing import Literal, NamedTuple

import numpy as np

from eval_pipeline.gates import Bound, Gate
from eval_pipeline.improvement.requests import DAY
from eval_pipeline.project import Project
from eval_pipeline.scoring import Point
from eval_pipeline.store import History, database_url
from eval_pipeline.suite import Suite

DAYS = 91
LEAST = 8
"""Below so many evaluations no threshold is proposed."""
WORST = 0.1
"""A proposed pass value is one that so large a share of the evaluations does not reach."""
STEP = 0.01
"""Thresholds are proposed in steps of this share of the present one, and not for less."""
Kind = Literal["tighten", "loosen", "keep", "unknown"]


class Proposal(NamedTuple):
    """A threshold beside the one that is in force. Nobody applies it."""

    metric: str
    kind: Kind
    evaluations: int
    passes: Bound
    fails: Bound
    new_passes: Bound | None = None
    new_fails: Bound | None = None
    blocked: Sequence[str] = ()
    """Versions that it would have blocked, and the present one did not."""
    let_through: Sequence[str] = ()
    """Versions that it would have let through, and the present one blocked."""


class Quarter(NamedTuple):
    """What a quarter's evaluations say of the thresholds."""

    suite: Suite
    start: datetime.datetime
    end: datetime.datetime
    evaluations: int
    proposals: Sequence[Proposal]


def quarter_of(project: Project, suite: Suite, gates: Mapping[str, Gate], end: datetime.datetime) -> Quarter:
    """The quarter before a moment, by the history of evaluations."""
    start = end - DAYS * DAY
    with History(database_url(project)) as history:
        points = [
            point
            for point in history.points(suite.name, replays=False)
            if not point.incomplete and _between(point, start, end)
        ]
    return Quarter(
        suite, start, end, len(points), [propose(name, gate, points) for name, gate in gates.items()]
    )


def _between(point: Point, start: datetime.datetime, end: datetime.datetime) -> bool:
    at = datetime.datetime.fromisoformat(point.evaluated_at)
    return start <= (at if at.tzinfo else at.replace(tzinfo=datetime.UTC)) < end


def propose(metric: str, gate: Gate, points: Sequence[Point]) -> Proposal:
    """A pass value that nine of ten evaluations reach, with the fail zone as far from it as now."""
    passes, fails = Bound.parse(gate.passes), Bound.parse(gate.fail)
    known = [(point, value) for point in points if (value := point.metrics.get(metric)) is not None]
    if len(known) < LEAST:
        return Proposal(metric, "unknown", len(known), passes, fails)
    higher = passes.sign.startswith(">")
    reached = float(np.quantile([value for _, value in known], WORST if higher else 1 - WORST))
    step = abs(passes.limit) * STEP or STEP
    steps = (reached - passes.limit) / step
    moved = float(np.floor(steps + 1e-9) if higher else np.ceil(steps - 1e-9)) * step
    if abs(moved) < step / 2:
        return Proposal(metric, "keep", len(known), passes, fails)
    new_passes = passes._replace(limit=round(passes.limit + moved, 6))
    new_fails = fails._replace(limit=round(fails.limit + moved, 6))
    stops = gate.severity == "critical"
    blocked = [
        point.version for point, value in known if stops and new_fails.holds(value) and not fails.holds(value)
    ]
    let = [
        point.version for point, value in known if stops and fails.holds(value) and not new_fails.holds(value)
    ]
    kind: Kind = "tighten" if (moved > 0) == higher else "loosen"
    return Proposal(metric, kind, len(known), passes, fails, new_passes, new_fails, blocked, let)
