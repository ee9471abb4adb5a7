"""An evaluation: what a prompt version scored on a golden set, and what identifies it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

from eval_pipeline.answers import Outage, OutputsIdentity
from eval_pipeline.files import content_hash, data_frame
from eval_pipeline.gates import GateResult
from eval_pipeline.scoring.rows import metric_rows
from eval_pipeline.scoring.summary import CaseResult, Summary

if TYPE_CHECKING:
    import pandas as pd


class Identity(msgspec.Struct, frozen=True):
    """What decides which numbers there are: answers, golden set, scoring code and its settings."""

    outputs: OutputsIdentity
    golden_hash: str
    scorer: str
    context: str = ""
    """The settings, references and models that scoring used, in one word."""

    @property
    def id(self) -> str:
        """The identity in one word."""
        return content_hash(self)


class Evaluation(msgspec.Struct, frozen=True):
    """An immutable record: who was evaluated on what, and the numbers."""

    id: str
    identity: Identity
    created_at: str
    summary: Summary
    case_results: tuple[CaseResult, ...]
    operations: tuple[GateResult, ...] = ()
    """How latency and cost stand against their limits."""
    outage: Outage | None = None
    """Why it is incomplete, and says nothing about quality; None where it is not."""

    def to_pandas(self) -> pd.DataFrame:
        """Every metric, over everything, by trial and by group; see `eval_pipeline.frames.metrics`."""
        return data_frame(metric_rows(self))


class Step(msgspec.Struct, frozen=True):
    """How far chance alone moves metrics from one evaluation to the next, as their paired cases tell."""

    since: str
    """The run of the evaluation before."""
    errors: dict[str, float]
    """The standard error of each metric's difference; nothing where it cannot be told."""
    freedom: dict[str, float]
    """On how many cases each of them rests."""


class Point(msgspec.Struct, frozen=True):
    """One evaluation in the course of time."""

    run: str
    evaluation: str
    suite: str
    version: str
    outputs: str
    prompt_hash: str
    golden_hash: str
    engine: str
    model: str
    sample: str
    trials: int
    cases: int
    errors: int
    passed: bool
    metrics: dict[str, float | None]
    evaluated_at: str
    replay: bool
    """Whether its answers were known from an earlier evaluation: then it is no new point of a trend."""
    noise: dict[str, float | None] = {}
    """The standard error of each metric over trials; null where there are fewer than two."""
    incomplete: bool = False
    """Whether too few answers arrived for a verdict: then its numbers say nothing about quality."""
    scoring: str = ""
    """The code, settings and references that scored it, in one word; blank where it is not known."""
    held_out: str = ""
    """The cases that its numbers rest on, where the engine learned from the others; blank for all."""
    step: Step | None = None
    """The noise since the evaluation before that can be compared with it."""
    intervals: dict[str, tuple[float, float]] = {}
    """Where gated metrics would lie on other cases of the kind, at 95 %; nothing where that is not known."""

    @property
    def quality(self) -> dict[str, float | None]:
        """The metrics, as far as they say anything."""
        return {} if self.incomplete else self.metrics
