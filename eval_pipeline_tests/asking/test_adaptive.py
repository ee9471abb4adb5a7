"""Adaptive trials through the real stages and the command line, against a fake endpoint."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
import yaml
from msgspec.structs import replace

from eval_pipeline import stages
from eval_pipeline.answers import Stopping, TrialRange, parse_trials
from eval_pipeline.comparison import Comparison
from eval_pipeline.engines import read_engines
from eval_pipeline.problems import BadInput, Problems
from eval_pipeline.project import Project
from eval_pipeline.reports import readable
from eval_pipeline.store import AnswerTable
from eval_pipeline_tests.engines.fault_server import FaultServer, fault_server
from eval_pipeline_tests.guessing import (
    CANDIDATE,
    CASES,
    VERSION,
    answering,
    ask,
    evaluated,
    freeze,
    furnish,
    toy_suite,
)
from eval_pipeline_tests.running import instance_in, invoke, run_chain


@pytest.fixture
def server(toy: Project) -> Iterator[FaultServer]:
    """A server behind the toy, whose answers are all right until a test says otherwise."""
    with fault_server() as running:
        furnish(toy, running)
        answering(running, lambda prompt, number, times: True)
        yield running


@pytest.fixture
def measured(toy: Project, server: FaultServer) -> FaultServer:
    """The same with a baseline: two trials in which every fifth answer is wrong."""
    answering(server, lambda prompt, number, times: bool(number % 5))
    freeze(toy, ask(toy, VERSION, trials=2))
    server.calls = 0
    return server


def stopped(answers: AnswerTable) -> Stopping:
    assert answers.stopping is not None
    return answers.stopping


def compared(project: Project, answers: AnswerTable) -> Comparison:
    suite = toy_suite(project)
    golden = stages.load_golden(stages.Workbench(project, suite)).table
    comparison = stages.compare_with_baseline(stages.Workbench(project, suite), golden, answers)
    assert comparison is not None
    return comparison


def test_no_change_is_settled_after_the_first_trial(toy: Project, measured: FaultServer) -> None:
    answers = ask(toy, CANDIDATE)
    assert measured.calls == CASES
    assert stopped(answers) == Stopping("settled", TrialRange(1, 5), 1, CASES, "baseline guess-v1.0")
    assert stopped(answers).calls_saved == 4 * CASES
    assert (answers.identity.trials, answers.identity.plan) == (1, TrialRange(1, 5))
    assert compared(toy, answers).verdict == "identical"


def test_a_clear_drop_is_settled_early_and_blocks(toy: Project, measured: FaultServer) -> None:
    answering(measured, lambda prompt, number, times: number < 4)
    answers = ask(toy, CANDIDATE)
    assert stopped(answers).reason == "settled"
    assert stopped(answers).trials < 5
    found = compared(toy, answers)
    assert (found.verdict, found.action) == ("regressed", "block")


def test_noise_is_asked_about_again_until_trials_run_out_or_no_longer_help(
    toy: Project, measured: FaultServer
) -> None:
    answering(measured, lambda prompt, number, times: (number * 7 + times * 3) % 5 not in (0, 1))
    answers = ask(toy, CANDIDATE, trials=TrialRange(2, 4))
    found = stopped(answers)
    assert found.reason in ("futile", "out_of_trials")
    assert found.trials >= 2
    assert len(answers) == found.trials * CASES == measured.calls
    assert {answer.trial for answer in answers} == set(range(1, found.trials + 1))
    assert compared(toy, answers).trials == found.trials


def test_an_unchanged_run_makes_no_call_and_stops_at_the_same_trial(
    toy: Project, measured: FaultServer
) -> None:
    answering(measured, lambda prompt, number, times: (number * 7 + times * 3) % 5 != 0)
    first = ask(toy, CANDIDATE)
    calls = measured.calls
    again = ask(toy, CANDIDATE)
    assert measured.calls == calls
    assert again.identity == first.identity
    assert stopped(again) == stopped(first)
    assert list(again) == list(first)
    assert again.path == first.path


def test_a_range_is_another_identity_than_a_number_and_pays_for_no_answer_twice(
    toy: Project, measured: FaultServer
) -> None:
    ranged = ask(toy, CANDIDATE)
    fixed = ask(toy, CANDIDATE, trials=ranged.identity.trials)
    assert measured.calls == CASES * ranged.identity.trials
    assert list(fixed) == list(ranged)
    assert fixed.stopping is None
    assert fixed.identity == replace(ranged.identity, plan=None)
    assert fixed.identity.id != ranged.identity.id


def test_without_a_baseline_all_trials_are_asked(toy: Project, server: FaultServer) -> None:
    answers = ask(toy, VERSION)
    assert server.calls == 5 * CASES
    assert stopped(answers).reason == "nothing_to_compare"
    assert stopped(answers).calls_saved == 0


def test_a_damaged_or_foreign_baseline_stops_nothing(toy: Project, measured: FaultServer) -> None:
    (file,) = (toy.golden("toy") / "baseline").glob("*.outputs.jsonl")
    file.write_text("{}\n")
    assert stopped(ask(toy, CANDIDATE)).reason == "nothing_to_compare"


def test_the_verdict_pays_for_the_looks(toy: Project, measured: FaultServer) -> None:
    """The same answers, asked in one go, have a smaller p: nobody looked in between."""
    answering(measured, lambda prompt, number, times: number % 5 != 0 and number > 6)
    ranged = compared(toy, ask(toy, CANDIDATE, trials=TrialRange(1, 2)))
    fixed = compared(toy, ask(toy, CANDIDATE, trials=ranged.trials))
    looked, unseen = (
        next(each.evidence for each in found.metrics if each.metric == "accuracy")
        for found in (ranged, fixed)
    )
    assert looked is not None
    assert unseen is not None
    assert looked.p_value == unseen.p_value
    assert (looked.adjusted_p or 0) > (unseen.adjusted_p or 0)


def test_a_budget_is_for_the_run_and_not_for_a_trial(toy: Project, server: FaultServer) -> None:
    furnish(toy, server, budget={"calls": CASES + 5}, concurrency=1)
    answers = ask(toy, VERSION, trials=TrialRange(1, 2))
    assert server.calls == CASES + 5
    assert sum(answer.error == "budget" for answer in answers) == CASES - 5


def test_an_engine_whose_answers_never_vary_is_asked_once(toy: Project, server: FaultServer) -> None:
    answers = ask(toy, VERSION, engine="embedded", trials=TrialRange(1, 5))
    assert (answers.identity.trials, answers.identity.plan, answers.stopping) == (1, None, None)


@pytest.mark.parametrize(
    ("trials", "told"),
    [
        ({"min": 4, "max": 2}, "engines.remote.trials.max: is less than min"),
        ({"min": 0, "max": 2}, "trials"),
        ({"min": 1}, "trials"),
        ({"min": 1, "max": 2, "most": 3}, "trials"),
        (0, "trials"),
        ("many", "trials"),
    ],
)
def test_trials_that_make_no_sense_are_named(toy: Project, trials: object, told: str) -> None:
    entry = {"kind": "endpoint", "url": "http://127.0.0.1/v1", "model": "m", "trials": trials}
    toy.engines_file.write_text(yaml.safe_dump({"default": "remote", "engines": {"remote": entry}}))
    problems = Problems()
    assert read_engines(toy.engines_file, problems) is None or len(problems)
    assert told in "\n".join(map(str, problems))


@pytest.mark.parametrize("value", ["0", "5-1", "a", "-1", "1-", {"min": 2, "max": 1}, 0, 1.5, "9" * 30])
def test_a_person_can_mistype_them(value: object) -> None:
    with pytest.raises(BadInput, match="trials"):
        parse_trials(value)


def test_a_person_can_give_them_in_many_ways() -> None:
    assert parse_trials(None) is None
    assert parse_trials("3") == parse_trials(3) == 3
    assert parse_trials("1-5") == parse_trials({"min": 1, "max": 5}) == TrialRange(1, 5)


def test_the_ui_shows_why_no_further_trial_was_asked(toy: Project, measured: FaultServer) -> None:
    with instance_in(toy) as instance:
        result = run_chain(toy, instance, "toy", CANDIDATE, trials={"min": 1, "max": 3})
    assert result.success
    (event,) = result.asset_materializations_for_node("toy__model_outputs")
    shown = {name: value.value for name, value in event.metadata.items()}
    assert (shown["trials"], shown["most_trials"], shown["calls_saved"]) == (1, 3, 2 * CASES)
    assert shown["stopped_because"] == "settled"
    told = "1 of at most 3 trials asked: every gated metric is settled (against baseline guess-v1.0)."
    assert told in readable(result.output_for_node("toy__report").text)
    assert measured.calls == CASES


def test_the_command_line_says_it_too(toy: Project, measured: FaultServer) -> None:
    dry = invoke(toy, "run", "toy", "--prompt", CANDIDATE, "--trials", "1-4", "--dry-run")
    assert f"at most {4 * CASES} calls to make" in dry.stdout
    done = invoke(toy, "run", "toy", "--prompt", CANDIDATE, "--trials", "1-4")
    assert "1 of at most 4 trials asked: every gated metric is settled" in done.stdout, done.stderr
    assert f"{3 * CASES} calls saved" in done.stdout
    assert measured.calls == CASES
    wrong = invoke(toy, "run", "toy", "--trials", "5-1")
    assert wrong.returncode == 2
    assert "5 to 1 is no range" in wrong.stderr


def test_scores_are_the_same_trial_by_trial(toy: Project, measured: FaultServer) -> None:
    answering(measured, lambda prompt, number, times: (number + times) % 3 != 0)
    ranged, fixed = ask(toy, CANDIDATE, trials=TrialRange(3, 3)), ask(toy, CANDIDATE, trials=3)
    assert evaluated(toy, ranged).summary == evaluated(toy, fixed).summary
