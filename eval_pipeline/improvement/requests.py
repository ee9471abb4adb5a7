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
    names a trace alone is about the last request of that trace.
    """
    first = datetime.datetime.combine(start.date(), datetime.time(), datetime.UTC)
    rows = store.feedback(first, closes_at(last_day(end), closes_after)).to_pylist()
    days, last = _rated(store, suite, start, end, rows) if rows else ({}, {})
    counted: dict[tuple[str, str], Mapping[str, Any]] = {}
    for row in sorted(rows, key=lambda row: (row["at"], row["points"])):
        request = row["request_id"] or last.get(row["trace_id"], "")
        day = days.get(request)
        if day is not None and row["at"].date() >= day and row["at"] < closes_at(day, closes_after):
            counted[request, row["name"]] = row
    points: dict[str, list[float]] = defaultdict(list)
    comments: dict[str, list[str]] = defaultdict(list)
    for (request, _), row in counted.items():
        points[request].append(row["points"])
        if (row["comment"] or "").strip():
            comments[request].append(row["comment"])
    return Feedback(points, comments)


def _rated(
    store: EventStore,
    suite: str,
    start: datetime.datetime,
    end: datetime.datetime,
    feedback: Sequence[Mapping[str, Any]],
) -> tuple[dict[str, datetime.date], dict[str, str]]:
    """The days of the requests that feedback is about, and the last request of each trace that it names."""
    import pyarrow as pa
    import pyarrow.compute as pc

    ids = pa.array([row["request_id"] for row in feedback if row["request_id"] is not None], pa.string())
    traces = pa.array([row["trace_id"] for row in feedback if row["request_id"] is None], pa.string())
    days: dict[str, datetime.date] = {}
    last: dict[str, str] = {}
    for hour, table in store.hours(suite, start, end, ["request_id", "trace_id"]):
        of_traces = table.filter(pc.is_in(table["trace_id"], traces, skip_nulls=True))
        last.update(zip(*(of_traces[name].to_pylist() for name in ("trace_id", "request_id")), strict=True))
        named = table["request_id"].filter(pc.is_in(table["request_id"], ids))
        days |= dict.fromkeys([*named.to_pylist(), *of_traces["request_id"].to_pylist()], hour.date())
    return days, last


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
