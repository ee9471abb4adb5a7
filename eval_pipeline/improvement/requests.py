"""Requests in production with the feedback that came for them, one after the other."""

from __future__ import annotations

import datetime
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from typing import Any, NamedTuple

import msgspec

from eval_pipeline.answers import Answer
from eval_pipeline.monitoring import EventStore, closes_at
from eval_pipeline.monitoring.staging import HOUR, midnight
from eval_pipeline.suite.drafting import Drafting

DAY = datetime.timedelta(days=1)
LOW_POINTS = 2.0
"""Feedback of so many points of five, or fewer, says that the answer was not good enough."""
HIGH_POINTS = 4.0
COLUMNS = (
    "request_id", "trace_id", "at", "version", "model", "latency_ms", "error", "topic", "input", "output",
    "retrieved", "user", "session", "simulated",
)  # fmt: skip


class Request(NamedTuple):
    """One request: what was asked, what was answered, and what its user said. All texts are masked."""

    id: str
    at: datetime.datetime
    version: str | None
    model: str | None
    latency_ms: float | None
    error: str | None
    topic: str | None
    input: str | None
    output: str | None
    passages: tuple[Mapping[str, str | None], ...] = ()
    user: str | None = None
    simulated: bool = False
    points: float | None = None
    """The mean of the feedback that counts, from 1 to 5."""
    comments: tuple[str, ...] = ()

    @property
    def answer(self) -> Answer:
        """Its answer, as the one of a case."""
        return Answer(self.id, text=self.output, error=self.error)


class Feedback(NamedTuple):
    """What was said of requests, by id."""

    points: Mapping[str, Sequence[float]]
    comments: Mapping[str, Sequence[str]]


def window(days: int, end: datetime.datetime | None = None) -> tuple[datetime.datetime, datetime.datetime]:
    """So many whole days with today as the last one, or up to a moment."""
    today = datetime.datetime.now(datetime.UTC).replace(hour=0, minute=0, second=0, microsecond=0)
    last = end or today + DAY
    return last - DAY * days, last


def last_day(end: datetime.datetime) -> datetime.date:
    """The last day of a stretch up to a moment; midnight is the end of the day before."""
    return (end - datetime.timedelta.resolution).date()


def requests_of(
    store: EventStore, suite: str, start: datetime.datetime, end: datetime.datetime, closes_after: int
) -> Iterator[Request]:
    """Every request of a suite, in order of time, with its feedback as figures count it."""
    given = feedback_on(store, suite, start, end, closes_after)
    for _, table in store.hours(suite, start, end, COLUMNS):
        for row in table.to_pylist():
            points = given.points.get(row["request_id"], ())
            yield Request(
                id=row["request_id"],
                at=row["at"],
                version=row["version"],
                model=row["model"],
                latency_ms=row["latency_ms"],
                error=row["error"],
                topic=row["topic"],
                input=row["input"],
                output=row["output"],
                passages=tuple(row["retrieved"] or ()),
                user=row["user"] or row["session"],
                simulated=row["simulated"],
                points=sum(points) / len(points) if points else None,
                comments=tuple(given.comments.get(row["request_id"], ())),
            )


def feedback_on(
    store: EventStore, suite: str, start: datetime.datetime, end: datetime.datetime, closes_after: int
) -> Feedback:
    """Feedback by request, as figures count it.

    The last of each name for a request counts, of what was given until the request's day was closed. What
    names a trace alone is about the last request of that trace; where the trace goes on after midnight, that
    is one of the next day for what is said there.
    """
    rows = store.feedback(midnight(start.date()), closes_at(last_day(end), closes_after)).to_pylist()
    rated = _rated(store, suite, start, end, rows) if rows else _Rated({}, {}, set())
    counted: dict[tuple[str, str], Mapping[str, Any]] = {}
    for row in sorted(rows, key=lambda row: (row["at"], row["points"])):
        for request, day in rated.about(row):
            if row["at"].date() >= day and row["at"] < closes_at(day, closes_after):
                counted[request, row["name"]] = row
    points: dict[str, list[float]] = defaultdict(list)
    comments: dict[str, list[str]] = defaultdict(list)
    for (request, _), row in counted.items():
        points[request].append(row["points"])
        if (row["comment"] or "").strip():
            comments[request].append(row["comment"])
    return Feedback(points, comments)


class _Rated(NamedTuple):
    """What feedback is about."""

    days: dict[str, datetime.date]
    """The days of requests."""
    last: dict[str, dict[datetime.date, str]]
    """For each trace, its last request of each day."""
    going_on: set[tuple[str, datetime.date]]
    """Traces that have a request in the first hour after a day."""

    def about(self, row: Mapping[str, Any]) -> Iterator[tuple[str, datetime.date]]:
        """The requests that feedback may be about, each with its day."""
        if row["request_id"] is None:
            for day, request in self.last.get(row["trace_id"], {}).items():
                if row["at"].date() == day or (row["trace_id"], day) not in self.going_on:
                    yield request, day
        elif row["request_id"] in self.days:
            yield row["request_id"], self.days[row["request_id"]]


def _rated(
    store: EventStore,
    suite: str,
    start: datetime.datetime,
    end: datetime.datetime,
    feedback: Sequence[Mapping[str, Any]],
) -> _Rated:
    import pyarrow as pa
    import pyarrow.compute as pc

    ids = pa.array([row["request_id"] for row in feedback if row["request_id"] is not None], pa.string())
    traces = pa.array([row["trace_id"] for row in feedback if row["request_id"] is None], pa.string())
    columns, after = ["request_id", "trace_id"], midnight(last_day(end) + DAY)
    rated = _Rated({}, defaultdict(dict), set())
    for hour, table in store.hours(suite, start, end, columns):
        named = table["request_id"].filter(pc.is_in(table["request_id"], ids))
        rated.days.update(dict.fromkeys(named.to_pylist(), hour.date()))
        for row in table.filter(pc.is_in(table["trace_id"], traces, skip_nulls=True)).to_pylist():
            rated.last[row["trace_id"]][hour.date()] = row["request_id"]
            if hour.hour == 0:
                rated.going_on.add((row["trace_id"], hour.date() - DAY))
    for _, table in store.hours(suite, after, after + HOUR, columns) if len(traces) else ():
        rated.going_on.update((trace, last_day(end)) for trace in table["trace_id"].to_pylist())
    return rated


def fields_of(request: Request, drafting: Drafting, names: Sequence[str]) -> dict[str, Any]:
    """The fields of a suite's input in a request: those of its JSON, else its text as the one that holds it.

    Of a conversation it is what the user said last. Names match whether written in camel or snake case.
    """
    text = request.input or ""
    content = _json(text)
    if isinstance(content, list) and content and all(isinstance(each, dict) for each in content):
        text = _last_of_user(content)
        content = _json(text)
    known = {_plain(name): name for name in names}
    fields: dict[str, Any] = {}
    if isinstance(content, dict):
        fields = {known[_plain(key)]: value for key, value in content.items() if _plain(key) in known}
    if not fields and text.strip():
        fields = {drafting.text: text}
    if "topic" in names and request.topic and not fields.get("topic"):
        fields["topic"] = request.topic
    if drafting.passages and not fields.get(drafting.passages):
        texts = [each["text"] for each in request.passages if each["text"]]
        fields |= {drafting.passages: texts} if texts else {}
    return fields


def _json(text: str) -> Any:
    with suppress(msgspec.DecodeError, UnicodeError, RecursionError):
        return msgspec.json.decode(text)
    return None


def _plain(name: str) -> str:
    return name.replace("_", "").lower()


def _last_of_user(messages: Sequence[Mapping[str, Any]]) -> str:
    said = [each for each in messages if each.get("role") == "user"] or messages
    content = said[-1].get("content", said[-1].get("parts", ""))
    if isinstance(content, list):
        parts = (each.get("text") or each.get("content") for each in content if isinstance(each, dict))
        return "\n".join(part for part in parts if isinstance(part, str))
    return content if isinstance(content, str) else ""
