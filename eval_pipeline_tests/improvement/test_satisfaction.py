"""What raters and users say of a stretch of days."""

from __future__ import annotations

import datetime
from pathlib import Path

import pytest

from eval_pipeline.improvement import make_queue, rated_accuracy, take, window
from eval_pipeline.improvement.ratings import answers_to_rate
from eval_pipeline.loading import find_suite
from eval_pipeline.monitoring import EventStore, measure_day
from eval_pipeline.project import Project
from eval_pipeline_tests.declaring import CLASSIFIER, NAME, declare
from eval_pipeline_tests.improvement.producing import event, keep
from eval_pipeline_tests.improvement.test_ratings import filled
from eval_pipeline_tests.improvement.test_weekly import DAY, EVERYTHING, MIDNIGHT


def rated(tmp_path: Path, days: range) -> Project:
    """An answer of each day, of which every other is acceptable; on the last one raters disagree."""
    project = declare(tmp_path, CLASSIFIER)
    at = MIDNIGHT + datetime.timedelta(hours=1)
    keep(project, [event(n, NAME, {"text": f"Ticket {n}"}, "bug", at=at - n * DAY) for n in days])
    with EventStore.of(project) as store:
        for day in store.days(NAME):
            measure_day(project, store, find_suite(project, NAME), day, EVERYTHING)
        rows = list(answers_to_rate(project, store, NAME, EVERYTHING, store.days(NAME)))
    one, two = make_queue(project, NAME, rows, 2, 50)
    ruling = {f"r{n}": "unacceptable" if n % 2 else "acceptable" for n in days}
    take(project, filled(one, tmp_path / "one.jsonl", "Ada", ruling.__getitem__))
    other = ruling | {"r0": "unacceptable"}
    take(project, filled(two, tmp_path / "two.jsonl", "Bo", other.__getitem__))
    return project


@pytest.mark.slow
def test_accuracy_is_that_of_the_days_of_the_stretch(tmp_path: Path) -> None:
    project = rated(tmp_path, range(9))
    found = rated_accuracy(project, find_suite(project, NAME), EVERYTHING, 7, MIDNIGHT)
    assert (found.accuracy, found.effective) == (3 / 7, 7.0)


def test_rulings_are_those_on_the_answers_of_the_stretch(tmp_path: Path) -> None:
    project = rated(tmp_path, range(9))
    suite = find_suite(project, NAME)
    week = rated_accuracy(project, suite, EVERYTHING, 7, MIDNIGHT)
    assert (week.rated, week.acceptable, week.unacceptable, week.disagreements) == (7, 3, 4, 0)
    assert (week.kappa, week.pairs, len(week.queues)) == (1.0, 7, 1)
    day = rated_accuracy(project, suite, EVERYTHING, 1, MIDNIGHT + DAY)
    assert (day.rated, day.disagreements, day.pairs) == (1, 1, 1)
    none = rated_accuracy(project, suite, EVERYTHING, 7, MIDNIGHT + 30 * DAY)
    assert (none.rated, none.accuracy, none.kappa, len(none.queues)) == (0, None, None, 1)


def test_a_stretch_up_to_now_is_whole_days_today_included() -> None:
    start, end = window(7)
    assert end - start == 7 * DAY
    assert end.time() == datetime.time()
    assert start < datetime.datetime.now(datetime.UTC) < end
