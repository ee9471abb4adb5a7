from __future__ import annotations

import datetime
from collections import Counter

import pytest

from eval_pipeline.monitoring.simulating import INCIDENT_HOURS, INCIDENT_KIND, Exchange, Plan, simulated_day

FIRST = datetime.date(2026, 3, 2)
DAYS = 60


@pytest.mark.slow
@pytest.mark.parametrize("exchanges", [(), (Exchange("asked", "answered"),)], ids=["bare", "with texts"])
def test_chance_plants_no_incident_on_whatever_day_it_begins(exchanges: tuple[Exchange, ...]) -> None:
    """Two failures among the forty requests of an hour would open an alert."""
    plan = Plan("toy", ("toy-v1.0",), FIRST, DAYS, 1000, 1, exchanges)
    failures: Counter[tuple[str, str]] = Counter()
    for number in range(DAYS):
        for event in simulated_day(plan, FIRST + datetime.timedelta(days=number)):
            if "error" in event:
                failures[event["error"], event["at"][:13]] += 1
    planted = {hour: count for (kind, hour), count in failures.items() if kind == INCIDENT_KIND}
    ordinary = [count for (kind, _), count in failures.items() if kind != INCIDENT_KIND]
    assert sorted(planted) == [f"{plan.incident_day}T{hour:02}" for hour in INCIDENT_HOURS]
    assert min(planted.values()) > 2
    assert len(ordinary) > DAYS
    assert set(ordinary) == {1}
