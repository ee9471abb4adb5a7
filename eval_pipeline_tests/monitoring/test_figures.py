"""Figures against plain sums and sorted lists of the same events."""

from __future__ import annotations

import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from eval_pipeline.monitoring import FIGURES, EventStore, Figures, event_table, feedback_table, figures_of
from eval_pipeline.monitoring.cells import cells_file, stale_days
from eval_pipeline.monitoring.sketch import ACCURACY, bucket_of, quantile, value_of
from eval_pipeline_tests.monitoring.events_of import DAY, HOUR, MINUTE, MONDAY


@pytest.fixture
def store(tmp_path: Path) -> Iterator[EventStore]:
    with EventStore(tmp_path, f"sqlite:///{tmp_path}/journal.sqlite") as store:
        yield store


def some_events(count: int, seed: int = 1) -> list[dict[str, Any]]:
    chance = random.Random(seed)
    return [
        {
            "request_id": f"r{number}",
            "trace_id": f"t{number // 2}",
            "at": MONDAY + number * 7 * MINUTE,
            "suite": "toy",
            "version": chance.choice(["a-v1.0", "a-v1.1", None]),
            "model": chance.choice(["small", "large"]),
            "latency_ms": chance.choice([None, chance.lognormvariate(7, 1)]),
            "input_tokens": chance.randrange(1000),
            "output_tokens": chance.choice([None, chance.randrange(100)]),
            "cost_usd": chance.choice([None, chance.random() / 100]),
            "error": chance.choice([None, None, None, "timeout", "server"]),
            "confidences": chance.choice([None, [], [chance.random() for _ in range(3)]]),
            "concepts": chance.choice([None, chance.randrange(40)]),
        }
        for number in range(count)
    ]


def plain(events: list[dict[str, Any]], minutes: float) -> dict[str, float | None]:
    """The figures of events by the definitions in the documentation, in the plainest way."""

    def mean(values: list[float]) -> float | None:
        return sum(values) / len(values) if values else None

    def present(name: str) -> list[float]:
        return [event[name] for event in events if event[name] is not None]

    def percentile(values: list[float], share: float) -> float | None:
        return float(np.quantile(values, share, method="inverted_cdf")) if values else None

    latencies, costs = present("latency_ms"), present("cost_usd")
    return {
        "requests": len(events),
        "requests_per_minute": len(events) / minutes,
        "latency_p50_ms": percentile(latencies, 0.5),
        "latency_p95_ms": percentile(latencies, 0.95),
        "latency_p99_ms": percentile(latencies, 0.99),
        "latency_mean_ms": mean(latencies),
        "error_rate": sum(event["error"] is not None for event in events) / len(events),
        "input_tokens": sum(present("input_tokens")),
        "output_tokens": sum(present("output_tokens")),
        "cost_usd": sum(costs),
        "cost_per_request_usd": mean(costs),
        "cost_known": len(costs) / len(events),
        "concepts_per_answer": mean(present("concepts")),
        "relationships_per_answer": None,
        "mean_confidence": mean([each for event in events for each in event["confidences"] or []]),
        "feedback_points": None,
        "feedback_count": 0.0,
    }


def agree(figures: Figures, expected: dict[str, float | None]) -> None:
    for name in FIGURES:
        within = ACCURACY if name.startswith("latency_p") else 1e-6  # sums are kept to the billionth
        assert figures.value(name) == (
            None if expected[name] is None else pytest.approx(expected[name], rel=within)
        ), name


def test_figures_are_what_plain_sums_say(store: EventStore) -> None:
    events = some_events(700)
    store.keep(event_table(events[::2]), name="even")
    store.keep(event_table(events[1::2] + events[:100]), name="odd, and some again")
    (whole,) = figures_of(store, "toy", MONDAY, MONDAY + 7 * DAY, 7)
    agree(whole, plain(events, 7 * 24 * 60))
    assert whole.errors == {
        kind: sum(event["error"] == kind for event in events) for kind in ("server", "timeout")
    }
    for figures in figures_of(store, "toy", MONDAY, MONDAY + 7 * DAY, 7, by=["day", "model"]):
        assert figures.end - figures.start == DAY
        mine = [
            event
            for event in events
            if figures.start <= event["at"] < figures.end and event["model"] == figures.model
        ]
        agree(figures, plain(mine, 24 * 60))
    by_version = figures_of(store, "toy", MONDAY, MONDAY + 7 * DAY, 7, by=["version"])
    assert [each.version for each in by_version] == [None, "a-v1.0", "a-v1.1"]
    assert sum(each.requests for each in by_version) == len(events)


def test_any_cut_into_files_gives_the_same_cells(tmp_path: Path) -> None:
    events = some_events(150)
    tables = []
    for seed in range(3):
        chance = random.Random(seed)
        shuffled = chance.sample(events, len(events))
        with EventStore(tmp_path / str(seed), f"sqlite:///{tmp_path}/{seed}.sqlite") as store:
            for start in range(0, len(events), 40):
                part = shuffled[start : start + 40] + chance.sample(events, 5)
                store.keep(event_table(part), name=f"part {start}")
            found = figures_of(store, "toy", MONDAY, MONDAY + DAY, 7, by=["hour"])
            tables.append([each.values for each in found])
    assert tables[0] == tables[1] == tables[2]


def test_late_events_touch_their_hour_only(store: EventStore, monkeypatch: pytest.MonkeyPatch) -> None:
    from eval_pipeline.monitoring import cells

    events = some_events(300)
    store.keep(event_table(events))
    figures_of(store, "toy", MONDAY, MONDAY + 2 * DAY, 7)
    other = cells_file(store, "toy", (MONDAY + DAY).date())
    before = other.stat().st_mtime_ns
    made: list[list[int]] = []
    counted = cells._counted

    def noting(connection: Any, store: EventStore, segments: Any, hours: list[int]) -> Any:
        made.append(hours)
        return counted(connection, store, segments, hours)

    monkeypatch.setattr(cells, "_counted", noting)
    late = {"request_id": "late", "at": MONDAY + 3 * HOUR, "suite": "toy", "latency_ms": 1.0}
    store.keep(event_table([late]), name="late")
    assert list(stale_days(store, "toy", 7)) == [MONDAY.date()]
    figures = figures_of(store, "toy", MONDAY, MONDAY + 2 * DAY, 7, by=["hour"])
    assert made == [[3]]
    assert other.stat().st_mtime_ns == before
    same_hour = [event for event in events if MONDAY + 3 * HOUR <= event["at"] < MONDAY + 4 * HOUR]
    assert next(each for each in figures if each.start.hour == 3).requests == len(same_hour) + 1
    assert stale_days(store, "toy", 7) == {}


def test_feedback_joins_later_by_request_or_by_trace(store: EventStore) -> None:
    events = some_events(10)
    store.keep(event_table(events))
    (before,) = figures_of(store, "toy", MONDAY, MONDAY + DAY, 7)
    assert before.value("feedback_points") is None

    def given(number: int, points: float, days: float, **about: str) -> dict[str, Any]:
        at = MONDAY + days * DAY
        return {"feedback_id": f"f{number}", "at": at, "name": "thumbs", "points": points, **about}

    rows = [
        given(1, 5.0, 1, request_id="r0"),
        given(2, 1.0, 2, request_id="r0"),  # they changed their mind
        given(3, 4.0, 1, trace_id="t2"),  # r4 and r5: the last one counts
        given(4, 5.0, 1, request_id="of somebody else"),
        given(5, 5.0, 9, request_id="r1"),  # the day is closed
    ]
    store.keep(event_table([]), feedback_table(rows), "feedback")
    (after,) = figures_of(store, "toy", MONDAY, MONDAY + DAY, 7)
    assert after.value("feedback_points") == 2.5
    assert after.value("feedback_count") == 2
    assert after.requests == before.requests
    (of_last,) = [
        each
        for each in figures_of(store, "toy", MONDAY, MONDAY + DAY, 7, by=["version", "model"])
        if each.measure("points").total == 4.0
    ]
    assert (of_last.version, of_last.model) == (events[5]["version"], events[5]["model"])


def test_feedback_on_a_trace_that_goes_on_after_midnight_counts_once(store: EventStore) -> None:
    """For the day of its last request; what was said before midnight is about a request that was made."""
    midnight = MONDAY + DAY

    def request(name: str, trace: str, minutes: float) -> dict[str, Any]:
        return {"request_id": name, "trace_id": trace, "at": midnight + minutes * MINUTE, "suite": "toy"}

    def given(trace: str, name: str, points: float, minutes: float) -> dict[str, Any]:
        about = {"feedback_id": f"{trace} {name}", "trace_id": trace, "name": name, "points": points}
        return {"at": midnight + minutes * MINUTE, **about}

    def points() -> list[tuple[float | None, float | None]]:
        figures = figures_of(store, "toy", MONDAY, MONDAY + 2 * DAY, 7, by=["day"])
        return [(each.value("feedback_points"), each.value("feedback_count")) for each in figures]

    requests = [request("r0", "over", -10), request("r1", "before", -5), request("r2", "later", 61)]
    said = [
        given("over", "thumb", 5.0, 600),
        given("over", "stars", 1.0, -3),
        given("before", "thumb", 3.0, 9),
    ]
    store.keep(event_table(requests), feedback_table(said))
    assert points() == [(3.0, 3), (None, 0)]
    store.keep(event_table([request("r3", "over", 59)]), name="the rest")
    assert MONDAY.date() in stale_days(store, "toy", 7)
    assert points() == [(2.0, 2), (5.0, 1)]
    assert stale_days(store, "toy", 7) == {}


@given(st.lists(st.floats(0, 1e9), min_size=1), st.sampled_from([0.0, 0.5, 0.95, 0.99, 1.0]))
def test_percentiles_are_within_one_percent(values: list[float], share: float) -> None:
    counts: dict[int, int] = {}
    for value in values:
        counts[bucket_of(value)] = counts.get(bucket_of(value), 0) + 1
    exact = float(np.quantile(values, share, method="inverted_cdf"))
    assert quantile(counts, share) == pytest.approx(exact, rel=ACCURACY * (1 + 1e-9), abs=1e-9)


def test_so_many_are_at_most_a_percentile() -> None:
    counts = {bucket_of(value): 1 for value in (1, 10, 1000)}
    found = [quantile(counts, share) for share in (0.33, 0.34, 0.5, 0.66, 0.67, 0.95)]
    assert found == pytest.approx([1, 10, 10, 10, 1000, 1000], rel=ACCURACY)
    hundred = {bucket_of(1.1**number): 1 for number in range(100)}
    assert quantile(hundred, 0.07) == pytest.approx(1.1**6, rel=ACCURACY)


def test_percentiles_of_nothing_are_unknown() -> None:
    assert quantile({}, 0.5) is None
    assert value_of(bucket_of(0.0)) == 0.0
