from __future__ import annotations

import json
from pathlib import Path

import pytest

from eval_pipeline.loading import suite_names
from eval_pipeline.monitoring import EventStore, event_table
from eval_pipeline.project import Project
from eval_pipeline_tests.conftest import REPOSITORY, TOY, copy_toy
from eval_pipeline_tests.monitoring.served import MONDAY, served
from eval_pipeline_tests.running import invoke

SUITES = suite_names(Project(REPOSITORY, Path("nowhere")))


def here(state: Path) -> Project:
    return Project(REPOSITORY, state)


@pytest.fixture(scope="module")
def sampled(tmp_path_factory: pytest.TempPathFactory) -> Project:
    """This repository with a day of two versions, the second of which makes much up."""
    project = here(tmp_path_factory.mktemp("state"))
    rows = [
        served(
            number,
            int(number % 2 and number % 3 != 0),
            version=("old", "new")[number % 2],
            user=f"{number % 2}/{number % 120}",
        )
        for number in range(600)
    ]
    with EventStore.of(project) as store:
        store.ledger.key("sampling", "a salt for tests")
        store.keep(event_table(rows))
    return project


def test_measures_with_intervals_and_targets(sampled: Project) -> None:
    shown = invoke(sampled, "quality", "decomposition")
    assert shown.returncode == 0, shown.stderr
    assert "provenance_verified" in shown.stdout
    assert "> 95 %" in shown.stdout
    assert "nobody rated any" in shown.stdout
    data = json.loads(invoke(sampled, "quality", "decomposition", "--json").stdout)
    assert data["requests"] == 600
    made_up = data["estimates"]["hallucination_rate"]
    assert made_up["low"] <= 50 / 600 <= made_up["high"]
    new = json.loads(invoke(sampled, "quality", "decomposition", "--json", "--version", "new").stdout)
    assert new["estimates"]["hallucination_rate"]["value"] > made_up["value"]


def test_two_versions_are_observed_and_block_nothing(sampled: Project) -> None:
    shown = invoke(sampled, "quality", "decomposition", "--compare", "old", "new")
    assert shown.returncode == 0, shown.stderr
    assert "observed, not randomised" in shown.stdout
    assert "worse" in shown.stdout


def test_an_experiment_that_went_badly_exits_with_1(tmp_path: Path) -> None:
    project = here(tmp_path)
    rows = [
        served(number, number % 2, version=("old", "new")[number % 2], experiment="e", user=f"u{number}")
        for number in range(800)
    ]
    with EventStore.of(project) as store:
        store.ledger.key("sampling", "a salt for tests")
        store.keep(event_table(rows))
    shown = invoke(project, "quality", "decomposition", "--compare", "old", "new", "--json")
    assert shown.returncode == 1
    assert json.loads(shown.stdout)["design"] == "randomised by experiment e"


@pytest.mark.parametrize("name", SUITES)
@pytest.mark.parametrize("command", ["quality", "alerts"])
def test_every_shipped_suite_without_events(name: str, command: str, tmp_path: Path) -> None:
    shown = invoke(here(tmp_path), command, name)
    assert shown.returncode == 0, shown.stderr
    assert "has no events yet" in shown.stdout


def test_hostile_answers_of_every_suite_are_measured(tmp_path: Path) -> None:
    project = here(tmp_path)
    hostile = ["\x1b[31m{{7*7}}", "{" * 5000, '{"a": "\\ud800"}', "[]", "null", " ", "<script>"]
    rows = [
        {
            "request_id": f"{suite}/{number}",
            "at": MONDAY,
            "suite": suite,
            "input": text,
            "output": text,
            "topic": text,
            "version": text,
            "retrieved": [{"id": text, "text": None}, {"id": None, "text": text}],
        }
        for suite in SUITES
        for number, text in enumerate(hostile)
    ]
    (project.state).mkdir(exist_ok=True)
    with EventStore.of(project) as store:
        store.ledger.key("sampling", "a salt for tests")
        store.keep(event_table(rows))
    for suite in SUITES:
        shown = invoke(project, "quality", suite)
        assert shown.returncode == 0, shown.stderr
        assert "\x1b[31m" not in shown.stdout


def test_days_must_be_days(tmp_path: Path) -> None:
    shown = invoke(here(tmp_path), "quality", "decomposition", "--day", "soon")
    assert (shown.returncode, "is not a day" in shown.stderr) == (2, True)


def test_names_in_the_file_are_checked(tmp_path: Path) -> None:
    project = copy_toy(TOY, tmp_path / "toy")
    text = "suites: {toy: {quality: {provenance: {above: 1}}, alerts: {latency: 3}}}\n"
    (project.root / "production.yaml").write_text(text)
    shown = invoke(project, "quality", "toy")
    assert shown.returncode == 2
    assert "suites.toy.quality.provenance: is not a measure of this suite" in shown.stderr
    assert "suites.toy.alerts.latency: is not an alert" in shown.stderr
