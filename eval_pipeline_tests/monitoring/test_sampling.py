"""The sample of a closed day is a function of its events and its feedback, and of nothing else."""

from __future__ import annotations

import datetime
import random
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from eval_pipeline.monitoring import (
    EventStore,
    Production,
    Sample,
    Sampling,
    event_table,
    feedback_table,
    rows_of,
    sample_of,
    stale_samples,
)
from eval_pipeline.project import Project

MONDAY = datetime.datetime(2026, 3, 2, tzinfo=datetime.UTC)
DAY, HOUR = datetime.timedelta(days=1), datetime.timedelta(hours=1)
LATER = MONDAY + 30 * DAY
PRODUCTION = Production(sampling=Sampling(rate=0.1))


def event(number: int, **fields: Any) -> dict[str, Any]:
    at = MONDAY + number * datetime.timedelta(minutes=2)
    return {
        "request_id": f"r{number}",
        "at": at,
        "suite": "toy",
        "version": f"v{number % 2}",
        "topic": f"t{number % 3}",
        "error": "timeout" if number % 11 == 0 else None,
        "output": f"answer {number}",
        **fields,
    }


def disliked(number: int, after: datetime.timedelta, points: float = 1.0) -> dict[str, Any]:
    return {
        "feedback_id": f"f{number}/{points}",
        "request_id": f"r{number}",
        "at": MONDAY + after,
        "name": "thumbs",
        "points": points,
    }


EVENTS = [event(number) for number in range(300)]
FEEDBACK = [disliked(number, number * HOUR / 2) for number in range(0, 300, 7)]


def opened(folder: Path) -> tuple[Project, EventStore]:
    project = Project(folder, folder / ".eval")
    store = EventStore.of(project)
    store.ledger.key("sampling", "a salt for tests")
    return project, store


def drawn(sample: Sample) -> list[tuple[str, str, float]]:
    return [(row["request_id"], row["stratum"], row["chance"]) for row in rows_of(sample)]


def sampled(
    folder: Path,
    deliveries: list[tuple[list[dict[str, Any]], list[dict[str, Any]]]],
    now: datetime.datetime = LATER,
) -> Sample:
    project, store = opened(folder)
    with store:
        for number, (events, feedback) in enumerate(deliveries):
            store.keep(event_table(events), feedback_table(feedback), str(number))
        return sample_of(project, store, "toy", MONDAY.date(), PRODUCTION, now)


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Sample:
    """What is drawn where everything arrives at once and in order."""
    return sampled(tmp_path_factory.mktemp("whole"), [(EVENTS, FEEDBACK)])


@settings(max_examples=6)
@given(st.integers(0, 2**32), st.integers(1, 5))
def test_no_order_no_repetition_and_no_delay_changes_a_sample(
    tmp_path_factory: pytest.TempPathFactory, whole: Sample, seed: int, parts: int
) -> None:
    chance = random.Random(seed)
    deliveries: list[tuple[list[dict[str, Any]], list[dict[str, Any]]]] = [([], []) for _ in range(parts)]
    for row in EVENTS:
        for _ in range(chance.choice([1, 1, 2])):
            chance.choice(deliveries)[0].append(row)
    for given_ in FEEDBACK:
        for _ in range(chance.choice([1, 2])):
            chance.choice(deliveries)[1].append(given_)
    for events, feedback in deliveries:
        chance.shuffle(events)
        chance.shuffle(feedback)
    found = sampled(tmp_path_factory.mktemp("parts"), deliveries)
    assert drawn(found) == drawn(whole)
    assert found.info.population == whole.info.population
    assert found.table.equals(whole.table)
    assert found.info.closed


def test_a_sample_has_about_the_size_that_rates_promise(tmp_path: Path) -> None:
    sample = sampled(tmp_path, [(EVENTS, [])])
    assert sample.info.requests == 300
    assert sum(sample.info.population.values()) == 300
    # No week was closed before: everything is new, and drawn at four times the rate.
    assert {chance for _, _, chance in drawn(sample)} == {0.4}
    assert 90 < len(drawn(sample)) < 150
    strata = {stratum for _, stratum, _ in drawn(sample)}
    assert len(strata) == 4  # answers and errors of two versions; topics are not known yet


def test_feedback_raises_chances_and_never_lowers_them(tmp_path: Path) -> None:
    project, store = opened(tmp_path)
    open_day = MONDAY + 3 * DAY
    with store:
        store.keep(event_table(EVENTS), name="events")
        before = sample_of(project, store, "toy", MONDAY.date(), PRODUCTION, open_day)
        assert before.info.state == "provisional"
        store.keep(event_table([]), feedback_table(FEEDBACK), "thumbs down")
        after = sample_of(project, store, "toy", MONDAY.date(), PRODUCTION, open_day)
        assert {each[0] for each in drawn(before)} < {each[0] for each in drawn(after)}
        chances = {request: chance for request, _, chance in drawn(after)}
        assert chances["r7"] == 0.5 if "r7" in chances else True
        assert set(chances.values()) == {0.4, 0.5}
        happier = [disliked(number, 2 * DAY, 5.0) for number in range(0, 300, 7)]
        store.keep(event_table([]), feedback_table(happier), "thumbs up")
        again = sample_of(project, store, "toy", MONDAY.date(), PRODUCTION, open_day)
        assert drawn(again) == drawn(after)


def test_feedback_after_a_day_closed_changes_nothing(tmp_path: Path) -> None:
    project, store = opened(tmp_path)
    with store:
        store.keep(event_table(EVENTS), name="events")
        closed = sample_of(project, store, "toy", MONDAY.date(), PRODUCTION, LATER)
        late = [disliked(number, 8 * DAY) for number in range(300)]
        store.keep(event_table([]), feedback_table(late), "late")
        assert stale_samples(project, store, "toy", PRODUCTION, LATER) == {}
        again = sample_of(project, store, "toy", MONDAY.date(), PRODUCTION, LATER)
        assert drawn(again) == drawn(closed)
        just_in_time = [disliked(number, 8 * DAY - HOUR) for number in range(300)]
        store.keep(event_table([]), feedback_table(just_in_time), "in time")
        assert list(stale_samples(project, store, "toy", PRODUCTION, LATER)) == [MONDAY.date()]
        more = sample_of(project, store, "toy", MONDAY.date(), PRODUCTION, LATER)
        assert len(drawn(more)) > len(drawn(closed))


def test_feedback_on_a_trace_is_on_its_last_request(tmp_path: Path) -> None:
    project, store = opened(tmp_path)
    production = Production(sampling=Sampling(rate=1e-6, disliked_rate=1.0))
    events = [event(number, trace_id=f"trace {number // 10}") for number in range(30)]
    given_ = {**disliked(0, HOUR), "request_id": None, "trace_id": "trace 1"}
    with store:
        store.keep(event_table(events), feedback_table([given_]))
        sample = sample_of(project, store, "toy", MONDAY.date(), production, LATER)
    assert [row["request_id"] for row in rows_of(sample)] == ["r19"]
    assert [row["points"] for row in rows_of(sample)] == [1.0]


def test_feedback_on_a_trace_over_midnight_is_on_one_request(tmp_path: Path) -> None:
    project, store = opened(tmp_path)
    production = Production(sampling=Sampling(rate=1e-6, disliked_rate=1.0))
    first = event(0, at=MONDAY + DAY - HOUR / 2, trace_id="over")
    second = event(1, at=MONDAY + DAY + HOUR / 2, trace_id="over")
    given_ = {**disliked(0, 2 * DAY), "request_id": None, "trace_id": "over"}

    def drawn_ids(day: datetime.datetime) -> list[str]:
        sample = sample_of(project, store, "toy", day.date(), production, LATER + DAY)
        return [row["request_id"] for row in rows_of(sample)]

    with store:
        store.keep(event_table([first]), feedback_table([given_]))
        assert drawn_ids(MONDAY) == ["r0"]
        store.keep(event_table([second]), name="the rest")
        assert (drawn_ids(MONDAY), drawn_ids(MONDAY + DAY)) == ([], ["r1"])


def test_rates_are_fixed_from_the_closed_week_and_stay(tmp_path: Path) -> None:
    project, store = opened(tmp_path)
    earlier = [event(number, at=MONDAY - 14 * DAY + number * HOUR / 2) for number in range(300)]
    with store:
        store.keep(event_table([*EVENTS, *earlier]))
        sample = sample_of(project, store, "toy", MONDAY.date(), PRODUCTION, LATER)
        chances = {stratum: chance for _, stratum, chance in drawn(sample)}
        # 46 answers of each topic and version in the week, and some 14 errors of each version.
        assert len(chances) > 6
        assert all(chance > 0.5 for chance in chances.values())
        store.keep(event_table([event(n, at=MONDAY - 13 * DAY) for n in range(1000, 1100)]), name="late")
        again = sample_of(project, store, "toy", MONDAY.date(), PRODUCTION, LATER)
        assert drawn(again) == drawn(sample)


def test_a_day_without_events_has_an_empty_sample(tmp_path: Path) -> None:
    sample = sampled(tmp_path, [([], [])])
    assert (sample.table.num_rows, sample.info.requests) == (0, 0)
