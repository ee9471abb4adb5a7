from __future__ import annotations

from pathlib import Path

import pytest

from eval_pipeline.monitoring import (
    OBSERVED,
    Contrast,
    VersionContrast,
    contrast_versions,
    event_table,
    measure_day,
)
from eval_pipeline.suite.production import HALLUCINATION, Better
from eval_pipeline_tests.monitoring.served import EVERYTHING, LATER, MONDAY, opened, served
from eval_pipeline_tests.monitoring.test_quality import SUITE


def compared(state: Path, worse: bool = True, users: int = 60, **fields: object) -> VersionContrast:
    """Two versions, whose users differ; answers of the second may be made up more often."""
    rows = []
    for number in range(240):
        after = number % 2
        wrong = int(number % 3 != 0 if after and worse else number % 12 < 2)
        user = f"{after}/{number % users}"
        rows.append(served(number, wrong, version=("old", "new")[after], user=user, **fields))
    project, store = opened(state)
    with store:
        store.keep(event_table(rows))
        day = measure_day(project, store, SUITE, MONDAY.date(), EVERYTHING, LATER)
    return contrast_versions(SUITE, [day], "old", "new")


def of(found: VersionContrast, measure: str) -> Contrast:
    return next(each for each in found.contrasts if each.measure == measure)


def test_without_recorded_chance_a_difference_is_observed_and_blocks_nothing(tmp_path: Path) -> None:
    found = compared(tmp_path)
    assert found.design == OBSERVED == "observed, not randomised"
    assert of(found, HALLUCINATION).verdict == "worse"
    assert not found.blocks


def test_what_chance_assigned_may_block(tmp_path: Path) -> None:
    found = compared(tmp_path, experiment="spring")
    assert found.design == "randomised by experiment spring"
    made_up = of(found, HALLUCINATION)
    assert made_up.verdict == "worse"
    assert made_up.clusters == (30, 30)
    assert made_up.adjusted_p is not None
    assert made_up.p_value is not None
    assert made_up.adjusted_p > made_up.p_value  # one of several measures
    assert found.blocks


def test_no_difference_is_seen_where_there_is_none(tmp_path: Path) -> None:
    found = compared(tmp_path, worse=False, experiment="spring")
    assert {each.verdict for each in found.contrasts} <= {"no difference seen", "no verdict"}
    assert not found.blocks


def test_few_users_are_no_verdict_however_often_they_ask(tmp_path: Path) -> None:
    found = compared(tmp_path, users=40, experiment="spring")
    assert of(found, HALLUCINATION).clusters == (20, 20)
    assert of(found, HALLUCINATION).verdict == "no verdict"
    assert not found.blocks


def test_one_request_outside_of_the_experiment_ends_it(tmp_path: Path) -> None:
    project, store = opened(tmp_path)
    rows = [served(number, version=("old", "new")[number % 2], experiment="spring") for number in range(100)]
    with store:
        store.keep(event_table([*rows, served(1000, version="new")]))
        day = measure_day(project, store, SUITE, MONDAY.date(), EVERYTHING, LATER)
    assert contrast_versions(SUITE, [day], "old", "new").design == OBSERVED


def test_a_version_without_requests(tmp_path: Path) -> None:
    found = compared(tmp_path)
    nothing = contrast_versions(SUITE, [], "old", "new")
    assert {each.verdict for each in nothing.contrasts} == {"no verdict"}
    assert not nothing.blocks
    assert found.before == "old"


@pytest.mark.parametrize(
    ("better", "difference", "verdict"),
    [("higher", 0.1, "better"), ("higher", -0.1, "worse"), ("lower", 0.1, "worse"), ("lower", -0.1, "better"),
     ("neither", 0.1, "different")],
)  # fmt: skip
def test_directions(better: Better, difference: float, verdict: str) -> None:
    contrast = Contrast(
        "x",
        "fraction",
        better,
        0.5,
        0.6,
        difference,
        None,
        None,
        0.01,
        0.02,
        (50, 50),
    )
    assert contrast.verdict == verdict
