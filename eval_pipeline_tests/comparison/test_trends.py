"""Slides in a version's history, as the check on its metrics tells them."""

from __future__ import annotations

import statistics
from collections.abc import Sequence
from typing import Any

import pytest
from msgspec.structs import replace

from eval_pipeline.comparison import comparable, metric_trends, series, step_between
from eval_pipeline.gates import Gate
from eval_pipeline.orchestration.checks import trend_check
from eval_pipeline.project import Project
from eval_pipeline.reports import readable, table, trend_table
from eval_pipeline.scoring import Point, Step
from eval_pipeline.stages import add_to_history
from eval_pipeline.store import History, database_url
from eval_pipeline.suites.decomposition import SUITE
from eval_pipeline_tests.engines.fault_server import fault_server
from eval_pipeline_tests.guessing import CASES, VERSION, Right, answering, ask, evaluated, furnish, result_of
from eval_pipeline_tests.running import checks, instance_in, run_chain

GATES = {
    "concept_recall": Gate(fail="< 0.60", passes=">= 0.70"),
    "hallucination_rate": Gate(fail="> 0.05", passes="<= 0.02"),
}


def step_of(number: int, noise: float | None) -> Step | None:
    if noise is None or number == 0:
        return None
    return Step(str(number - 1), dict.fromkeys(GATES, noise), dict.fromkeys(GATES, 100.0))


def points(values: Sequence[float], noise: float | None = 0.001, **changes: Any) -> list[Point]:
    """A history of concept recall; hallucinations are its mirror image."""
    metrics = [{"concept_recall": value, "hallucination_rate": 1 - value} for value in values]
    return [
        Point(
            run=str(number),
            evaluation=str(number),
            suite="decomposition",
            version="v",
            outputs=str(number),
            prompt_hash="",
            golden_hash="g",
            engine="e",
            model="m",
            sample=str(number),
            trials=3,
            cases=15,
            errors=0,
            passed=True,
            metrics=dict(each),
            evaluated_at="",
            replay=False,
            noise={},
            scoring="s",
            step=step_of(number, noise),
            **changes,
        )
        for number, each in enumerate(metrics)
    ]


def alarms(history: list[Point]) -> dict[str, bool]:
    return {each.metric: each.trend.alarm for each in metric_trends(SUITE, GATES, history)}


@pytest.mark.parametrize(
    ("values", "noise", "alarm"),
    [
        ([0.80, 0.78, 0.76, 0.74], 0.001, True),
        ([0.80, 0.78, 0.76, 0.74], 0.02, False),  # each step may be noise
        ([0.80, 0.78, 0.76, 0.74], None, False),  # nobody knows the noise
        ([0.80, 0.78, 0.76], 0.001, False),
        ([0.80, 0.78, 0.79, 0.77], 0.001, False),
        ([0.74, 0.76, 0.78, 0.80], 0.001, False),
        ([0.80 - 0.004 * step for step in range(15)], 0.01, True),  # the slow slide that no step shows
        ([], None, False),
        ([0.8], 0.001, False),
    ],
)
def test_what_is_alarming(values: list[float], noise: float | None, alarm: bool) -> None:
    assert alarms(points(values, noise)) == {"concept_recall": alarm, "hallucination_rate": alarm}


def test_declines_within_noise_are_information_and_no_alarm() -> None:
    trends = metric_trends(SUITE, GATES, points([0.80, 0.79, 0.78, 0.77], 0.02))
    found = trend_check("v", 4, trends)
    assert found.passed
    assert found.metadata["consecutive_declines_concept_recall"].value == 3
    assert "| concept_recall | 4 | 3 | 0 |" in table(trend_table(trends))


def test_an_alarm_says_what_slides_and_how() -> None:
    found = trend_check("v", 4, metric_trends(SUITE, GATES, points([0.80, 0.78, 0.76, 0.74])))
    assert not found.passed
    told = readable(str(found.description))
    assert (
        "concept_recall fell 3 times in a row by more than noise (80.0 % → 78.0 % → 76.0 % → 74.0 %)" in told
    )
    assert "hallucination_rate rose 3 times in a row" in told


def test_only_what_can_be_compared_makes_a_trend() -> None:
    history = points([0.80, 0.78, 0.76, 0.74])
    latest = history[-1]
    assert comparable(history, latest) == history
    fields = ("golden_hash", "engine", "model", "version", "scoring", "held_out")
    changes: list[dict[str, Any]] = [{field: "x"} for field in fields]
    for change in (*changes, {"replay": True}, {"incomplete": True}):
        others = [replace(history[1], **change)]
        assert comparable([*history, *others], latest) == history
        assert comparable(others, latest) == []


def test_histories_are_not_joined_over_what_cannot_be_compared() -> None:
    history = points([0.80, 0.78, 0.76, 0.74])
    other = [replace(point, model="larger") for point in history[2:]]
    lost = replace(history[3], incomplete=True)
    assert series([*history[:2], *other, lost]) == [history[:2], other]


def test_noise_counts_only_since_the_evaluation_it_was_paired_with() -> None:
    history = points([0.80, 0.78, 0.76, 0.74])
    del history[1]
    assert alarms(history) == {"concept_recall": False, "hallucination_rate": False}
    (first, _) = metric_trends(SUITE, GATES, history)
    assert (first.trend.consecutive_declines, first.trend.declines_beyond_noise) == (2, 1)


def test_where_cases_were_never_paired_the_noise_is_that_of_trials() -> None:
    history = [
        replace(point, step=None, noise=dict.fromkeys(GATES, 0.003))
        for point in points([0.80, 0.78, 0.76, 0.74])
    ]
    assert alarms(history) == {"concept_recall": True, "hallucination_rate": True}


def test_the_noise_between_two_evaluations_by_hand(toy: Project) -> None:
    """Twenty cases; four that were right are wrong, one that was wrong is right: −3 ÷ 20."""
    with fault_server() as server:
        furnish(toy, server)
        answering(server, lambda prompt, number, times: number != 0)
        before = result_of(toy, ask(toy, VERSION, trials=1))
        answering(server, lambda prompt, number, times: number not in (1, 2, 3, 4))
        after = result_of(toy, ask(toy, VERSION, trials=1, sample="later"))
    accuracy = [metric for metric in before.bench.suite.metrics if metric.name == "accuracy"]
    step = step_between("run", before.scored.scores, after.scored.scores, accuracy)
    differences = [1.0, -1.0, -1.0, -1.0, -1.0, *[0.0] * 15]
    assert step.errors == {"accuracy": pytest.approx(statistics.stdev(differences) / 20**0.5)}
    assert step.freedom == {"accuracy": pytest.approx(5.0)}


def test_the_history_keeps_the_noise_of_trials(toy: Project) -> None:
    with fault_server() as server:
        furnish(toy, server)
        answering(server, lambda prompt, number, times: number >= 4 * (times == 2))
        evaluation = evaluated(toy, ask(toy, VERSION, trials=2))
    with History(database_url(toy)) as history:
        history.append("one", evaluation)
        (point,) = history.points("toy")
    assert point.metrics["accuracy"] == pytest.approx(0.9)
    assert point.noise["accuracy"] == pytest.approx(0.1)  # |1 − 0.8| ÷ 2
    assert point.noise["agreement"] is None


def wrong_below(limit: int) -> Right:
    return lambda prompt, number, times: number >= limit


def test_a_slide_over_nights_of_one_trial_fails_the_check_with_a_warning(toy: Project) -> None:
    """Four nights; each time three more cases are wrong. They are asked once."""
    with fault_server() as server, instance_in(toy) as instance:
        furnish(toy, server, trials=1)
        for night in range(3):
            answering(server, wrong_below(3 * night))
            result = result_of(toy, ask(toy, VERSION, sample=f"night-{night}"))
            result.bench.store.keep_scores(result.scored)
            add_to_history(result.bench, f"night-{night}", result.scored, result.evaluation, varies=True)
        answering(server, wrong_below(9))
        last, again = (checks(run_chain(toy, instance, "toy", VERSION, sample="night-3")) for _ in range(2))
    assert not last["trend"].passed
    assert last["trend"].severity.value == "WARN"
    assert "accuracy fell 3 times in a row by more than noise" in last["trend"].description
    assert server.calls == 4 * CASES
    assert again["trend"] == last["trend"]  # a replay is no fourth decline
