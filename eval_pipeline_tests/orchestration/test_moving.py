"""Everything in one PostgreSQL: a project moves there with its runs, and goes on there."""

from __future__ import annotations

import dagster as dg
import pytest

from eval_pipeline.orchestration import partitions_of
from eval_pipeline.orchestration.instance_file import INSTANCE_FILE, MARK
from eval_pipeline.orchestration.launching import open_instance
from eval_pipeline.project import Project
from eval_pipeline.store.database import DATABASE_VARIABLE
from eval_pipeline_tests.postgres import Server
from eval_pipeline_tests.running import command

VERSION = "guess-v1.0"


def told(instance: dg.DagsterInstance) -> list[tuple[str, dg.DagsterRunStatus, float | None, int]]:
    """What an instance knows of its runs."""
    records = instance.get_run_records()
    return [
        (
            each.dagster_run.run_id,
            each.dagster_run.status,
            each.end_time,
            len(instance.all_logs(each.dagster_run.run_id)),
        )
        for each in records
    ]


def test_a_project_moves_to_postgresql_and_goes_on_there(
    toy: Project, postgres: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert command(toy, "run", "toy", "--prompt", VERSION).returncode == 0
    with open_instance(toy) as instance:
        before = told(instance)
    assert len(before) == 1
    url = postgres.new_schema(driver="postgresql+psycopg2")
    monkeypatch.setenv(DATABASE_VARIABLE, url)
    for moved in (1, 0):
        done = command(toy, "move-state")
        assert done.returncode == 0, done.stderr
        assert f"runs: {moved} moved, {1 - moved} there already" in done.stdout
        assert f"history_evaluations: {moved} moved, {1 - moved} there already" in done.stdout
    written = (toy.state / INSTANCE_FILE).read_text()
    assert written.startswith(MARK)
    assert url not in written
    with open_instance(toy) as instance:
        assert told(instance) == before
        name = partitions_of("toy").name
        assert name is not None
        assert list(instance.get_dynamic_partitions(name)) == [VERSION]
        key = dg.AssetKey(["toy", "metrics"])
        assert instance.get_latest_materialization_event(key) is not None
    files = {path: path.stat().st_mtime_ns for path in toy.state.rglob("*.db")}
    assert command(toy, "run", "toy", "--prompt", VERSION).returncode == 0
    assert {path: path.stat().st_mtime_ns for path in toy.state.rglob("*.db")} == files
    with open_instance(toy) as instance:
        assert len(told(instance)) == 2
    monkeypatch.delenv(DATABASE_VARIABLE)
    with open_instance(toy) as instance:
        assert told(instance) == before, "without the setting, what was here is here"
    assert (toy.state / INSTANCE_FILE).is_symlink()
