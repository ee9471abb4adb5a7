"""A file is read at once, in pieces, or line by line: nobody can tell afterwards which it was."""

from __future__ import annotations

import dataclasses
import json
import random
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import msgspec
import pyarrow as pa
import pytest

from eval_pipeline.monitoring import (
    EventStore,
    FileOutcome,
    figures_of,
    flat,
    formats,
    ingesting,
    open_ingest,
)
from eval_pipeline.monitoring.batches import Context
from eval_pipeline.monitoring.databases import in_memory
from eval_pipeline.monitoring.sources import Lines
from eval_pipeline.project import Project
from eval_pipeline_tests.monitoring.events_of import DAY, MINUTE, MONDAY, drop, lines
from eval_pipeline_tests.monitoring.events_of import flat as row

TEXTS = [
    "nothing to see", "call 020 123 4567", "jané＠example.com", "12 34 56 is 78 of 90",
    "NL91 ABNA 0417 1643 00", "4111 1111 1111 1111", "",
    "line\nbreak \"quoted\" \\ é 🙂", '{"to": "a@b.co"}', "٠٦١٢٣٤٥٦٧٨",
]  # fmt: skip
ODD: list[Mapping[str, Any] | str] = [
    "{", "", "   ", "[]", "null", {**row(1), "suite": "nothing"}, {**row(2), "latency_ms": -1},
    {"at": "2026-03-02T00:00:00Z", "feedback": "up", "request_id": "r1"}, {**row(3), "error": ""},
    {**row(4), "feedback": 17}, {**row(5), "confidences": [2]}, {**row(6), "topic": "x" * 600},
    {**row(7), "input": {"a": ["b@c.de"]}}, {**row(8), "at": 1772409600}, {**row(9), "input_tokens": "12"},
    {**row(10), "unknown": {"deep": [1]}}, {**row(11), "version": 5}, {**row(12), "latency_ms": True},
    '{"request_id": "twice", "request_id": "again", "at": "2026-03-02T00:00:00Z", "suite": "toy"}',
]  # fmt: skip


def events(chance: random.Random, count: int) -> list[Mapping[str, Any] | str]:
    """Rows with any of the fields."""
    made: list[Mapping[str, Any] | str] = []
    for _ in range(count):
        fields = {
            "version": chance.choice(["p-v1.0", "p-v1.1", None]),
            "model": chance.choice(["m", "n"]),
            "latency_ms": chance.choice([None, 12, 34.5, 4000]),
            "input_tokens": chance.randrange(9),
            "cost_usd": chance.choice([None, 0.25]),
            "error": chance.choice([None, None, "timeout", "mail a@b.co"]),
            "topic": "x" * 80,
            "input": chance.choice(TEXTS),
            "output": chance.choice([None, *TEXTS]),
            "retrieved": chance.choice([None, [], ["a"], [{"id": "1", "text": "b@c.de"}]]),
            "confidences": chance.choice([None, [], [0.5, 1]]),
            "user": chance.choice(["jane", "joe", None]),
            "feedback": chance.choice([None, None, "up", 2, {"points": 4, "comment": "a@b.co"}]),
        }
        kept = {name: value for name, value in fields.items() if value is not None or chance.random() < 0.2}
        at = MONDAY + (1200 + chance.randrange(300)) * MINUTE  # a few hours of two days: each is read alone
        made.append({**row(chance.randrange(count)), "at": at.isoformat(), **kept})
    return made


def taken(project: Project, state: Path) -> dict[str, Any]:
    """Everything that a file left."""
    mine = dataclasses.replace(project, state=state)
    with EventStore.of(mine) as store:
        store.ledger.key("pseudonyms", "the same")
    with open_ingest(mine) as taking:
        (outcome,) = taking.files(now=True)
        store = taking.store
        order = [("request_id", "ascending"), ("at", "ascending")]
        return {
            "outcome": outcome,
            "events": store.events("toy", MONDAY, MONDAY + 7 * DAY).sort_by(order).to_pylist(),
            "feedback": sorted(map(str, store.feedback(MONDAY, MONDAY + 7 * DAY).to_pylist())),
            "figures": figures_of(store, "toy", MONDAY, MONDAY + 7 * DAY, 7, by=["hour", "version"]),
            "quarantine": store.ledger.quarantined(),
            "files": [msgspec.structs.replace(each, taken_at="") for each in store.ledger.files()],
        }


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("odd", [False, True], ids=["clean", "odd lines"])
def test_all_ways_of_reading_are_one(
    toy: Project, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, seed: int, odd: bool
) -> None:
    chance = random.Random(seed)
    rows = events(chance, 700)
    for line in chance.sample(ODD, 4) if odd else []:
        rows.insert(chance.randrange(len(rows)), line)
    end = chance.choice([b"", b"\n", b"\r\n\n"])
    drop(toy, "a.jsonl", lines(rows).rstrip(b"\n") + end)
    at_once = taken(toy, tmp_path / "at once")
    monkeypatch.setattr(ingesting, "at_once", lambda *_, **__: None)
    in_pieces = taken(toy, tmp_path / "in pieces")
    monkeypatch.setattr(flat, "FEW", 2**40)
    one_by_one = taken(toy, tmp_path / "one by one")
    assert isinstance(at_once["outcome"], FileOutcome)
    for name, value in one_by_one.items():
        assert in_pieces[name] == value, name
        assert at_once[name] == value, name


VALUES = r"""
5 | -0 | 1.5 | 2.5 | 1e3 | 1.0 | -1 | 1772409600 | 12345678901234567890 | true | false | null | [] | {}
["a", 1] | {"a": 1.0, "b": {"c": [null]}} | [0.5] | ["0.5"] | [true] | [null] | [{"id": 5}] | "x" | ""
[{"id": "a", "text": {"b": 1}, "more": 1}] | "5" | " 5 " | "+5" | "1.5" | "1e3" | "0x10" | "1_000" | "NaN"
"inf" | "infinity" | "-infinity" | "true" | "yes" | "F" | "on" | "\u0000" | "a\u0000b" | "\ud800"
"1772409600" | "epoch" | "2026-03-02" | "2026-03-02 01:00:00+01" | "2026-03-02 01:00:00+01:00"
"2026-03-02T00:00:00" | "2026-03-02T00:00Z" | "2026-03-02T00:00:00.5Z" | "2026-13-02T00:00:00Z"
"1999-12-31T23:59:59Z" | "300000-01-01" | "0001-01-01 (BC)"
"""
FIELDS = [
    *("request_id", "at", "suite", "version", "error", "topic", "input", "latency_ms", "input_tokens"),
    *("simulated", "confidences", "retrieved", "feedback"),
]


@pytest.mark.parametrize("field", FIELDS)
def test_a_value_of_another_type_is_the_same_wherever_it_stands(field: str) -> None:
    """What DuckDB takes among ordinary lines is taken from a line alone, as the same."""
    with in_memory({"threads": 1}) as connection:
        context = Context(frozenset(["toy"]), connection)
        for value in re.split(r"\n| \| ", VALUES.strip()):
            rest = {name: each for name, each in row(1).items() if name != field}
            line = f'{json.dumps(rest)[:-1]}, "{field}": {value}}}\n'.encode()
            at_once = flat._read_columns(line, context)
            if at_once is not None:
                alone = flat.read_one_by_one(Lines(1, line), context)
                assert alone.refusals == (), value
                assert known(alone.events) == known(at_once.events), value
                assert alone.feedback == at_once.feedback, value


@pytest.mark.parametrize(
    "feedback",
    [
        {"request_id": 5, "at": "2026-03-02", "feedback": "up"},
        {"request_id": "5", "at": "2026-03-02T00:00Z", "feedback": {"points": 5, "comment": 7, "id": 8}},
        {"trace_id": 7, "at": "2026-03-02", "feedback": {"points": 5, "at": "2026-03-06"}},
        {**row(1), "feedback": {"points": 5, "at": "2026-03-06", "comment": {"a": 1}}},
    ],
)
def test_values_of_other_types_in_feedback(feedback: dict[str, Any]) -> None:
    with in_memory({"threads": 1}) as connection:
        context = Context(frozenset(["toy"]), connection)
        batch = flat.read_one_by_one(Lines(1, json.dumps(feedback).encode()), context)
    assert batch.refusals == ()
    assert batch.feedback["points"].to_pylist() == [5.0]


def known(events: pa.Table) -> list[dict[str, Any]]:
    """Rows as they are kept: where nobody says that they are simulated, they are not."""
    return [{**each, "simulated": bool(each["simulated"])} for each in events.to_pylist()]


@pytest.mark.parametrize("at", ["infinity", "-infinity", "300000-01-01", "0001-01-01 (BC)"])
def test_a_moment_beyond_all_dates_is_refused(toy: Project, at: str) -> None:
    drop(toy, "a.jsonl", [*(row(number) for number in range(300)), {**row(300), "at": at}])
    with open_ingest(toy) as taking:
        ((events, refused),) = ((each.events, each.refused) for each in taking.files(now=True))
    assert (events, refused) == (300, 1)


DEEP = "[" * 5000 + "]" * 5000


EVENT = '"request_id": "x", "at": "2026-03-02T00:00:00Z"'


@pytest.mark.parametrize(
    "line",
    [
        f'{{{EVENT}, "suite": "toy", "feedback": {DEEP}}}',
        '{"request_id": "x", "at": "0001-01-01T00:00:00+14:00", "suite": "toy"}',
        '{"request_id": "x", "at": "9999-12-31T23:59:59-14:00", "suite": "toy"}',
        f'{{{EVENT}, "feedback": {{"points": 1, "at": "0001-01-01T00:00:00+14:00"}}}}',
        f'{{{EVENT}, "suite": "toy", "input_tokens": "{"9" * 5000}"}}',
    ],
    ids=["deep", "before all dates", "behind all dates", "feedback before all dates", "endless number"],
)
@pytest.mark.parametrize("first", [True, False], ids=["first", "last"])
def test_what_no_line_should_be_is_refused_alone(toy: Project, line: str, first: bool) -> None:
    others: list[Mapping[str, Any] | str] = [row(number) for number in range(300)]
    drop(toy, "a.jsonl", [line, *others] if first else [*others, line])
    drop(toy, "b.jsonl", [row(number) for number in range(300, 400)])
    with open_ingest(toy) as taking:
        assert [(each.events, each.refused) for each in taking.files(now=True)] == [(300, 1), (100, 0)]


def test_beginnings_of_every_kind(toy: Project) -> None:
    """However a file begins, its format is recognised."""
    long = {**row(1), "input": "lorem, " * 160_000}
    drop(toy, "long", [long, row(2)])
    drop(toy, "mark", "\ufeff".encode() + lines([row(3)]))
    drop(toy, "blank", b"\n" * 50 + lines([row(4)]))
    drop(toy, "bad", b"{bad\n" * 50 + lines([row(5)]))
    drop(toy, "mark alone", "\ufeff".encode())
    drop(toy, "one", b"a" * 200_000)
    drop(toy, "rows", b"a,b\rc,d\r")
    with open_ingest(toy) as taking:
        outcomes = {each.name: (each.outcome, each.events, each.refused) for each in taking.files(now=True)}
    assert outcomes == {
        "long": ("taken", 2, 0),
        "mark": ("taken", 1, 0),
        "mark alone": ("taken", 0, 0),
        "blank": ("taken", 1, 0),
        "bad": ("taken", 1, 50),
        "one": ("unreadable", 0, 1),
        "rows": ("unreadable", 0, 1),
    }


def test_a_clean_file_is_read_at_once(toy: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ingesting.Ingest, "_stage", lambda *_: pytest.fail("it was read in pieces"))
    drop(toy, "day=1/it's.jsonl", [row(number) for number in range(100)])
    with open_ingest(toy) as taking:
        assert [outcome.events for outcome in taking.files(now=True)] == [100]


def test_fields_that_the_first_lines_do_not_have(
    toy: Project, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Only the fields of the beginning are read at first; then the file is read at once again, with all."""
    plain = [row(number) for number in range(100)]
    late = [{**row(100), "user": "jane"}, {**row(101), "retrieved": [{"id": "1", "text": "a@b.co"}]}]
    drop(toy, "a.jsonl", [*plain, *late, {**row(102), "error": "timeout"}])
    monkeypatch.setattr(flat, "FEW", 2**40)
    with monkeypatch.context() as piecemeal:
        piecemeal.setattr(ingesting, "at_once", lambda *_, **__: None)
        one_by_one = taken(toy, tmp_path / "one by one")
    monkeypatch.setattr(formats, "HEAD", 300)
    monkeypatch.setattr(ingesting.Ingest, "_stage", lambda *_: pytest.fail("it was read in pieces"))
    assert taken(toy, tmp_path / "at once") == one_by_one
    (kept,) = (each for each in one_by_one["events"] if each["retrieved"])
    assert kept["retrieved"] == [{"id": "1", "text": "[e-mail]"}]


@pytest.mark.parametrize("name", ["a*.jsonl", "b[1].jsonl", "c?.jsonl"])
def test_names_that_look_like_patterns(toy: Project, name: str) -> None:
    drop(toy, name, [row(number) for number in range(100)])
    drop(toy, "ab1.jsonl", [row(number) for number in range(100, 150)])
    with open_ingest(toy) as taking:
        assert sorted(outcome.events for outcome in taking.files(now=True)) == [50, 100]
