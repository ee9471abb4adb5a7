"""Deleting what nobody needs any more: old evaluations, runs with their event logs, and leftovers."""

import datetime
from collections import defaultdict
from collections.abc import Iterable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

import dagster as dg

from eval_pipeline.decisions import KEPT_DAYS, KEPT_LAST, Keeping, Superfluous, size_of, superfluous_files
from eval_pipeline.files import is_aside, remove
from eval_pipeline.numbers import counted, megabytes
from eval_pipeline.project import Project
from eval_pipeline.store import Store, is_dagster_shared

NAME = "prune"
OVER = [dg.DagsterRunStatus.SUCCESS, dg.DagsterRunStatus.FAILURE, dg.DagsterRunStatus.CANCELED]
NEVER_BEGUN = datetime.timedelta(days=1)
"""A run that waits as long as this to begin never will."""
AT_ONCE = 500
RUN_FILES = Path("history", "runs")
RUN_FOLDERS = Path("storage")
INDEX, OF_NO_RUN = "index", ""
"""Beside the runs' event logs, the one with what is common to them, and the one with what no run did."""


class Pruned(NamedTuple):
    """How much of a kind was deleted, or would be."""

    kind: str
    paths: int
    size: int

    def __str__(self) -> str:
        return f"{counted(self.paths, self.kind)}, {megabytes(self.size)}"


def prune(
    project: Project, instance: dg.DagsterInstance, keeping: Keeping, *, dry: bool = False
) -> list[Pruned]:
    """Delete what nothing keeps, and say how much that was."""
    now = datetime.datetime.now(datetime.UTC)
    files = superfluous_files(project, keeping, now)
    runs = list(_superfluous_runs(instance, keeping, now))
    orphans = [Superfluous("leftover", path) for path in _of_no_run(project, instance)]
    by_kind: dict[str, list[Path]] = defaultdict(list)
    for each in (*files, *orphans):
        by_kind[each.kind].append(each.path)
    pruned = [Pruned(kind, len(paths), size_of(paths)) for kind, paths in sorted(by_kind.items())]
    if runs:
        of_runs = [path for run in runs for path in _files_of(project, run)]
        pruned.append(Pruned("run", len(runs), size_of(of_runs)))
    if not dry:
        for run in runs:
            instance.delete_run(run)
            for path in _files_of(project, run):
                remove(path)
        Store(project.state).forget(each.path for each in files)
        for each in (*files, *orphans):
            remove(each.path)
        _forget_checks(instance)
    return pruned


def _forget_checks(instance: dg.DagsterInstance) -> None:
    """Delete what checks said in deleted runs; they stay where this Dagster has no such part any more."""
    with suppress(ImportError):
        from eval_pipeline.orchestration.dagster_private import forget_checks

        forget_checks(instance)


def _superfluous_runs(
    instance: dg.DagsterInstance, keeping: Keeping, now: datetime.datetime
) -> Iterator[str]:
    """Runs that are over, by job and partition, and those that never began."""
    groups: dict[tuple[str, str | None], list[dg.RunRecord]] = defaultdict(list)
    for record in _records(instance, OVER):
        run = record.dagster_run
        groups[run.job_name, run.tags.get("dagster/partition")].append(record)
    for records in groups.values():
        yield from (each.dagster_run.run_id for each in keeping.superfluous(records, _ended, now))
    for record in _records(instance, [dg.DagsterRunStatus.NOT_STARTED]):
        if now - record.create_timestamp >= NEVER_BEGUN:
            yield record.dagster_run.run_id


def _records(instance: dg.DagsterInstance, statuses: list[dg.DagsterRunStatus]) -> Iterator[dg.RunRecord]:
    cursor: str | None = None
    while records := instance.get_run_records(dg.RunsFilter(statuses=statuses), AT_ONCE, cursor=cursor):
        yield from records
        cursor = records[-1].dagster_run.run_id


def _ended(record: dg.RunRecord) -> datetime.datetime:
    if record.end_time is None:
        return record.create_timestamp
    return datetime.datetime.fromtimestamp(record.end_time, datetime.UTC)


def _files_of(project: Project, run: str) -> list[Path]:
    """What Dagster keeps of a run in the state folder."""
    logs = () if is_dagster_shared() else (project.state / RUN_FILES).glob(f"{run}.db*")
    paths = (project.state / RUN_FOLDERS / run, *logs)
    return [path for path in paths if path.exists()]


def _of_no_run(project: Project, instance: dg.DagsterInstance) -> Iterable[Path]:
    """Event logs of runs that are not there any more; a storage elsewhere knows of none that lie here."""
    if is_dagster_shared():
        return []
    known = {INDEX, OF_NO_RUN, *instance.get_run_ids()}
    logs = sorted((project.state / RUN_FILES).glob("*.db*"))
    return [path for path in logs if not is_aside(path) and path.name.split(".")[0] not in known]


class PruneConfig(dg.Config):
    """What stays, of each version."""

    keep_last: int = KEPT_LAST
    older_than: int = KEPT_DAYS


def build_prune_job(project: Project) -> dg.JobDefinition:
    """The job that deletes what nobody needs any more."""

    @dg.op(name="delete", out=dg.Out(dg.Nothing))
    def delete(context: dg.OpExecutionContext, config: PruneConfig) -> None:
        keeping = Keeping(config.keep_last, datetime.timedelta(days=config.older_than))
        pruned = prune(project, context.instance, keeping)
        context.log.info("; ".join(map(str, pruned)) or "Nothing to delete.")

    @dg.job(
        name=NAME,
        description="Delete old evaluations, runs and leftovers; baselines, approvals and history stay.",
    )
    def job() -> None:
        delete()

    return job
