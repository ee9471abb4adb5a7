from __future__ import annotations

import datetime
import itertools
import os
import random
from collections.abc import Callable, Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from eval_pipeline.monitoring import Delivery, EventStore, event_table, feedback_table, figures_of
from eval_pipeline.monitoring.ledger import EVENTS
from eval_pipeline.problems import BadInput
from eval_pipeline.store import DATABASE_VARIABLE, STORE_VARIABLE

MONDAY = datetime.datetime(2026, 3, 2, tzinfo=datetime.UTC)
HOUR = datetime.timedelta(hours=1)
DAY = datetime.timedelta(days=1)


def event(number: int, at: datetime.datetime, **fields: object) -> dict[str, object]:
    return {"request_id": f"r{number}", "at": at, "suite": "toy", "latency_ms": 10.0, **fields}


def opened(folder: Path) -> EventStore:
    return EventStore(folder, f"sqlite:///{folder}/journal.sqlite")


@pytest.fixture
def store(tmp_path: Path) -> Iterator[EventStore]:
    with opened(tmp_path) as store:
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


TEXT = st.sampled_from([None, "", "a", "b"])
PASSAGES = st.none() | st.lists(st.fixed_dictionaries({"id": TEXT, "text": TEXT}), max_size=2)
DELIVERED = st.fixed_dictionaries(
    {"input": TEXT, "output": TEXT, "retrieved": PASSAGES},
    optional={
        "topic": TEXT,
        "concepts": st.sampled_from([None, 1, 2]),
        "confidences": st.none() | st.lists(st.sampled_from([0.25, 0.5]), max_size=2),
    },
)


def told(store: EventStore) -> tuple[Any, ...]:
    """What the store and the figures say of the first hour, texts with and without each other."""
    columns = [None, ["concepts", "confidences"], ["input"], ["output"], ["retrieved", "topic"]]
    tables = [store.events("toy", MONDAY, MONDAY + HOUR, names).to_pylist() for names in columns]
    return (*tables, figures_of(store, "toy", MONDAY, MONDAY + HOUR, 7))


@pytest.mark.slow
@settings(max_examples=10, deadline=None)
@given(st.lists(DELIVERED, min_size=2, max_size=4), st.randoms(use_true_random=False))
def test_which_delivery_counts_depends_on_no_order(
    rows: list[dict[str, object]], chance: random.Random
) -> None:
    """Also where they differ in nothing but texts, in one file or several."""
    found = []
    deliveries = [*(event(1, MONDAY, **row) for row in rows), event(2, MONDAY), event(3, MONDAY)]
    for _ in range(2):
        chance.shuffle(deliveries)
        cut = chance.randrange(len(deliveries) + 1)
        with (
            TemporaryDirectory() as folder,
            EventStore(Path(folder), f"sqlite:///{folder}/a.sqlite") as store,
        ):
            for name, part in (("first", deliveries[:cut]), ("second", deliveries[cut:])):
                store.keep(event_table(part), name=name)
            found.append(told(store))
    whole, *parts, _ = found[0]
    assert [len(table) for table in (whole, *parts)] == [3] * 5
    assert all(
        {name: row[name] for name in part} == part
        for table in parts
        for row, part in zip(whole, table, strict=True)
    )
    assert found[1] == found[0]


@pytest.mark.parametrize("field", ["input", "output", "retrieved"])
def test_a_text_outweighs_no_figure(store: EventStore, field: str) -> None:
    """A delivery with texts and without a latency does not take the latency away."""
    text = [{"id": "p", "text": "said"}] if field == "retrieved" else "said"
    store.keep(event_table([event(1, MONDAY, latency_ms=None, **{field: text}), event(1, MONDAY)]))
    assert store.events("toy", MONDAY, MONDAY + HOUR, ["latency_ms"]).to_pylist() == [{"latency_ms": 10.0}]


def test_an_hour_in_part_has_the_same_events(store: EventStore) -> None:
    """Which of two counts does not depend on where a range begins."""
    half = MONDAY + HOUR / 2
    store.keep(event_table([event(1, MONDAY, model="whole"), event(1, half)]))
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
            return store.publish(Delivery("digest", "a.jsonl", 10, "flat", 1, 0, 0), staging)

    assert [deliver(), deliver()] == [True, False]
    assert store.ledger.known(["digest", "other"]) == {"digest"}
    assert [file.name for file in store.ledger.files()] == ["a.jsonl"]
    assert len(store.ledger.segments(EVENTS)) == 1


def test_who_cuts_a_file_otherwise_gives_other_names(store: EventStore) -> None:
    """A segment that somebody left who was killed is never taken for one with other rows."""

    def names(*sizes: int) -> dict[str, int]:
        rows = iter([event(number, MONDAY) for number in range(10)])
        with store.staging() as staging:
            for place, size in enumerate(sizes):
                staging.add_events(event_table([next(rows) for _ in range(size)]), (place,))
            return {segment.path: segment.rows for segment, _ in staging.staged("digest")}

    assert names(3, 3, 4) == names(3, 3, 4)
    assert names(3, 3, 4).keys().isdisjoint(names(4, 3, 3))
    assert len(names(3, 3, 4).keys() & names(3, 4, 3).keys()) == 1


def killed(store: EventStore, number: int) -> Path:
    """Where the segment lies of who was killed after it was put there and before the ledger had it."""

    def dying(delivery: Delivery, place: Callable[[], None]) -> bool:
        place()
        raise KeyboardInterrupt

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(store.ledger, "publish", dying)
        before = set(store.folder.glob("*/*/*.parquet"))
        with pytest.raises(KeyboardInterrupt):
            store.keep(event_table([event(number, MONDAY)]), name=f"killed {number}")
    (left,) = set(store.folder.glob("*/*/*.parquet")) - before
    return left


def test_what_a_killed_process_left_is_swept_and_never_counts(store: EventStore) -> None:
    store.keep(event_table([event(1, MONDAY)]))
    left = killed(store, 2)
    assert ids(store) == ["r1"]
    assert store.sweep() == 1
    assert not left.exists()
    assert ids(store) == ["r1"]


def test_the_segments_of_another_ledger_stay(store: EventStore, tmp_path: Path) -> None:
    store.keep(event_table([event(1, MONDAY)]), name="listed here")
    left = killed(store, 2)
    with EventStore(tmp_path, f"sqlite:///{tmp_path}/other.sqlite") as other:
        assert other.sweep() == 0
        assert left.exists(), "whether it counts is known only to the ledger that it was made for"
        other.keep(event_table([event(2, MONDAY)]), name="listed there")
        store.sweep()
        assert [ids(store), ids(other)] == [["r1"], ["r2"]]
        left = killed(other, 3)
        assert store.sweep() == 0
        assert left.exists()
        assert other.sweep() == 1
        assert not left.exists()


def test_what_was_left_before_a_state_folder_was_moved_is_swept(tmp_path: Path) -> None:
    with opened(tmp_path / "here") as store:
        left = killed(store, 2)
    (tmp_path / "here").rename(tmp_path / "there")
    with opened(tmp_path / "there") as store:
        assert store.sweep() == 1
        assert not (tmp_path / "there" / left.relative_to(tmp_path / "here")).exists()


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


def test_machines_that_share_a_store_have_each_other_s_events(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(STORE_VARIABLE, f"file://{tmp_path}/shared")
    url = f"sqlite:///{tmp_path}/journal.sqlite"
    with EventStore(tmp_path / "one", url) as one, EventStore(tmp_path / "two", url) as two:
        one.keep(event_table([event(1, MONDAY, input="private")]), name="first")
        two.keep(event_table([event(2, MONDAY)]), name="second")
        assert ids(one) == ids(two) == ["r1", "r2"]
        assert two.forget_texts("toy", (MONDAY + DAY).date()) == 1
        assert one.events("toy", MONDAY, MONDAY + DAY, ["input"])["input"].to_pylist() == [None, None]
    left = [path for path in (tmp_path / "shared").rglob("*.parquet") if b"private" in path.read_bytes()]
    assert not left
    with EventStore(tmp_path / "one", url) as one:
        one.sweep()
    left = [path for path in (tmp_path / "one").rglob("*.parquet") if b"private" in path.read_bytes()]
    assert not left, "nor does the machine keep it that another one took it from"
    with EventStore(tmp_path / "three", url) as three:
        assert ids(three) == ["r1", "r2"]
        assert three.share_all() == 2


def test_a_segment_of_another_machine_without_a_store_says_what_to_do(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    url = f"sqlite:///{tmp_path}/journal.sqlite"
    monkeypatch.setenv(DATABASE_VARIABLE, url)
    with EventStore(tmp_path / "one", url) as one, EventStore(tmp_path / "two", url) as two:
        one.keep(event_table([event(1, MONDAY)]))
        with pytest.raises(BadInput, match=f"lies on another machine.*Set {STORE_VARIABLE}"):
            ids(two)
