"""What a week is made of."""

from __future__ import annotations

import datetime
from pathlib import Path

import pytest

from eval_pipeline.improvement import week_of
from eval_pipeline.loading import find_suite
from eval_pipeline.monitoring import Production
from eval_pipeline_tests.declaring import CLASSIFIER, NAME, declare
from eval_pipeline_tests.improvement.producing import NOON, event, keep

EVERYTHING = Production.model_validate({"sampling": {"rate": 1.0}})
DAY = datetime.timedelta(days=1)
MIDNIGHT = NOON.replace(hour=0) + DAY


@pytest.mark.slow
def test_samples_are_those_of_the_same_seven_days_as_figures(tmp_path: Path) -> None:
    project = declare(tmp_path, CLASSIFIER)
    at = MIDNIGHT + datetime.timedelta(hours=1)
    keep(project, [event(n, NAME, {"text": f"Ticket {n}"}, "bug", at=at - n * DAY) for n in range(9)])
    week = week_of(project, find_suite(project, NAME), EVERYTHING, MIDNIGHT)
    assert week.figures is not None
    assert week.quality is not None
    assert week.figures.value("requests") == week.quality.requests == 7
    assert (week.quality.first, week.quality.last) == ("2026-02-24", "2026-03-02")
