"""The history of evaluations: one record for each, in the project's database."""

from __future__ import annotations

import datetime
import functools
from collections.abc import Iterable
from types import TracebackType
from typing import TYPE_CHECKING, NamedTuple, Self

import msgspec

from eval_pipeline.database import Database, text_type
from eval_pipeline.evaluation import Evaluation

if TYPE_CHECKING:
    from sqlalchemy import MetaData, Table


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


class History:
    """Every evaluation that was made, in order."""

    def __init__(self, url: str) -> None:
        self._points, self._noise, metadata = _tables()
        self._database = Database(url, metadata)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._database.close()

    def append(self, run: str, evaluation: Evaluation) -> Point:
        """Add an evaluation that a run made. The same run adds it once."""
        from sqlalchemy import select

        points = self._points.c
        outputs = evaluation.identity.outputs
        with self._database.writing("history") as connection:
            same = select(points.number).where(points.outputs == outputs.id, points.run != run).limit(1)
            point = Point(
                run=run,
                evaluation=evaluation.id,
                suite=outputs.suite,
                version=outputs.version,
                outputs=outputs.id,
                prompt_hash=outputs.prompt_hash,
                golden_hash=evaluation.identity.golden_hash,
                engine=outputs.engine,
                model=outputs.model,
                sample=outputs.sample,
                trials=outputs.trials,
                cases=evaluation.summary.cases,
                errors=evaluation.summary.error_count,
                passed=evaluation.summary.passed,
                metrics={name: value.value for name, value in evaluation.summary.metrics.items()},
                evaluated_at=evaluation.created_at,
                replay=connection.execute(same).first() is not None,
                noise={name: value.standard_error for name, value in evaluation.summary.metrics.items()},
            )
            row = {**msgspec.structs.asdict(point), "metrics": msgspec.json.encode(point.metrics).decode()}
            noise = msgspec.json.encode(row.pop("noise")).decode()
            beside = {"run": run, "evaluation": point.evaluation, "noise": noise}
            for table, values in ((self._points, row), (self._noise, beside)):
                statement = self._database.insert(table).values(**values)
                connection.execute(statement.on_conflict_do_nothing(index_elements=["run", "evaluation"]))
        return point

    def points(self, suite: str, version: str | None = None, *, replays: bool = True) -> list[Point]:
        """The evaluations of a suite or of one of its versions, oldest first."""
        from sqlalchemy import select

        columns = [self._points.c[name] for name in Point.__struct_fields__ if name != "noise"]
        same = (self._points.c.run == self._noise.c.run) & (
            self._points.c.evaluation == self._noise.c.evaluation
        )
        statement = (
            select(*columns, self._noise.c.noise)
            .join_from(self._points, self._noise, same, isouter=True)
            .where(self._points.c.suite == suite)
            .order_by(self._points.c.number)
        )
        if version is not None:
            statement = statement.where(self._points.c.version == version)
        if not replays:
            statement = statement.where(~self._points.c.replay)
        with self._database.reading() as connection:
            rows = connection.execute(statement).mappings().all()
        return [
            Point(
                **{
                    **row,
                    "metrics": msgspec.json.decode(row["metrics"]),
                    "noise": msgspec.json.decode(row["noise"] or "{}"),
                }
            )
            for row in rows
        ]


def export(points: Iterable[Point]) -> bytes:
    """Points as the content of a `metrics-history.json`."""
    now = datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds")
    return msgspec.json.format(msgspec.json.encode({"exported_at": now, "evaluations": list(points)})) + b"\n"


class _Tables(NamedTuple):
    points: Table
    noise: Table
    metadata: MetaData


@functools.cache
def _tables() -> _Tables:
    from sqlalchemy import Boolean, Column, Integer, MetaData, Table, UniqueConstraint

    text = text_type()
    metadata = MetaData()
    points = Table(
        "history_evaluations",
        metadata,
        Column("number", Integer, primary_key=True, autoincrement=True),
        *(
            Column(name, text, nullable=False)
            for name in (
                "run",
                "evaluation",
                "suite",
                "version",
                "outputs",
                "prompt_hash",
                "golden_hash",
                "engine",
                "model",
                "sample",
            )
        ),
        *(Column(name, Integer, nullable=False) for name in ("trials", "cases", "errors")),
        Column("passed", Boolean, nullable=False),
        Column("metrics", text, nullable=False),
        Column("evaluated_at", text, nullable=False),
        Column("replay", Boolean, nullable=False),
        UniqueConstraint("run", "evaluation"),
    )
    noise = Table(
        "history_noise",  # a table of its own, so that histories from before it stay readable
        metadata,
        Column("run", text, primary_key=True),
        Column("evaluation", text, primary_key=True),
        Column("noise", text, nullable=False),
    )
    return _Tables(points, noise, metadata)
