from __future__ import annotations

import datetime
import itertools
import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from eval_pipeline.monitoring import Delivery, EventStore, event_table, feedback_table
from eval_pipeline.monitoring.ledger import EVENTS

MONDAY = datetime.datetime(2026, 3, 2, tzinfo=datetime.UTC)
HOUR = datetime.timedelta(hours=1)
DAY = datetime.timedelta(days=1)


def event(number: int, at: datetime.datetime, **fields: object) -> dict[str, object]:
    return {"request_id": f"r{number}", "at": at, "suite": "toy", "latency_ms": 10.0, **fields}


@pytest.fixture
def store(tmp_path: Path) -> Iterator[EventStore]:
    with EventStore(tmp_path, f"sqlite:///{tmp_path}/journal.sqlite") as store:
        yield store


def ids(
    store: EventStore, start: datetime.datetime = MONDAY, end: datetime.datetime = MONDAY + DAY
) -> list[str]:
    column: list[str] = store.events("toy", start, end, ["request_id"])["request_id"].to_pylist()
    return column


def test_events_come_back_in_order_of_time(store: EventStore) -> None:
    rows = [event(number, MONDAY + number * HOUR) for number in (30, 3, 1, 2)]
    store.keep(event_table(rows))
    assert ids(store) == ["r1", "r2", "r3"]
    assert ids(store, end=MONDAY + 2 * DAY) == ["r1", "r2", "r3", "r30"]
    assert ids(store, MONDAY + 2 * HOUR, MONDAY + 3 * HOUR) == ["r2"]
    assert store.days("toy") == [MONDAY.date(), (MONDAY + DAY).date()]
    assert store.suites() == ["toy"]


def test_a_request_counts_once_within_its_hour(store: EventStore) -> None:
    store.keep(event_table([event(1, MONDAY), event(1, MONDAY), event(2, MONDAY)]), name="first")
    store.keep(event_table([event(1, MONDAY), event(3, MONDAY)]), name="second")
    store.keep(event_table([event(1, MONDAY + HOUR)]), name="third")
    assert ids(store) == ["r1", "r2", "r3", "r1"]


@pytest.mark.parametrize("order", list(itertools.permutations(range(3))))
def test_the_most_complete_event_counts_whatever_came_first(
    store: EventStore, order: tuple[int, ...]
) -> None:
    deliveries = [
        event(1, MONDAY, latency_ms=None),
        event(1, MONDAY, output="yes", model="small"),
        event(1, MONDAY, output="no"),
    ]
    for index in order:
        store.keep(event_table([deliveries[index]]), name=str(index))
    table = store.events("toy", MONDAY, MONDAY + HOUR, ["output", "latency_ms"])
    assert table.to_pylist() == [{"output": "yes", "latency_ms": 10.0}]


def test_an_hour_in_part_has_the_same_events(store: EventStore) -> None:
    """Which of two counts does not depend on where a range begins."""
    half = MONDAY + HOUR / 2
    store.keep(event_table([event(1, MONDAY, output="whole"), event(1, half)]))
    assert ids(store, MONDAY, half) == ["r1"]
    assert ids(store, half, MONDAY + HOUR) == []


def test_nothing_kept_is_an_empty_table(store: EventStore) -> None:
    assert store.events("toy", MONDAY, MONDAY + DAY).num_rows == 0
    assert store.feedback(MONDAY, MONDAY + DAY).num_rows == 0


def test_feedback_counts_once(store: EventStore) -> None:
    given = {"feedback_id": "f1", "request_id": "r1", "at": MONDAY, "name": "thumbs", "points": 5.0}
    for name in ("first", "second"):
        store.keep(event_table([]), feedback_table([given, {**given, "feedback_id": name}]), name)
    assert store.feedback(MONDAY, MONDAY + DAY)["feedback_id"].to_pylist() == ["f1", "first", "second"]


def test_a_file_is_published_once(store: EventStore) -> None:
    def deliver() -> bool:
        with store.staging() as staging:
            staging.add_events(event_table([event(1, MONDAY)]))
            return store.publish(
                Delivery("digest", "a.jsonl", 10, "flat", 1, 0, 0, staging.segments), staging
            )

    assert [deliver(), deliver()] == [True, False]
    assert store.ledger.known(["digest", "other"]) == {"digest"}
    assert [file.name for file in store.ledger.files()] == ["a.jsonl"]
    assert len(store.ledger.segments(EVENTS)) == 1


def test_what_a_killed_process_left_is_swept_and_never_counts(store: EventStore) -> None:
    store.keep(event_table([event(1, MONDAY)]))
    with store.staging() as staging:
        staging.add_events(event_table([event(2, MONDAY)]))
        ((relative, staged),) = staging.staged.items()
        (store.folder / relative).parent.mkdir(parents=True, exist_ok=True)
        staged.path.rename(store.folder / relative)
    assert ids(store) == ["r1"]
    assert store.sweep() == 1
    assert not (store.folder / relative).exists()
    assert ids(store) == ["r1"]


def test_folders_that_nobody_writes_to_any_more_are_swept(store: EventStore) -> None:
    store.keep(event_table([event(1, MONDAY)]))
    old, new = (store.folder / name for name in (".old.tmp", ".new.tmp"))
    for folder in (old, new):
        folder.mkdir()
    os.utime(old, (0, 0))
    store.sweep()
    assert [old.exists(), new.exists()] == [False, True]


def test_a_key_is_the_first_one_proposed(store: EventStore) -> None:
    assert [store.ledger.key("pseudonyms", fresh) for fresh in ("a", "b")] == ["a", "a"]
