"""Dagster's own storage in another database: runs with their events, partitions, and what is switched on.

It can be done again: a run that is there stays, one that was moved in part is moved anew.
"""

from collections.abc import Iterator
from contextlib import contextmanager

import dagster as dg

from eval_pipeline.decisions import Moved
from eval_pipeline.loading import all_suites
from eval_pipeline.orchestration.launching import open_instance
from eval_pipeline.orchestration.places import partitions_of
from eval_pipeline.project import Project

AT_ONCE = 200
RUNS = "history/runs.db"
OVER = (dg.DagsterRunStatus.SUCCESS, dg.DagsterRunStatus.FAILURE, dg.DagsterRunStatus.CANCELED)


def move_dagster(project: Project) -> list[Moved]:
    """Move what Dagster keeps in a project's state folder to the database that the environment names."""
    if not (project.state / RUNS).is_file():
        return []
    with open_instance(project) as new, _embedded(project) as old:
        return [_move_runs(old, new), _move_partitions(project, old, new), _move_switches(old, new)]


@contextmanager
def _embedded(project: Project) -> Iterator[dg.DagsterInstance]:
    """The instance as it is in the state folder, whatever is configured now."""
    state = str(project.state)
    with dg.DagsterInstance.local_temp(
        state, overrides={"storage": {"sqlite": {"base_dir": state}}}
    ) as instance:
        yield instance


def _move_runs(old: dg.DagsterInstance, new: dg.DagsterInstance) -> Moved:
    """Move runs that are over, the oldest first: their order is that in which they come."""
    moved = known = 0
    for run_id in reversed(old.get_run_ids(dg.RunsFilter(statuses=list(OVER)))):
        run = old.get_run_by_id(run_id)
        if run is None:
            continue
        there = new.get_run_by_id(run_id)
        if there is not None and there.status == run.status:
            known += 1
            continue
        if there is not None:
            new.delete_run(run_id)
        _move_run(old, new, run)
        moved += 1
    return Moved("runs", moved, known)


def _move_run(old: dg.DagsterInstance, new: dg.DagsterInstance, run: dg.DagsterRun) -> None:
    for name, read in (
        (run.job_snapshot_id, old.get_job_snapshot),
        (run.execution_plan_snapshot_id, old.get_execution_plan_snapshot),
    ):
        if name and not new.has_snapshot(name) and old.has_snapshot(name):
            new.add_snapshot(read(name))
    new.add_run(run.with_status(dg.DagsterRunStatus.NOT_STARTED))
    cursor: str | None = None
    while True:
        page = old.get_records_for_run(run.run_id, cursor, limit=AT_ONCE, ascending=True)
        for record in page.records:
            new.handle_new_event(record.event_log_entry)
        cursor = page.cursor
        if not page.has_more:
            return


def _move_partitions(project: Project, old: dg.DagsterInstance, new: dg.DagsterInstance) -> Moved:
    moved = known = 0
    for suite in all_suites(project):
        name = partitions_of(suite).name
        assert name is not None
        there = set(new.get_dynamic_partitions(name))
        fresh = [key for key in old.get_dynamic_partitions(name) if key not in there]
        new.add_dynamic_partitions(name, fresh)
        moved, known = moved + len(fresh), known + len(there)
    return Moved("versions as partitions", moved, known)


def _move_switches(old: dg.DagsterInstance, new: dg.DagsterInstance) -> Moved:
    """Which schedules and sensors a person switched on or off, and how far each has looked."""
    moved = known = 0
    for state in old.all_instigator_state():
        if new.get_instigator_state(state.instigator_origin_id, state.selector_id):
            known += 1
        else:
            new.add_instigator_state(state)
            moved += 1
    return Moved("schedules and sensors", moved, known)
