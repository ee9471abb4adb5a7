"""`eval-pipeline move-state`: from one machine to what several share."""

from collections.abc import Iterable

import click

from eval_pipeline.problems import bad_value
from eval_pipeline.project import Project
from eval_pipeline.store import (
    DATABASE_VARIABLE,
    STORE_VARIABLE,
    Store,
    is_dagster_shared,
    is_store_shared,
    shared_database,
)
from eval_pipeline.terminal import say


@click.command("move-state")
def command() -> None:
    """Move what this machine keeps to the database and the object storage that the environment names.

    EVAL_PIPELINE_DATABASE takes journal, limits, history, incidents, proposals, the ledger of production and
    Dagster's runs; EVAL_PIPELINE_STORE takes golden tables, answers, evaluations and reports. It may be
    repeated: what is there stays, what came since is added, and nothing is deleted here. Run it while
    nothing is evaluated; a first time may be a rehearsal.
    """
    from eval_pipeline.decisions import Moved, move_database

    project, moved = Project.find(), list[Moved]()
    if not shared_database() and not is_store_shared():
        remedy = (
            f"Set {DATABASE_VARIABLE} to postgresql://user:password@host/database, {STORE_VARIABLE}, or both."
        )
        raise bad_value("move-state", "nothing says where to move to", remedy)
    if url := shared_database():
        moved += move_database(project.state, url)
    if is_dagster_shared():
        from eval_pipeline.orchestration.moving import move_dagster

        moved += move_dagster(project)
    for each in moved:
        say(f"{each.kind}: {_amount(each.rows, each.known)}")
        _say_all(each.renamed)
    if is_store_shared():
        from eval_pipeline.monitoring import EventStore

        shared, known = Store(project.state).share_all()
        say(f"files of the store: {_amount(shared, known)}")
        with EventStore.of(project) as events:
            say(f"segments of events: {events.share_all():,} shared")


def _amount(moved: int, known: int) -> str:
    return f"{moved:,} moved, {known:,} there already"


def _say_all(lines: Iterable[str]) -> None:
    for line in lines:
        say(f"  {line}: mend approvals that name it.")
