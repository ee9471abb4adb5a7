"""How assets hand their values on: through the store, so that any run can pick up where another stopped."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import dagster as dg
import msgspec
from pydantic import Field, PrivateAttr

from eval_pipeline.files import Kind, data_frame, typed_table
from eval_pipeline.prompts import rows_version
from eval_pipeline.scoring import Evaluation, Identity
from eval_pipeline.store import AnswerTable, Compared, GoldenTable, Scored, Store

if TYPE_CHECKING:
    import pandas as pd

GOLDEN_SET = "golden_set"
"""The stage that has no partitions."""
REPORT_COLUMNS: Mapping[str, Kind] = dict.fromkeys(
    ("suite", "version", "engine", "model", "evaluation", "text"), "text"
)


class Report(msgspec.Struct, frozen=True):
    """The report on an evaluation."""

    identity: Identity
    text: str
    page: str = ""
    """The same for a browser; blank where its evaluation left none."""

    def to_pandas(self) -> pd.DataFrame:
        """One row: what the report is about, and its text in Markdown."""
        of = self.identity.outputs
        about = {"suite": of.suite, "version": of.version, "engine": of.engine, "model": of.model}
        row = {**about, "evaluation": self.identity.id, "text": self.text}
        return data_frame(typed_table(REPORT_COLUMNS, [row]))


class StoreIOManager(dg.ConfigurableIOManager):
    """Keeps what assets return, and opens the latest of it for assets downstream.

    Within a run the value that this very run made is handed on, so that two runs on one
    partition never read each other's half-finished work.
    """

    root: str = Field(description="The folder that holds all state: answers, scores, reports.")
    rows: str = Field(default="", description="What partitions of rows are called after as versions.")
    _run_id: str = PrivateAttr("")
    _made: dict[tuple[str, ...], Any] = PrivateAttr(default_factory=dict)

    @cached_property
    def store(self) -> Store:
        """Where values are kept."""
        return Store(Path(self.root))

    def handle_output(self, context: dg.OutputContext, obj: Any) -> None:
        """Keep a value."""
        store, suite = self.store, context.asset_key.path[-2]
        if isinstance(obj, GoldenTable):
            store.keep_golden(suite, obj)
        elif isinstance(obj, AnswerTable):
            store.keep_outputs(obj)
        elif isinstance(obj, Scored):
            store.keep_scores(obj)
        elif isinstance(obj, Evaluation):
            store.keep_evaluation(obj)
        elif isinstance(obj, Compared):
            store.keep_compared(obj)
        elif isinstance(obj, Report):
            store.keep_report(obj.identity, obj.text, obj.page)
        else:
            raise TypeError(f"{context.asset_key.to_user_string()} returned {type(obj).__name__}")
        if context.run_id != self._run_id:
            self._run_id, self._made = context.run_id, {}
        self._made[_key(context)] = obj

    def load_input(self, context: dg.InputContext) -> Any:
        """Open a value: this run's own, else the latest; outside of a run the latest, too."""
        if self._run_id and _run_of(context) == self._run_id and _key(context) in self._made:
            return self._made[_key(context)]
        suite, stage = context.asset_key.path[-2:]
        key = context.asset_partition_key if context.has_asset_partitions else None
        version = rows_version(self.rows, key) if self.rows else key or ""
        value = self._latest(suite, stage, version)
        if value is None:
            remedy = (
                "Materialize it."
                if version or stage == GOLDEN_SET
                else "Give a version as its partition key."
            )
            raise dg.Failure(
                f"{suite}/{stage} has no value{' for ' + version if version else ''}. {remedy}",
                allow_retries=False,
            )
        return value

    def _latest(self, suite: str, stage: str, version: str) -> Any:
        store = self.store
        if stage == GOLDEN_SET:
            return store.golden(suite)
        if stage == "model_outputs":
            return store.outputs(suite, version)
        if stage == "case_scores":
            return store.scored(suite, version)
        evaluation = store.evaluation(suite, version)
        if stage == "metrics" or evaluation is None:
            return evaluation
        if stage == "report":
            text = store.report(suite, version)
            page = store.page(suite, version) or ""
            return None if text is None else Report(evaluation.identity, text, page)
        return store.compared(suite, version)


def _run_of(context: dg.InputContext) -> str:
    """The run that wants a value; none where somebody loads it from outside."""
    try:
        return context.step_context.run_id
    except dg.DagsterInvariantViolationError:
        return ""


def _key(context: dg.OutputContext | dg.InputContext) -> tuple[str, ...]:
    version = context.asset_partition_key if context.has_asset_partitions else ""
    return (*context.asset_key.path, version)
