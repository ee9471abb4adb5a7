from __future__ import annotations

import datetime
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from eval_pipeline.monitoring.strata import (
    OTHER,
    KeptRates,
    Rates,
    Sampling,
    Stratum,
    closed_week_before,
    closes_at,
    draws,
    first_rates,
    rates_from,
    week_of,
)

MONDAY = datetime.date(2026, 3, 2)
DAY = datetime.timedelta(days=1)


def test_rates_follow_from_a_week() -> None:
    """1,000 requests of v1 get 5 %, 100 of v2 get 30 of 100, and 10 errors all that there are."""
    counts: dict[tuple[str | None, str | None, str | None], int] = {
        (None, None, "v1"): 1000,
        (None, None, "v2"): 100,
        ("error", None, "v1"): 10,
    }
    rates = rates_from(MONDAY, counts, Sampling())
    assert rates.base == 0.05
    assert rates.rate(rates.stratum(None, None, "v1")) == 0.05
    assert rates.rate(rates.stratum(None, None, "v2")) == 0.3
    assert rates.rate(rates.stratum("timeout", None, "v1")) == 1.0
    assert rates.rate(rates.stratum(None, None, "v3")) == 0.2
    assert rates.fixed_from == "2026-03-02"


def test_a_flood_lowers_the_rate() -> None:
    rates = rates_from(MONDAY, {(None, None, "v1"): 7_000_000}, Sampling(most_a_day=1000))
    assert rates.rate(rates.stratum(None, None, "v1")) == pytest.approx(0.001)
    assert rates.new == pytest.approx(0.004)


def test_rare_topics_are_one_stratum() -> None:
    counts: dict[tuple[str | None, str | None, str | None], int] = {
        (None, f"topic {number}", "v1"): 100 - number for number in range(10)
    }
    rates = rates_from(MONDAY, counts, Sampling(most_topics=2))
    assert rates.topics == ("topic 0", "topic 1")
    assert rates.stratum(None, "topic 1", "v1") == Stratum("answer", "topic 1", "v1")
    assert rates.stratum(None, "topic 7", "v1") == Stratum("answer", OTHER, "v1")
    assert rates.stratum(None, None, None) == Stratum("answer", "none", "none")


def test_names_of_strata_are_told_apart() -> None:
    assert Stratum("answer", "a", "b|c").name != Stratum("answer", "a|b", "c").name


def test_without_a_week_everything_is_new() -> None:
    rates = rates_from(MONDAY, {}, Sampling(rate=0.5))
    assert rates == first_rates(Sampling(rate=0.5))
    assert (rates.new, rates.fixed_from) == (1.0, "")


@pytest.mark.parametrize(
    ("day", "closes_after", "expected"),
    [
        (MONDAY, 7, MONDAY - 14 * DAY),
        (MONDAY + 6 * DAY, 7, MONDAY - 14 * DAY),
        (MONDAY + 7 * DAY, 7, MONDAY - 7 * DAY),
        (MONDAY, 1, MONDAY - 14 * DAY),
        (MONDAY, 8, MONDAY - 21 * DAY),
    ],
)
def test_the_last_closed_week(day: datetime.date, closes_after: int, expected: datetime.date) -> None:
    found = closed_week_before(day, closes_after)
    assert found == expected == week_of(found)
    begins = datetime.datetime.combine(week_of(day), datetime.time(), datetime.UTC)
    assert closes_at(found + 6 * DAY, closes_after) <= begins
    assert closes_at(found + 13 * DAY, closes_after) > begins


def test_rates_that_are_fixed_stay(tmp_path: Path) -> None:
    with KeptRates(f"sqlite:///{tmp_path}/journal.sqlite") as kept:
        assert kept.get("toy", MONDAY) is None
        first = kept.fix("toy", MONDAY, Rates(0.1, 0.4, {"a": 0.5}, ("x",), ""))
        assert kept.fix("toy", MONDAY, Rates(0.2, 0.8, {}, (), "")) == first
        assert kept.get("toy", MONDAY) == first
        assert kept.get("toy", MONDAY + 7 * DAY) is None


def test_draws_are_spread_evenly() -> None:
    found = draws("salt", [f"r{number}" for number in range(20_000)])
    assert ((found >= 0) & (found < 1)).all()
    shares = np.histogram(found, 20, (0, 1))[0] / 20_000
    assert np.abs(shares - 0.05).max() < 0.008
    assert (draws("other", ["r1"]) != found[1:2]).all()


@given(st.lists(st.text(max_size=8), min_size=1, unique=True), st.text(max_size=5))
def test_an_id_is_drawn_for_itself(ids: list[str], salt: str) -> None:
    together = draws(salt, ids)
    assert [float(draws(salt, [each])[0]) for each in ids] == together.tolist()
