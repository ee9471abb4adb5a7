"""The process that lives for months: it looks at schedules and sensors, and starts a process for each run.

    python -m benchmarks.soak.daemon ROOT

It is told on standard input, in JSON lines, which of them to look at, and answers on standard output.
"""

from __future__ import annotations

import datetime
import os
import sys
from pathlib import Path
from typing import Any, Literal

import dagster as dg
import msgspec

from benchmarks.soak.world import SHIPPED, TOY
from eval_pipeline import automation, orchestration
from eval_pipeline.automation.sensors import look_at_golden_sets, look_at_prompts
from eval_pipeline.orchestration.launching import open_instance
from eval_pipeline.project import Project
from eval_pipeline.suites import find_suite
from eval_pipeline.timetable import read_automation
from eval_pipeline_tests.running import QUIET, begin, command_line, ended

RUN_KEY, ATTEMPT, SCHEDULE, SENSOR = (
    f"dagster/{name}" for name in ("run_key", "soak_attempt", "schedule_name", "sensor_name")
)
ON_FILES = {"prompt_files": look_at_prompts, "golden_sets": look_at_golden_sets}
UNFINISHED = [dg.DagsterRunStatus.STARTING, dg.DagsterRunStatus.STARTED]


class Look(msgspec.Struct):
    """What the daemon is to do: a look, or a command of the command line."""

    moment: str
    name: str = ""
    """Of a schedule or sensor."""
    deaths: list[float] = []
    """After so many seconds the processes of its runs are killed, one after the other; the next one lives."""
    command: list[str] = []


class Ran(msgspec.Struct):
    """One run of a look."""

    run: str
    """Blank where its process was killed before there was one."""
    key: str
    state: Literal["finished", "killed", "failed"]


class Report(msgspec.Struct):
    """What came of a look."""

    ran: list[Ran]
    kilobytes: int
    """Of memory, that the daemon takes."""
    code: int = 0
    """The exit code of a command."""


def run_job(
    project: Project, job: str, version: str | None, config: dict[str, Any], tags: dict[str, str]
) -> None:
    """Be the process of one run."""
    with open_instance(project) as instance:
        _job(project, job).execute_in_process(
            instance=instance,
            partition_key=version,
            run_config={**config, **QUIET},
            tags=tags,
            raise_on_error=False,
        )


def _job(project: Project, name: str) -> dg.JobDefinition:
    suites = {orchestration.evaluation_job(each): each for each in (TOY, SHIPPED)}
    if name not in suites:
        return orchestration.build_prune_job(project)
    suite = find_suite(project, suites[name])
    place = orchestration.Place(suite, resources=orchestration.build_resources(project))
    chain = orchestration.build_chain(place, project)
    definitions = dg.Definitions(
        assets=chain,
        jobs=[orchestration.build_job(place, chain)],
        executor=dg.in_process_executor,
    )
    return definitions.resolve_job_def(name)


class Daemon:
    """Everything that starts by itself, of two suites."""

    def __init__(self, project: Project, instance: dg.DagsterInstance) -> None:
        self._project, self._instance = project, instance
        times = read_automation(project)
        suites = [find_suite(project, name) for name in (TOY, SHIPPED)]
        resources = orchestration.build_resources(project)
        places = [orchestration.Place(suite, resources=resources) for suite in suites]
        chains = [orchestration.build_chain(place, project) for place in places]
        jobs = [orchestration.build_job(place, chain) for place, chain in zip(places, chains, strict=True)]
        pruning = orchestration.build_prune_job(project)
        schedules = [
            *(
                schedule
                for place, job in zip(places, jobs, strict=True)
                for schedule in automation.build_schedules(place, job, project, times)
            ),
            automation.build_prune_schedule(pruning, times),
        ]
        self._places, self._alerts = places, automation.build_alerts(project, times)
        self._repository = dg.Definitions(
            assets=[*(asset for chain in chains for asset in chain), automation.ALERTS],
            jobs=[*jobs, pruning],
            schedules=schedules,
            sensors=[*automation.build_sensors(places, jobs, project), self._alerts],
            executor=dg.in_process_executor,
        ).get_repository_def()
        self._schedules = {each.name: each for each in schedules}
        self._cursors: dict[str, str | None] = {}

    def do(self, look: Look) -> Report:
        """Do as told."""
        if look.command:
            return Report([], _memory(), ended(begin(self._project, command_line, *look.command)))
        if look.name in self._schedules:
            requests, kind = self._scheduled(look), SCHEDULE
        else:
            requests, kind = self._sensed(look.name), SENSOR
        deaths = list(look.deaths)
        ran = [each for request in requests for each in self._run(request, {kind: look.name}, deaths)]
        return Report(ran, _memory())

    def _scheduled(self, look: Look) -> list[dg.RunRequest]:
        context = dg.build_schedule_context(
            instance=self._instance,
            scheduled_execution_time=datetime.datetime.fromisoformat(look.moment),
            repository_def=self._repository,
        )
        found = self._schedules[look.name].evaluate_tick(context).run_requests or []
        return [
            each if each.run_key else each._replace(run_key=f"{look.name}/{look.moment}") for each in found
        ]

    def _sensed(self, name: str) -> list[dg.RunRequest]:
        """Look at files, or for alerts."""
        cursor = self._cursors.get(name)
        seen = (
            ON_FILES[name](self._places, self._project, cursor)
            if name in ON_FILES
            else self._alerts.evaluate_tick(dg.build_sensor_context(self._instance, cursor=cursor))
        )
        self._cursors[name] = seen.cursor
        for each in seen.dynamic_partitions_requests or ():
            self._instance.add_dynamic_partitions(each.partitions_def_name, list(each.partition_keys or ()))
        for event in seen.asset_events:
            self._instance.report_runless_asset_event(event)
        return list(seen.run_requests or ())

    def _run(self, request: dg.RunRequest, cause: dict[str, str], deaths: list[float]) -> list[Ran]:
        """Run what is asked for until a process of it lives to its end."""
        ran: list[Ran] = []
        config = dict(request.run_config)
        while not ran or ran[-1].state == "killed":
            tags = {RUN_KEY: str(request.run_key), ATTEMPT: str(len(ran))}
            job = request.job_name or "prune"
            begun = (self._project, job, request.partition_key, config, {**request.tags, **cause, **tags})
            process = begin(self._project, run_job, *begun)
            killed = False
            if deaths:
                process.join(deaths.pop(0))
                killed = process.is_alive()
                process.kill()
            code = ended(process)
            ran.append(self._came_of(tags, killed, code))
        return ran

    def _came_of(self, tags: dict[str, str], killed: bool, code: int) -> Ran:
        """What came of a process; a run that it left behind is ended, as Dagster's monitor does."""
        run = next(iter(self._instance.get_runs(dg.RunsFilter(tags=tags))), None)
        if run is not None and run.status in UNFINISHED:
            self._instance.report_run_failed(run, "The process of this run was killed.")
        succeeded = run is not None and run.status == dg.DagsterRunStatus.SUCCESS
        state: Literal["finished", "killed", "failed"] = "finished" if succeeded else "failed"
        if not succeeded and killed:
            state = "killed"
        return Ran(run.run_id if run else "", tags[RUN_KEY], state)


def _memory() -> int:
    status = Path("/proc/self/status").read_text()
    return int(status.partition("VmRSS:")[2].split()[0])


def main() -> None:
    """Look as told until nobody tells any more."""
    answers = os.fdopen(os.dup(1), "wb", buffering=0)
    os.dup2(2, 1)  # whatever else is printed
    project = Project(Path(sys.argv[1]), Path(sys.argv[1]) / ".eval")
    with open_instance(project):
        pass  # which makes the folder, and Dagster's configuration in it
    with dg.DagsterInstance.get() as instance:
        daemon = Daemon(project, instance)
        for line in sys.stdin.buffer:
            answers.write(msgspec.json.encode(daemon.do(msgspec.json.decode(line, type=Look))) + b"\n")


if __name__ == "__main__":
    main()
