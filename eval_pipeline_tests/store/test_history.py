"""The history of evaluations: once per run, replays marked, on both databases, and its export."""

from __future__ import annotations

import json
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from msgspec.structs import replace

from eval_pipeline.answers import Outage, OutputsIdentity
from eval_pipeline.cli.history import sparkline
from eval_pipeline.project import Project
from eval_pipeline.scoring import Evaluation, Identity, MetricValue, Step, Summary
from eval_pipeline.store import History, database_url, export
from eval_pipeline_tests.postgres import Server, postgres_server
from eval_pipeline_tests.running import command, invoke

VERSION = "guess-v1.0"
ANSWERS = OutputsIdentity(
    suite="toy",
    version=VERSION,
    prompt_hash="p1",
    inputs_hash="i1",
    engine="embedded",
    model="toy",
    sample="default",
    trials=2,
)


def evaluation(
    answers: OutputsIdentity = ANSWERS,
    *,
    golden: str = "g1",
    value: float | None = 0.75,
    errors: int = 0,
    at: str = "2026-03-01T02:00:00+00:00",
) -> Evaluation:
    identity = Identity(answers, golden, "scorer")
    values = {"accuracy": MetricValue(value, (value, value)), "gone": MetricValue(None, (None, None))}
    summary = Summary("toy", 4, 2, {"timeout": errors} if errors else {}, values, {}, {}, ())
    return Evaluation(identity.id, identity, at, summary, ())


@pytest.fixture(scope="module")
def server() -> Iterator[Server]:
    with postgres_server() as running:
        yield running


@pytest.fixture(params=["sqlite", "postgresql"])
def url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    if request.param == "sqlite":
        return f"sqlite:///{tmp_path / 'history.db'}"
    server: Server = request.getfixturevalue("server")
    return server.new_schema()


def test_a_record_holds_all_that_identifies_an_evaluation(url: str) -> None:
    made = evaluation()
    with History(url) as history:
        added = history.append("run-1", made)
        assert history.points("toy") == [added]
    assert (added.run, added.evaluation, added.outputs) == ("run-1", made.id, ANSWERS.id)
    assert (added.prompt_hash, added.golden_hash, added.engine, added.model) == (
        "p1",
        "g1",
        "embedded",
        "toy",
    )
    assert (added.sample, added.trials, added.cases, added.errors, added.passed) == ("default", 2, 4, 0, True)
    assert added.metrics == {"accuracy": 0.75, "gone": None}
    assert added.evaluated_at == "2026-03-01T02:00:00+00:00"
    assert not added.replay


def test_a_run_adds_its_evaluation_once(url: str) -> None:
    with History(url) as history:
        first = history.append("run-1", evaluation())
        other = history.append("run-2", evaluation())
        again = history.append("run-1", evaluation(at="2026-03-02T02:00:00+00:00"))
        assert history.points("toy") == [first, other]
    assert again == first, "it says what is stored, though another run has the same answers by now"
    assert (first.replay, other.replay) == (False, True)


def test_one_that_many_processes_add_at_once_is_there_once(url: str) -> None:
    def add(_: int) -> None:
        with History(url) as history:
            history.append("run-1", evaluation())

    with ThreadPoolExecutor(4) as pool:
        list(pool.map(add, range(8)))
    with History(url) as history:
        assert len(history.points("toy")) == 1


@pytest.mark.parametrize(
    ("second", "replay"),
    [
        pytest.param(evaluation(), True, id="the same answers"),
        pytest.param(evaluation(golden="g2", value=0.5), True, id="known answers, scored anew"),
        pytest.param(evaluation(replace(ANSWERS, sample="nightly-2026-03-02")), False, id="asked afresh"),
        pytest.param(evaluation(replace(ANSWERS, prompt_hash="p2")), False, id="another prompt"),
        pytest.param(evaluation(replace(ANSWERS, inputs_hash="i2")), False, id="other questions"),
        pytest.param(evaluation(replace(ANSWERS, model="larger")), False, id="another model"),
    ],
)
def test_known_answers_are_no_new_point_of_a_trend(url: str, second: Evaluation, replay: bool) -> None:
    with History(url) as history:
        history.append("run-1", evaluation())
        assert history.append("run-2", second).replay is replay
        assert len(history.points("toy")) == 2
        assert len(history.points("toy", replays=False)) == (1 if replay else 2)


def test_answers_that_were_got_after_a_failure_are_new(url: str) -> None:
    """The engine was down, and was asked again under the same label."""
    with History(url) as history:
        history.append("down", evaluation(value=0.0, errors=8))
        assert not history.append("up", evaluation(value=0.75)).replay
        assert history.append("once more", evaluation(value=0.75)).replay
        shown = [point.metrics["accuracy"] for point in history.points("toy", replays=False)]
    assert shown == [0.0, 0.75]


def test_what_failed_once_and_is_answered_badly_now_is_new(url: str) -> None:
    """An incomplete evaluation had these answers not: as many errors now are others."""
    down = replace(evaluation(value=0.0, errors=8), outage=Outage(8, {"connection": 8}, {"connection": "a"}))
    with History(url) as history:
        assert history.append("down", down).incomplete
        assert not history.append("up", evaluation(value=0.0, errors=8)).replay


def test_a_history_of_an_older_program_is_read_and_goes_on(url: str) -> None:
    with History(url) as history:
        old = history.append("run-1", evaluation())
        with history._database.writing("history") as connection:
            for name in ("incomplete", "scoring", "step"):
                connection.exec_driver_sql(f"ALTER TABLE history_evaluations DROP COLUMN {name}")
    with History(url) as history:
        assert history.points("toy") == [replace(old, scoring="")]
        step = Step("run-1", {"accuracy": 0.1}, {"accuracy": 3.0})
        new = history.append("run-2", evaluation(replace(ANSWERS, sample="later")), step)
        assert history.points("toy")[1] == new
        assert new.step == step


def test_points_are_chosen_by_suite_and_version_oldest_first(url: str) -> None:
    newer, elsewhere = replace(ANSWERS, version="guess-v1.1"), replace(ANSWERS, suite="other")
    with History(url) as history:
        for run, answers in (("c", newer), ("a", ANSWERS), ("b", elsewhere)):
            history.append(run, evaluation(answers))
        assert [point.run for point in history.points("toy")] == ["c", "a"]
        assert [point.run for point in history.points("toy", VERSION)] == ["a"]
        assert history.points("nothing") == []


def test_the_export_is_json_that_others_read(url: str) -> None:
    hostile = replace(ANSWERS, model='"}] <script>\u2028é')
    with History(url) as history:
        history.append("run-1", evaluation(hostile))
        history.append("run-2", evaluation(hostile))
        told = json.loads(export(history.points("toy")))
    assert set(told) == {"exported_at", "evaluations"}
    assert [each["run"] for each in told["evaluations"]] == ["run-1", "run-2"]
    assert [each["replay"] for each in told["evaluations"]] == [False, True]
    assert told["evaluations"][0]["model"] == hostile.model
    assert told["evaluations"][0]["metrics"] == {"accuracy": 0.75, "gone": None}


def test_the_command_shows_a_trend_and_exports_everything(toy: Project, tmp_path: Path) -> None:
    nothing = invoke(toy, "history", "toy")
    assert (nothing.returncode, nothing.stdout) == (0, "No evaluation yet. Run: eval-pipeline run toy\n")
    with History(database_url(toy)) as history:
        for night, value in enumerate((0.5, 0.75, None, 1.0)):
            history.append(f"run-{night}", evaluation(replace(ANSWERS, sample=f"night-{night}"), value=value))
        history.append("again", evaluation(replace(ANSWERS, sample="night-3"), value=1.0))
    shown = invoke(toy, "history", "toy").stdout
    assert "accuracy of guess-v1.0 on embedded: ▁▅ █\n" in shown
    assert "replay" not in shown
    assert "(replay)" in invoke(toy, "history", "toy", "--replays").stdout
    assert len(json.loads(invoke(toy, "history", "toy", "--json").stdout)["evaluations"]) == 5
    file = tmp_path / "new" / "metrics-history.json"
    exported = command(toy, "history", "toy", "--prompt", VERSION, "--export", file)
    assert exported.returncode == 0, exported.stderr
    assert "5 evaluations written to" in exported.stdout
    assert len(json.loads(file.read_text())["evaluations"]) == 5
    assert [path.name for path in file.parent.iterdir()] == [file.name]
    assert command(toy, "history", "nothing").returncode == 2


@pytest.mark.parametrize(
    ("values", "row"),
    [
        ([], ""),
        ([None], " "),
        ([0.3], "█"),
        ([0.0, 1.0], "▁█"),
        ([1.0, None, 0.0], "█ ▁"),
        ([2.0, 2.0], "██"),
    ],
)
def test_a_row_of_blocks(values: list[float | None], row: str) -> None:
    assert sparkline(values) == row


def test_points_that_came_later_from_another_machine_are_where_they_belong(url: str) -> None:
    with History(url) as history:
        for run, day in (("here", 3), ("moved", 1), ("again", 3)):
            history.append(run, evaluation(at=f"2026-03-0{day}T02:00:00+00:00"))
        assert [each.run for each in history.points("toy")] == ["moved", "here", "again"]
