"""What starts the evaluations of a host by itself, and when these are late."""

import datetime
from typing import Any

import dagster as dg
import pytest

from eval_pipeline import Times
from eval_pipeline.automation import late_after
from eval_pipeline.problems import BadInput

HOUR = datetime.timedelta(hours=1)


def test_everything_that_is_wrong_is_said_at_once() -> None:
    with pytest.raises(BadInput) as bad:
        _ = Times(nightly="at dawn", weekly="0 4 * * 1", timezone="Middle-earth").clock
    assert [problem.field for problem in bad.value.problems] == ["timezone", "nightly"]


def test_rows_are_evaluated_at_a_time_as_they_come_or_both() -> None:
    nightly, eager = dg.AutomationCondition.on_cron("0 2 * * *", "UTC"), dg.AutomationCondition.eager()
    assert Times().condition is None
    assert Times(nightly="0 2 * * *").condition == nightly
    assert Times(on_change=True).condition == eager
    assert Times(nightly="0 2 * * *", on_change=True).condition == nightly | eager
    with pytest.raises(BadInput, match="weekly: the rows of an asset have no such evaluations"):
        _ = Times(weekly="0 4 * * 1").condition


@pytest.mark.parametrize(
    ("cron", "hours"),
    [("0 2 * * *", 24), ("@daily", 24), ("0 2 * * 1-5", 72), ("0 1,5 * * *", 20), ("0 4 * * 1", 7 * 24)],
)
def test_what_is_evaluated_every_night_is_late_after_the_longest_pause(cron: str, hours: int) -> None:
    policy: Any = late_after(cron, "UTC")
    assert policy.warn_window.to_timedelta() == (hours + 2) * HOUR
    assert policy.fail_window.to_timedelta() == (2 * hours + 2) * HOUR
