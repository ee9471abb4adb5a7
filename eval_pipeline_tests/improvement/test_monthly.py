"""What a month is made of."""

from __future__ import annotations

import datetime
from pathlib import Path

import pytest

from eval_pipeline.improvement import month_of
from eval_pipeline.loading import find_suite
from eval_pipeline_tests.declaring import CLASSIFIER, NAME, declare
from eval_pipeline_tests.improvement.producing import event, keep, thumbs
from eval_pipeline_tests.improvement.test_weekly import DAY, EVERYTHING, MIDNIGHT


@pytest.mark.slow
def test_answers_of_the_day_after_are_no_part_of_it(tmp_path: Path) -> None:
    project = declare(tmp_path, CLASSIFIER)
    moments = [MIDNIGHT + n * DAY / 2 for n in range(-4, 2)]
    events = [event(n, NAME, {"text": f"Ticket {n}"}, "bug", at=at) for n, at in enumerate(moments)]
    feedback = [thumbs(n, 5.0) | {"at": at + datetime.timedelta(minutes=1)} for n, at in enumerate(moments)]
    keep(project, events, feedback)
    month = month_of(project, find_suite(project, NAME), EVERYTHING, MIDNIGHT)
    assert {each.name: each.pairs for each in month.by_answer}["contract_valid"] == 4
