"""The history of evaluations: one record for each, in the project's database."""

from __future__ import annotations

import datetime
import functools
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

import msgspec
from msgspec.structs import replace

from eval_pipeline.files import content_hash
from eval_pipeline.scoring import Evaluation, Point, Step
from eval_pipeline.store.database import Database, Stored, text_type

if TYPE_CHECKING:
    from sqlalchemy import Table


Ends = dict[str, tuple[float, float]]
"""The low and the high end of metrics."""
_ENCODED = {
    "metrics": dict[str, float | None],
    "noise": dict[str, float | None],
    "step": Step | None,
    "intervals": Ends,
}
"""Fields that are stored as JSON."""


class History(Stored):
    """Every evaluation that was made, in order; with a namespace, those of that namespace alone."""

    def __init__(self, url: str, namespace: str = "") -> None:
        self._points = history_table()
        self._namespace = namespace
        self._columns = [self._points.c[name] for name in Point.__struct_fields__]
        super().__init__(Database(url, self._points.metadata))

    def append(
        self, run: str, evaluation: Evaluation, step: Step | None = None, intervals: Ends | None = None
    ) -> Point:
        """Add an evaluation that a run made, and say what is stored. The same run adds it once.

        An evaluation is a replay where another run had these answers. One that was asked again for what had
        failed is not: it has fewer errors, or the other one was incomplete.
        """
        from sqlalchemy import and_, select

        table, columns = self._points, self._points.c
        outputs, summary = evaluation.identity.outputs, evaluation.summary
        known = and_(
            columns.namespace == self._namespace,
            columns.outputs == outputs.id,
            columns.errors <= summary.error_count,
            ~columns.incomplete,
        )
        own = and_(columns.run == run, columns.evaluation == evaluation.id)
        with self._database.writing("history") as connection:
            stored = connection.execute(select(*self._columns).where(own)).mappings().first()
            if stored is not None:
                return _point(stored)
            replay = connection.execute(select(columns.number).where(known).limit(1)).first() is not None
            point = replace(point_of(run, evaluation), replay=replay, step=step, intervals=intervals or {})
            row = msgspec.structs.asdict(point)
            row |= {name: msgspec.json.encode(row[name]).decode() for name in _ENCODED}
            connection.execute(table.insert().values(**row, namespace=self._namespace))
        return point

    def points(self, suite: str, version: str | None = None, *, replays: bool = True) -> list[Point]:
        """The evaluations of a suite or of one of its versions, oldest first."""
        from sqlalchemy import select

        columns = self._points.c
        own = (columns.namespace == self._namespace, columns.suite == suite)
        statement = select(*self._columns).where(*own).order_by(columns.evaluated_at, columns.number)
        if version is not None:
            statement = statement.where(columns.version == version)
        if not replays:
            statement = statement.where(~columns.replay)
        with self._database.reading() as connection:
            rows = connection.execute(statement).mappings().all()
        return [_point(row) for row in rows]


def point_of(run: str, evaluation: Evaluation) -> Point:
    """An evaluation that a run made, as a point that nothing is known of before."""
    identity, outputs, summary = evaluation.identity, evaluation.identity.outputs, evaluation.summary
    return Point(
        run=run,
        evaluation=evaluation.id,
        suite=outputs.suite,
        version=outputs.version,
        outputs=outputs.id,
        prompt_hash=outputs.prompt_hash,
        golden_hash=identity.golden_hash,
        engine=outputs.engine,
        model=outputs.model,
        sample=outputs.sample,
        trials=outputs.trials,
        cases=summary.cases,
        errors=summary.error_count,
        passed=summary.passed,
        metrics={name: value.value for name, value in summary.metrics.items()},
        evaluated_at=evaluation.created_at,
        replay=False,
        noise={name: value.standard_error for name, value in summary.metrics.items()},
        incomplete=evaluation.outage is not None,
        scoring=content_hash([identity.scorer, identity.context]),
        held_out=summary.held_out.name if summary.held_out else "",
    )


def _point(row: Mapping[Any, Any]) -> Point:
    decoded = {name: msgspec.json.decode(row[name], type=of) for name, of in _ENCODED.items()}
    return Point(**{**row, **decoded})


def export(points: Iterable[Point]) -> bytes:
    """Points as the content of a `metrics-history.json`."""
    now = datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds")
    return msgspec.json.format(msgspec.json.encode({"exported_at": now, "evaluations": list(points)})) + b"\n"


@functools.cache
def history_table() -> Table:
    """The table of evaluations, described for SQLAlchemy."""
    from sqlalchemy import Boolean, Column, Integer, MetaData, Table, UniqueConstraint, false

    text = text_type()
    names = "run evaluation suite version outputs prompt_hash golden_hash engine model sample"
    return Table(
        "history_evaluations",
        MetaData(),
        Column("number", Integer, primary_key=True, autoincrement=True),
        *(Column(name, text, nullable=False) for name in names.split()),
        *(Column(name, Integer, nullable=False) for name in ("trials", "cases", "errors")),
        Column("passed", Boolean, nullable=False),
        Column("metrics", text, nullable=False),
        Column("evaluated_at", text, nullable=False),
        Column("replay", Boolean, nullable=False),
        Column("noise", text, nullable=False),
        Column("incomplete", Boolean, nullable=False, server_default=false()),
        Column("scoring", text, nullable=False, server_default=""),
        Column("held_out", text, nullable=False, server_default=""),
        Column("step", text, nullable=False, server_default="null"),
        Column("intervals", text, nullable=False, server_default="{}"),
        Column("namespace", text, nullable=False, server_default=""),
        UniqueConstraint("run", "evaluation"),
    )
