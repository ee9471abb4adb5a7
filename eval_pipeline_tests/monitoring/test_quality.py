from __future__ import annotations

from pathlib import Path

import pytest

from eval_pipeline.loading import find_suite
from eval_pipeline.monitoring import (
    ACCEPTED,
    Estimate,
    MeasuredDay,
    Production,
    Quality,
    Sampling,
    Target,
    event_table,
    measure_day,
    measured_days,
    quality_of,
)
from eval_pipeline.monitoring.sampling import sample_file
from eval_pipeline.project import Project
from eval_pipeline.suite.production import HALLUCINATION, PROVENANCE
from eval_pipeline_tests.conftest import REPOSITORY
from eval_pipeline_tests.monitoring.served import DAY, EVERYTHING, LATER, MONDAY, opened, served

SUITE = find_suite(Project(REPOSITORY, Path("nowhere")), "decomposition")


def measured(state: Path, rows: list[dict[str, object]], production: Production = EVERYTHING) -> MeasuredDay:
    project, store = opened(state)
    with store:
        store.keep(event_table(rows))
        return measure_day(project, store, SUITE, MONDAY.date(), production, LATER)


def quality(state: Path, rows: list[dict[str, object]], production: Production = EVERYTHING) -> Quality:
    found = quality_of(SUITE, [measured(state, rows, production)])
    assert found is not None
    return found


def test_who_draws_everything_knows_everything(tmp_path: Path) -> None:
    """Of 40 answers with four concepts each, ten have one that is made up: 10 ÷ 160."""
    found = quality(tmp_path, [served(number, int(number < 10)) for number in range(40)])
    made_up = found.estimates[HALLUCINATION]
    assert made_up.value == made_up.low == made_up.high == 10 / 160
    assert found.estimates[PROVENANCE].value == 150 / 160
    assert (found.requests, found.drawn, found.measured, found.state) == (40, 40, 40, "closed")
    assert made_up.meets(Target(below=0.02)) is False
    assert made_up.verdict(Target(below=0.02)) == "surely missed"


def test_failed_requests_and_those_without_text_are_drawn_but_not_measured(tmp_path: Path) -> None:
    rows = [served(0), served(1, error="timeout"), served(2, output=None)]
    found = quality(tmp_path, rows)
    assert (found.requests, found.drawn, found.measured) == (3, 3, 1)
    assert found.estimates["contract_valid"].sampled == 1


def test_a_sample_is_near_what_everything_shows(tmp_path: Path) -> None:
    rows = [served(number, int(number % 5 == 0)) for number in range(1200)]
    found = quality(tmp_path, rows, Production(sampling=Sampling(rate=0.1)))
    made_up = found.estimates[HALLUCINATION]
    assert made_up.low is not None
    assert made_up.high is not None
    assert made_up.low <= 0.05 <= made_up.high
    assert 400 < found.drawn < 560  # a first week: four times the rate
    assert made_up.effective == pytest.approx(made_up.sampled)


def test_below_thirty_there_is_no_verdict(tmp_path: Path) -> None:
    found = quality(tmp_path, [served(number, 4) for number in range(29)])
    made_up = found.estimates[HALLUCINATION]
    assert made_up.value == 1.0
    assert made_up.meets(Target(below=0.02)) is None
    assert made_up.verdict(Target(below=0.02)) == "no verdict: effective n is 29, below 30"


@pytest.mark.parametrize(
    ("value", "low", "high", "verdict"),
    [
        (0.97, 0.96, 0.98, "surely met"),
        (0.96, 0.94, 0.98, "met"),
        (0.94, 0.92, 0.96, "missed"),
        (0.90, 0.88, 0.92, "surely missed"),
    ],
)
def test_verdicts(value: float, low: float, high: float, verdict: str) -> None:
    estimate = Estimate("x", "fraction", "higher", value, low, high, 100, 100.0)
    assert estimate.verdict(Target(above=0.95)) == verdict
    assert estimate.wanted(Target(above=0.95, below=1.0)) == "> 95 %, < 100 %"


def test_versions_are_told_apart(tmp_path: Path) -> None:
    rows = [served(number, number % 2, version=f"v{number % 2}") for number in range(80)]
    day = measured(tmp_path, rows)
    for version, expected in (("v0", 0.0), ("v1", 0.25)):
        found = quality_of(SUITE, [day], version)
        assert found is not None
        assert found.estimates[HALLUCINATION].value == expected


def test_ratings_count_by_the_chance_of_being_rated(tmp_path: Path) -> None:
    """Two strata: all four of a and ten of 40 of b are rated; a is acceptable, of b half is."""
    rows = [served(number, version="a" if number < 4 else "b") for number in range(44)]
    day = measured(tmp_path, rows)
    ratings = {f"r{number}": number < 4 or number % 2 == 0 for number in range(14)}
    found = quality_of(SUITE, [day], ratings=ratings)
    assert found is not None
    assert found.estimates[ACCEPTED].value == pytest.approx((4 + 0.5 * 40) / 44)


def test_what_was_measured_stays_when_texts_are_gone(tmp_path: Path) -> None:
    project, store = opened(tmp_path)
    with store:
        store.keep(event_table([served(number) for number in range(40)]))
        before = measure_day(project, store, SUITE, MONDAY.date(), EVERYTHING, LATER)
        for file in store.folder.rglob("*.parquet"):
            file.unlink()
        store.ledger.sweep(lambda _: 0)
        sample_file(project, SUITE.name, MONDAY.date()).unlink()
        assert [each.info for each in measured_days(project, SUITE.name, MONDAY.date(), MONDAY.date())] == [
            before.info
        ]


def test_late_answers_are_added_to_what_was_measured_of_texts_that_are_gone(tmp_path: Path) -> None:
    project, store = opened(tmp_path)
    with store:

        def now() -> Quality:
            found = quality_of(SUITE, [measure_day(project, store, SUITE, MONDAY.date(), EVERYTHING, LATER)])
            assert found is not None
            return found

        store.keep(event_table([served(number, int(number < 10)) for number in range(40)]), name="first")
        before = now()
        store.forget_texts(SUITE.name, LATER.date())
        sample_file(project, SUITE.name, MONDAY.date()).unlink()
        assert now() == before
        late = [served(40 + number, version="v2") for number in range(10)]
        failed, moved = served(50, error="timeout"), served(0, output=None, version="v3", topic="coral")
        store.keep(event_table([*late, failed, moved]), name="late")
        found = now()
        assert (found.requests, found.drawn, found.measured) == (51, 51, 50)
        assert found.estimates[HALLUCINATION].value == 10 / 200
        (day,) = measured_days(project, SUITE.name, MONDAY.date(), MONDAY.date())
        kept = [row for row in day.table.to_pylist() if row["request_id"] == "r0"]
        assert {row["version"] for row in kept} == {"v3"}


def test_days_that_are_not_there_say_nothing(tmp_path: Path) -> None:
    project, store = opened(tmp_path)
    store.__exit__()
    assert measured_days(project, SUITE.name, MONDAY.date(), (MONDAY + 3 * DAY).date()) == []
    assert quality_of(SUITE, []) is None


def test_same_requests_give_the_same_numbers(tmp_path: Path) -> None:
    rows = [served(number, int(number % 3 == 0)) for number in range(300)]
    production = Production(sampling=Sampling(rate=0.1))
    first = quality(tmp_path / "a", rows, production)
    second = quality(tmp_path / "b", [*reversed(rows), *rows[:50]], production)
    assert first.estimates == second.estimates
