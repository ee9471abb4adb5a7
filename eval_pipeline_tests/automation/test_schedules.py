"""Nightly and weekly evaluations, a simulated month of them, and what they leave behind."""

from __future__ import annotations

import datetime
import itertools
import random
import signal
import time
from contextlib import suppress
from multiprocessing import Pipe
from multiprocessing.connection import Connection

import dagster as dg
import pytest
import yaml

from eval_pipeline.automation.alerts import build_alerts
from eval_pipeline.automation.schedules import build_schedules
from eval_pipeline.decisions import Incidents
from eval_pipeline.definitions import build_definitions
from eval_pipeline.orchestration import Place, build_chain, build_job, build_resources, evaluation_job
from eval_pipeline.orchestration.launching import open_instance
from eval_pipeline.problems import BadInput
from eval_pipeline.project import Project
from eval_pipeline.store import History, database_url
from eval_pipeline.suites import find_suite
from eval_pipeline.timetable import Automation, read_automation
from eval_pipeline_tests.running import QUIET, begin, command, ended, instance_in

NIGHTS = 14


def tick(
    project: Project, instance: dg.DagsterInstance, name: str, moment: datetime.datetime
) -> dg.ScheduleExecutionData:
    definitions = build_definitions(project)
    context = dg.build_schedule_context(
        instance=instance, scheduled_execution_time=moment, repository_def=definitions.get_repository_def()
    )
    return definitions.resolve_schedule_def(name).evaluate_tick(context)


def test_a_night_asks_for_the_active_versions_afresh(toy: Project) -> None:
    moment = datetime.datetime(2026, 3, 1, 2, tzinfo=datetime.UTC)
    with instance_in(toy) as instance:
        request = (tick(toy, instance, "toy_nightly", moment).run_requests or [])[0]
        assert request.partition_key == "guess-v1.0"
        assert request.run_key == "nightly-2026-03-01/toy/guess-v1.0"
        assert request.run_config["ops"]["toy__model_outputs"]["config"] == {"sample": "nightly-2026-03-01"}


def test_a_night_may_be_written_as_one_word(toy: Project) -> None:
    moment = datetime.datetime(2026, 3, 1, tzinfo=datetime.UTC)
    for word, sample in {"@daily": "nightly-2026-03-01", "@hourly": "nightly-2026-03-01T0000"}.items():
        (toy.root / "automation.yaml").write_text(f"nightly: '{word}'\n")
        with instance_in(toy) as instance:
            (request,) = tick(toy, instance, "toy_nightly", moment).run_requests or []
        assert request.run_key == f"{sample}/toy/guess-v1.0"


def test_a_week_asks_for_all_that_is_not_archived(toy: Project) -> None:
    folder = toy.prompts("toy")
    active = (folder / "guess-v1.0.md").read_text()
    (folder / "guess-v1.1.md").write_text(active.replace("status: active", "status: candidate"))
    (folder / "guess-v0.9.md").write_text(active.replace("status: active", "status: archived"))
    moment = datetime.datetime(2026, 3, 2, 4, tzinfo=datetime.UTC)
    with instance_in(toy) as instance:
        requests = tick(toy, instance, "toy_weekly", moment).run_requests or ()
    assert [each.partition_key for each in requests] == ["guess-v1.0", "guess-v1.1"]


def test_two_active_versions_are_a_reason_to_skip(toy: Project) -> None:
    folder = toy.prompts("toy")
    (folder / "guess-v1.1.md").write_text((folder / "guess-v1.0.md").read_text())
    with instance_in(toy) as instance:
        data = tick(toy, instance, "toy_nightly", datetime.datetime(2026, 3, 1, 2, tzinfo=datetime.UTC))
    assert not data.run_requests
    assert "is active too" in str(data.skip_message)


def test_times_come_from_a_file(toy: Project) -> None:
    file = toy.root / "automation.yaml"
    assert read_automation(toy) == Automation()
    file.write_text(yaml.safe_dump({"timezone": "Europe/Amsterdam", "nightly": "30 1 * * *"}))
    schedule = build_definitions(toy).resolve_schedule_def("toy_nightly")
    assert (schedule.cron_schedule, schedule.execution_timezone) == ("30 1 * * *", "Europe/Amsterdam")
    assert schedule.default_status == dg.DefaultScheduleStatus.RUNNING
    file.write_text("timezone: Middle-earth\nnightly: at dawn\nwekly: '* * * * *'\n")
    with pytest.raises(BadInput) as bad:
        read_automation(toy)
    assert any(problem.field == "wekly" for problem in bad.value.problems)
    file.write_text("timezone: Middle-earth\nnightly: at dawn\n")
    with pytest.raises(BadInput) as bad:
        read_automation(toy)
    assert [problem.field for problem in bad.value.problems] == ["timezone", "nightly"]
    file.write_text(yaml.safe_dump({"nightly": "0" + ",0" * 10_000 + " * * * *"}))
    with pytest.raises(BadInput, match="is not a cron expression"):
        read_automation(toy)
    file.unlink()
    file.symlink_to(file)  # not taken for a file that is not there
    with pytest.raises(BadInput, match="cannot be read"):
        read_automation(toy)


def work(project: Project, moments: list[datetime.datetime], done: Connection) -> None:
    """What a daemon does at every tick: ask the schedule, run what has not succeeded under its key, alert."""
    automation, suite = read_automation(project), find_suite(project, "toy")
    place = Place(suite, resources=build_resources(project))
    chain = build_chain(place, project)
    planned = build_job(place, chain)
    defs = dg.Definitions(  # of this suite alone: the others would be loaded anew after every death
        assets=chain,
        jobs=[planned],
        schedules=build_schedules(place, planned, project, automation),
        executor=dg.in_process_executor,
    )
    schedule = defs.resolve_schedule_def("toy_nightly")
    job = defs.resolve_job_def(evaluation_job("toy"))
    repository = defs.get_repository_def()
    sensor = build_alerts(project, automation)
    cursor = None
    with open_instance(project) as instance:
        for moment in moments:
            context = dg.build_schedule_context(
                instance=instance, scheduled_execution_time=moment, repository_def=repository
            )
            for request in schedule.evaluate_tick(context).run_requests or ():
                tags = {"dagster/run_key": str(request.run_key)}
                succeeded = dg.RunsFilter(tags=tags, statuses=[dg.DagsterRunStatus.SUCCESS])
                if not instance.get_runs(succeeded):
                    job.execute_in_process(
                        instance=instance,
                        partition_key=request.partition_key,
                        run_config={**request.run_config, **QUIET},
                        tags={**request.tags, **tags, "dagster/schedule_name": "toy_nightly"},
                    )
            cursor = sensor.evaluate_tick(dg.build_sensor_context(instance, cursor=cursor)).cursor
            done.send(moment)


def work_through(project: Project, moments: list[datetime.datetime], die_after: int | None) -> None:
    """The nights' work in a process of its own, which is killed in the middle of the night after so many."""
    heard, done = Pipe(duplex=False)
    process = begin(project, work, project, moments, done)
    done.close()
    with heard, suppress(EOFError):
        for night in itertools.count():
            heard.recv()
            if night == die_after:
                time.sleep(random.Random(night).uniform(0.1, 0.8))
                process.kill()
    assert ended(process) == (0 if die_after is None else -signal.SIGKILL)


@pytest.mark.rehearsal
def test_a_fortnight_of_nights_with_a_daemon_that_dies_has_one_evaluation_each(toy: Project) -> None:
    first = datetime.datetime(2026, 3, 1, 2, tzinfo=datetime.UTC)
    nights = [first + datetime.timedelta(days=night) for night in range(NIGHTS)]
    for die_after in (3, 7, 9):
        work_through(toy, nights[: die_after + 5], die_after)
    work_through(toy, nights, None)
    with History(database_url(toy)) as history:
        points = history.points("toy", replays=False)
    assert [point.sample for point in points] == [f"nightly-{night:%Y-%m-%d}" for night in nights]
    assert all(point.version == "guess-v1.0" for point in points)
    with instance_in(toy) as instance:
        assert instance.get_materialized_partitions(dg.AssetKey(["toy", "metrics"])) == {"guess-v1.0"}
        runs = instance.get_runs(dg.RunsFilter(statuses=[dg.DagsterRunStatus.SUCCESS]))
        assert len({run.tags["dagster/run_key"] for run in runs}) == len(runs) == NIGHTS
    with Incidents(database_url(toy)) as incidents:
        (incident,) = incidents.all()  # the same gate is short every night: one incident, told once
        assert incident.closed_at is None
        assert incident.subject == "toy guess-v1.0"
        assert incidents.undelivered() == []
    exported = toy.root / "metrics-history.json"
    assert command(toy, "history", "toy", "--export", exported).returncode == 0
    assert exported.read_text().count('"evaluation"') >= NIGHTS
    assert f"nightly-{first:%Y-%m-%d}" in command(toy, "history", "toy").stdout
