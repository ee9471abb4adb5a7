"""What readers of every format make of a piece of a file: rows of our contract, not yet masked."""

from __future__ import annotations

import datetime
import functools
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple

import msgspec

from eval_pipeline.files import content_hash
from eval_pipeline.monitoring.events import EVENT_FIELDS, event_schema, feedback_table
from eval_pipeline.monitoring.ledger import Refusal
from eval_pipeline.monitoring.masking import cut_before

if TYPE_CHECKING:
    import pyarrow as pa
    from duckdb import DuckDBPyConnection

DERIVED = ("cost_estimated", "completeness")
"""Fields that no file has: they are worked out when an event is kept."""
LONGEST_NAME = 512
"""Characters of an id or a name."""
LONGEST_TEXT = 2**20
"""Characters of a text; what is beyond is cut, and marked."""
CUT = "… [cut]"
LONGEST_KEPT = 2**20
"""Characters of a refused line that quarantine keeps."""
EARLIEST = datetime.datetime(2000, 1, 1, tzinfo=datetime.UTC)
AHEAD = datetime.timedelta(days=1)
"""How far clocks may be ahead of ours."""
LARGEST = 1e12

_UP = ("up", "thumbs_up", "thumbsup", "positive", "good", "like", "yes", "true", "👍", "+1")
_DOWN = ("down", "thumbs_down", "thumbsdown", "negative", "bad", "dislike", "no", "false", "👎", "-1")
THUMBS = {**dict.fromkeys(_UP, 5.0), **dict.fromkeys(_DOWN, 1.0)}
"""Words of feedback in points: up is the best that a person can say by thumb, and down the worst."""

Name = Annotated[str, msgspec.Meta(min_length=1, max_length=LONGEST_NAME)]
Amount = Annotated[float, msgspec.Meta(ge=0, le=LARGEST)]
Count = Annotated[int, msgspec.Meta(ge=0, le=10**12)]
Confidence = Annotated[float, msgspec.Meta(ge=0, le=1)]


class Batch(NamedTuple):
    """Events, feedback and refused lines of a piece of a file."""

    events: pa.Table
    feedback: pa.Table
    refusals: tuple[Refusal, ...] = ()
    skipped: int = 0


class Unusable(Exception):
    """Why a line cannot be used."""


class Unreadable(Exception):
    """Why nothing of a file can be read."""


ODD = (
    *(msgspec.MsgspecError, Unusable, ValueError, TypeError, KeyError, AttributeError),
    *(ArithmeticError, RecursionError),
)
"""What a line raises that is made up otherwise than anybody expects: it is refused, whatever it is."""


class Passage(msgspec.Struct, frozen=True):
    """A passage that an answer could rest on."""

    id: str | None = None
    text: str | None = None


class Event(msgspec.Struct, frozen=True, kw_only=True):
    """One request, as every format says it in the end."""

    request_id: Name
    at: datetime.datetime
    suite: Name
    trace_id: Name | None = None
    version: Name | None = None
    model: Name | None = None
    latency_ms: Amount | None = None
    input_tokens: Count | None = None
    output_tokens: Count | None = None
    cost_usd: Amount | None = None
    error: str | None = None
    topic: Name | None = None
    input: Any = None
    output: Any = None
    retrieved: list[str | Passage] | None = None
    confidences: list[Confidence] | None = None
    concepts: Count | None = None
    relationships: Count | None = None
    user: Name | None = None
    session: Name | None = None
    experiment: Name | None = None
    simulated: bool = False


class Given(msgspec.Struct, frozen=True, kw_only=True):
    """Feedback with more than a thumb."""

    points: str | bool | float
    at: datetime.datetime | None = None
    name: Name = "user_feedback"
    comment: str | None = None
    id: Name | None = None


GivenFeedback = str | bool | float | Given


@dataclass(frozen=True)
class Context:
    """What readers know besides the file."""

    suites: frozenset[str]
    connection: DuckDBPyConnection
    """A database in memory, of one thread alone."""
    prompts: Mapping[str, str] = field(default_factory=dict)
    """Names of prompts, each with its suite."""
    default_suite: str | None = None
    scales: Mapping[str, tuple[float, float]] = field(default_factory=dict)
    """Names of scores that are people's feedback, each with its lowest and highest value."""

    def suite_of(self, suite: Any, prompt: str | None) -> str:
        """The suite of an event: what it says, else that of its prompt, else the default."""
        named = named_by(suite) or self.prompts.get(prompt or "") or self.default_suite
        if named is None:
            raise Unusable("suite: is missing, and no prompt version of a suite is named")
        if named not in self.suites:
            raise Unusable(f"suite: {named!r} is not a suite of this project")
        return named


def event_row(event: Event, context: Context) -> dict[str, Any]:
    """An event as a row; texts that are JSON become JSON as text."""
    row = msgspec.structs.asdict(event)
    row["suite"] = context.suite_of(event.suite, None)
    row["at"] = moment(event.at)
    for name in ("input", "output"):
        row[name] = as_text(row[name])
    row["error"] = cut_before(event.error, LONGEST_NAME) if event.error else None
    if event.retrieved is not None:
        passages = [each if isinstance(each, Passage) else Passage(text=each) for each in event.retrieved]
        row["retrieved"] = [{"id": each.id, "text": cut(each.text)} for each in passages]
    return row


def moment(at: datetime.datetime) -> datetime.datetime:
    """A moment in UTC, which is what one without a zone is taken for; refused where it cannot be true."""
    aware = at if at.tzinfo else at.replace(tzinfo=datetime.UTC)
    aware = aware.astimezone(datetime.UTC)
    if not EARLIEST <= aware <= datetime.datetime.now(datetime.UTC) + AHEAD:
        raise Unusable(f"at: {aware:%Y-%m-%d %H:%M} cannot be when a request was made")
    return aware


def as_text(value: Any) -> str | None:
    """A text as it is, anything else as JSON; cut where it is endless."""
    if value is None:
        return None
    return cut(value if isinstance(value, str) else msgspec.json.encode(value).decode())


def named_by(value: Any) -> str | None:
    """A name or an id as text, whatever type it was written with; None where there is none."""
    return as_text(value) or None if value not in (None, "", [], {}) else None


def cut(text: str | None) -> str | None:
    """A text of bounded length."""
    return text if text is None or len(text) <= LONGEST_TEXT else cut_before(text, LONGEST_TEXT) + CUT


def points_of(value: str | bool | float, lowest: float = 1.0, highest: float = 5.0) -> float:
    """Feedback as points from 1 to 5: words by `THUMBS`, numbers linearly from their own scale."""
    if isinstance(value, bool):
        return 5.0 if value else 1.0
    if isinstance(value, str):
        if (points := THUMBS.get(value.strip().lower())) is None:
            raise Unusable("feedback: is neither a thumb nor a number")
        return points
    if not math.isfinite(value) or not lowest <= value <= highest:
        raise Unusable(f"feedback: {value:g} is not between {lowest:g} and {highest:g}")
    return 1.0 + 4.0 * (value - lowest) / (highest - lowest)


def feedback_row(
    value: GivenFeedback | None,
    request_id: str | None,
    trace_id: str | None,
    at: datetime.datetime,
    *,
    simulated: bool = False,
) -> dict[str, Any]:
    """Feedback as a row; its own id is made from what it says, where it has none."""
    assert value is not None
    given = value if isinstance(value, Given) else Given(points=value)
    when, points = moment(given.at or at), points_of(given.points)
    identity = given.id or content_hash([request_id, trace_id, given.name, when.isoformat(), points])
    return {
        "feedback_id": identity,
        "request_id": request_id,
        "trace_id": trace_id,
        "at": when,
        "name": given.name,
        "points": points,
        "comment": cut(given.comment),
        "simulated": simulated,
    }


@functools.cache
def raw_schema() -> pa.Schema:
    """An event as readers yield it: all fields may be null, and those that are derived are not there."""
    import pyarrow as pa

    schema = event_schema()
    names = [each.name for each in EVENT_FIELDS if each.name not in DERIVED]
    return pa.schema([pa.field(name, schema.field(name).type) for name in names])


def refusal_of(line: int, content: bytes, reason: str) -> Refusal:
    """A refused line, with as much of it as quarantine keeps."""
    text = content.decode(errors="backslashreplace").strip()
    whole = len(text) <= LONGEST_KEPT and text.encode(errors="replace") == content.strip()
    return Refusal(line, reason, cut_before(text, LONGEST_KEPT), whole)


def batch_of(
    events: Sequence[Mapping[str, Any]],
    feedback: Sequence[Mapping[str, Any]],
    refusals: Sequence[Refusal] = (),
    skipped: int = 0,
) -> Batch:
    """A batch from rows."""
    import pyarrow as pa

    table = pa.Table.from_pylist(list(events), raw_schema())
    return Batch(table, feedback_table(feedback), tuple(refusals), skipped)


def rows_of(table: pa.Table) -> list[dict[str, Any]]:
    """The rows of a table with what is not null; moments as text, since there are some beyond all dates."""
    import pyarrow as pa

    for place, each in enumerate(table.schema):
        if pa.types.is_date(each.type) or pa.types.is_timestamp(each.type):
            unit, zone = ("s", None) if pa.types.is_date(each.type) else (each.type.unit, each.type.tz)
            in_utc = table.column(place).cast(pa.timestamp(unit, zone and "UTC"))
            table = table.set_column(place, each.name, in_utc.cast(pa.string()))
    try:
        rows = table.to_pylist(maps_as_pydicts="lossy")
    except (ValueError, OverflowError, KeyError) as error:
        raise Unreadable(f"has values that nobody can read: {error}") from None
    return [{name: value for name, value in row.items() if value is not None} for row in rows]


def encoded(row: Mapping[str, Any]) -> bytes:
    """A row as JSON, which is what quarantine keeps of one that is refused."""
    return msgspec.json.encode(row, enc_hook=str)


def reason_of(error: Exception) -> str:
    """Why a line was refused, in a sentence."""
    if isinstance(error, msgspec.ValidationError):
        reason, _, place = str(error).replace("`", "'").partition(" - at ")
        where = place.strip("'").removeprefix("$.")
        return f"{where}: {reason}" if where and where != "$" else reason
    if isinstance(error, msgspec.DecodeError):
        return f"is not JSON: {error}"
    if isinstance(error, Unusable):
        return str(error)
    if isinstance(error, RecursionError):
        return "is nested too deeply"
    return f"is not made up as it should be: {error or type(error).__name__}"
