"""Dagster's private parts: who uses them, whether they are still there, and what happens without them."""

from __future__ import annotations

import ast
import os
import pkgutil
import signal
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import dagster as dg
import pytest
import yaml
from alembic.script import ScriptDirectory
from dagster import EventLogEntry
from dagster._core.storage.event_log import SqliteEventLogStorage

from eval_pipeline.orchestration.dagster_private import FOLDER, INHERITED, MOST_OPEN, KeptEventLog
from eval_pipeline.orchestration.instance_file import INSTANCE_FILE
from eval_pipeline.orchestration.launching import open_instance
from eval_pipeline.project import STATE_VARIABLE, Project
from eval_pipeline.store import Store
from eval_pipeline_tests.conftest import REPOSITORY
from eval_pipeline_tests.running import begin, ended, instance_in, invoke, run_chain

DOOR = "eval_pipeline.orchestration.dagster_private"
SLOWER_EVENTS = "events are written as Dagster does it: a run without calls takes twice as long"
LARGER = "what checks said in deleted runs stays in Dagster's database"
SLOWER_START = "steps' output is captured: four more processes for each run"
SLOWER_OPENING = "migrations are read for every database that is opened: a third of a second for each run"
UNSEEN = "runs of the command line are neither on the home page nor on the timeline nor on the job's page"
PARTS = {
    "dagster._core.remote_origin:ManagedGrpcPythonEnvCodeLocationOrigin": UNSEEN,
    "dagster._core.remote_origin:RemoteJobOrigin": UNSEEN,
    "dagster._core.remote_origin:RemoteRepositoryOrigin": UNSEEN,
    "dagster._core.types.loadable_target_origin:LoadableTargetOrigin": UNSEEN,
    "dagster._core.storage.event_log:SqlEventLogStorage": LARGER,
    "dagster._core.storage.event_log:SqliteEventLogStorage": SLOWER_EVENTS,
    "dagster._core.storage.event_log:SqliteEventLogStorage._connect": SLOWER_EVENTS,
    "dagster._core.storage.event_log:SqliteEventLogStorage.conn_string_for_shard": SLOWER_EVENTS,
    "dagster._core.storage.event_log:SqliteEventLogStorage.path_for_shard": SLOWER_EVENTS,
    "dagster._core.storage.noop_compute_log_manager:NoOpComputeLogManager": SLOWER_START,
    "dagster._core.storage.sql:ScriptDirectory": SLOWER_OPENING,
}
"""Each private part in use, and what is lost where Dagster moved it."""


def private_imports(file: Path) -> set[str]:
    """What a module imports from `dagster._…` when it runs, as `module:name`."""
    imports: set[str] = set()
    for node in ast.walk(ast.parse(file.read_text())):
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("dagster._"):
            imports |= {f"{node.module}:{each.name}" for each in node.names}
        elif isinstance(node, ast.Import):
            imports |= {each.name for each in node.names if each.name.startswith("dagster._")}
    return imports


def test_only_one_module_uses_dagsters_private_parts() -> None:
    files = [
        file for folder in ("eval_pipeline", "benchmarks") for file in (REPOSITORY / folder).rglob("*.py")
    ]
    users = {str(file.relative_to(REPOSITORY)): private_imports(file) for file in files}
    used = {name: imports for name, imports in users.items() if imports}
    assert list(used) == [f"{DOOR.replace('.', '/')}.py"]
    for_types_only = {"dagster._serdes:ConfigurableClassData"}
    assert set().union(*used.values()) - for_types_only == {part for part in PARTS if part.count(".") < 4}


@pytest.mark.parametrize("part", PARTS)
def test_dagster_still_has_the_part(part: str) -> None:
    try:
        pkgutil.resolve_name(part)
    except (ImportError, AttributeError):
        pytest.fail(f"Dagster moved {part}. Commands still work, but {PARTS[part]}. Adapt {DOOR}.")


@pytest.mark.parametrize("part", PARTS)
def test_without_a_part_the_door_stays_shut(monkeypatch: pytest.MonkeyPatch, part: str) -> None:
    module, _, name = part.partition(":")
    exported, _, method = name.partition(".")
    monkeypatch.delitem(sys.modules, DOOR)
    if method:
        others = {each: None for each in INHERITED if each != method}
        monkeypatch.setattr(sys.modules[module], exported, type(exported, (), others))
    else:
        monkeypatch.delattr(sys.modules[module], exported)
    with pytest.raises(ImportError):
        __import__(DOOR)


def test_without_the_door_the_chain_runs_as_dagster_does_it(
    toy: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, DOOR, None)  # importing it fails, as where a part is missing
    with instance_in(toy) as instance:
        assert type(instance.event_log_storage).__name__ == "SqliteEventLogStorage"
        assert run_chain(toy, instance, "toy", "guess-v1.0").success
    assert "guess-v1.0" in str(Store(toy.state).report("toy", "guess-v1.0"))


def test_migrations_are_read_once(toy: Project, text_toy: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    with instance_in(toy):
        monkeypatch.setattr(ScriptDirectory, "_load_revisions", None)
    with instance_in(text_toy) as instance:
        assert instance.get_runs() == []


def test_runs_of_the_command_line_belong_to_the_location_that_the_ui_loads(toy: Project) -> None:
    done = invoke(toy, "run", "toy")
    assert done.returncode == 0, done.stderr
    (location,) = yaml.safe_load((REPOSITORY / "workspace.yaml").read_text())["load_from"]
    with instance_in(toy) as instance:
        (run,) = instance.get_runs()
        shown_on_its_job = {
            ".dagster/repository": f"__repository__@{location['python_module']['location_name']}"
        }
        assert len(instance.get_runs(dg.RunsFilter(job_name="toy_evaluation", tags=shown_on_its_job))) == 1
    origin = run.remote_job_origin
    assert origin is not None, f"{UNSEEN}. Adapt {DOOR}."
    assert (origin.job_name, origin.location_name) == ("toy_evaluation", "eval_pipeline")
    target = origin.repository_origin.code_location_origin.loadable_target_origin
    assert target.module_name == location["python_module"]["module_name"]


def test_a_project_without_settings_has_neither_telemetry_nor_pop_ups(toy: Project) -> None:
    (toy.root / INSTANCE_FILE).unlink()
    for _ in range(2):
        with instance_in(toy) as instance:
            assert (instance.telemetry_enabled, instance.nux_enabled) == (False, False)
    (toy.root / INSTANCE_FILE).write_text("nux: {enabled: true}\n")
    with instance_in(toy) as instance:
        assert instance.nux_enabled, "settings that a project has are its own"


def entry(run_id: str, message: str) -> EventLogEntry:
    return EventLogEntry(  # type: ignore[no-untyped-call]
        error_info=None,
        level=20,
        user_message=message,
        run_id=run_id,
        timestamp=1.0,
        step_key=None,
        job_name="job",
        dagster_event=None,
    )


def messages(log: SqliteEventLogStorage, run_id: str) -> list[str]:
    return [each.user_message for each in log.get_logs_for_run(run_id)]


@contextmanager
def kept(folder: Path) -> Iterator[KeptEventLog]:
    log = KeptEventLog(str(folder))
    try:
        yield log
    finally:
        log.dispose()


def test_the_project_keeps_its_events_where_dagster_would(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(STATE_VARIABLE, "")  # restored afterwards
    with open_instance(project) as instance:
        assert isinstance(instance.event_log_storage, KeptEventLog)

        @dg.asset(name="something")
        def asset() -> None:
            """Nothing."""

        run_id = dg.materialize([asset], instance=instance).run_id
        plain = SqliteEventLogStorage(str(project.state / FOLDER))
        logged = [event.dagster_event_type for event in instance.all_logs(run_id) if event.is_dagster_event]
        assert dg.DagsterEventType.ASSET_MATERIALIZATION in logged
        assert logged == [
            event.dagster_event_type for event in plain.get_logs_for_run(run_id) if event.is_dagster_event
        ]
        assert plain.get_latest_materialization_events([dg.AssetKey("something")])


@pytest.mark.parametrize(
    "configured",
    [
        {"storage": {"sqlite": {"base_dir": "elsewhere"}}},
        {"event_log_storage": {"class": "SqliteEventLogStorage", "config": {"base_dir": "elsewhere"}}},
    ],
)
def test_what_is_configured_otherwise_stays(
    project: Project, monkeypatch: pytest.MonkeyPatch, configured: dict[str, Any]
) -> None:
    monkeypatch.setenv(STATE_VARIABLE, "")  # restored afterwards
    for given in configured.values():
        given.get("sqlite", given.get("config"))["base_dir"] = str(project.root / "elsewhere")
        if "class" in given:
            given["module"] = "dagster._core.storage.event_log"
    (project.root / INSTANCE_FILE).write_text(yaml.safe_dump(configured))
    with open_instance(project) as instance:
        assert type(instance.event_log_storage) is SqliteEventLogStorage
    assert list((project.root / "elsewhere").rglob("index.db"))


@pytest.mark.parametrize(
    ("configured", "message"),
    [
        ("telemetry: [", "is not valid YAML"),
        ("\x00", "is not valid YAML"),
        ("- a", "is not a mapping of settings"),
        ("telemetry: {enabled: 3}", "is not what Dagster expects: Invalid scalar"),
        ("nonsense: 1", "is not what Dagster expects: Received unexpected"),
    ],
)
def test_a_configuration_that_cannot_be_used_is_bad_input(
    project: Project, configured: str, message: str
) -> None:
    (project.root / INSTANCE_FILE).write_text(configured)
    done = invoke(project, "run", "decomposition")
    assert done.returncode == 2
    assert f"{INSTANCE_FILE}: {message}" in done.stderr
    assert "Traceback" not in done.stderr


def test_an_empty_configuration_is_one(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(STATE_VARIABLE, "")  # restored afterwards
    (project.root / INSTANCE_FILE).write_text("")
    with open_instance(project) as instance:
        assert isinstance(instance.event_log_storage, KeptEventLog)


def store_and_die(folder: Path) -> None:
    log = KeptEventLog(str(folder))
    for number in range(30):
        log.store_event(entry("run", str(number)))
    os.kill(os.getpid(), signal.SIGKILL)


def test_who_is_killed_loses_nothing(tmp_path: Path) -> None:
    assert ended(begin(Project(tmp_path, tmp_path), store_and_die, tmp_path)) == -signal.SIGKILL
    expected = [str(number) for number in range(30)]
    assert messages(SqliteEventLogStorage(str(tmp_path)), "run") == expected
    with kept(tmp_path) as log:
        assert messages(log, "run") == expected


def test_who_watches_a_run_hears_of_every_event_from_elsewhere(tmp_path: Path) -> None:
    heard: list[str] = []
    all_heard = threading.Event()

    def hear(event: EventLogEntry, _: str) -> None:
        heard.append(event.user_message)
        if len(heard) == 3:
            all_heard.set()

    with kept(tmp_path) as writing, kept(tmp_path) as watching:
        writing.store_event(entry("run", "before"))
        watching.watch("run", None, hear)
        for message in ("a", "b"):
            writing.store_event(entry("run", message))
        assert all_heard.wait(30)
    assert heard == ["before", "a", "b"]


def test_more_runs_than_are_kept_open(tmp_path: Path) -> None:
    runs = [f"run{number}" for number in range(MOST_OPEN * 2)]
    with kept(tmp_path) as log:
        for message in ("first", "second"):
            for run_id in runs:
                log.store_event(entry(run_id, message))
        assert all(messages(log, run_id) == ["first", "second"] for run_id in runs)
        assert len(list(tmp_path.glob("*.db-wal"))) <= MOST_OPEN
    assert not list(tmp_path.glob("*.db-wal"))


def test_many_threads_and_another_process(tmp_path: Path) -> None:
    def write(log: SqliteEventLogStorage, name: str) -> None:
        for number in range(20):
            log.store_event(entry("run", f"{name}{number}"))

    with kept(tmp_path) as one, kept(tmp_path) as other:
        writers = [threading.Thread(target=write, args=(log, name)) for log in (one, other) for name in "ab"]
        for writer in writers:
            writer.start()
        for writer in writers:
            writer.join()
        assert len(messages(one, "run")) == 80


def test_what_is_materialized_is_seen_at_once_whoever_did_it(toy: Project) -> None:
    """Though the latest look is kept: who wrote since may be this log, or another one."""
    one, other = dg.AssetKey("one"), dg.AssetKey("other")

    def times(instance: dg.DagsterInstance, key: dg.AssetKey) -> int:
        return len(instance.fetch_materializations(key, limit=9).records)

    with instance_in(toy) as here, instance_in(toy) as there:
        assert isinstance(here.event_log_storage, KeptEventLog)
        assert times(here, one) == times(here, one) == times(there, one) == 0
        for count, instance in enumerate((there, here, there, there, here), 1):
            instance.report_runless_asset_event(dg.AssetMaterialization(one))
            assert times(here, one) == times(here, one) == times(there, one) == count
            assert times(here, other) == 0
        assert len(here.fetch_materializations(one, limit=2).records) == 2
        assert times(here, one) == 5
        there.wipe_assets([one])
        assert times(here, one) == times(there, one) == 0
        here.report_runless_asset_event(dg.AssetMaterialization(one))
        assert times(here, one) == 1
        here.wipe_assets([one])
        assert times(here, one) == 0


def test_what_is_stored_while_somebody_looks_is_seen_at_the_next_look(
    toy: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    key = dg.AssetKey("one")
    look = SqliteEventLogStorage.fetch_materializations

    with instance_in(toy) as instance:

        def interrupted(*given: Any, **options: Any) -> Any:
            seen = look(*given, **options)
            if not seen.records:
                instance.report_runless_asset_event(dg.AssetMaterialization(key))
            return seen

        monkeypatch.setattr(SqliteEventLogStorage, "fetch_materializations", interrupted)
        assert [len(instance.fetch_materializations(key, limit=9).records) for _ in range(3)] == [0, 1, 1]


def test_after_a_wipe_there_is_nothing_and_the_log_goes_on(tmp_path: Path) -> None:
    with kept(tmp_path) as log:
        log.store_event(entry("run", "before"))
        log.wipe()
        assert messages(log, "run") == []
        log.store_event(entry("run", "after"))
        assert messages(log, "run") == ["after"]


def test_an_event_that_cannot_be_stored_leaves_the_log_usable(tmp_path: Path) -> None:
    with kept(tmp_path) as log:
        log.store_event(entry("run", "before"))
        with suppress(ZeroDivisionError), log.run_connection("run") as connection:
            connection.exec_driver_sql("DELETE FROM event_logs")
            raise ZeroDivisionError
        assert messages(log, "run") == ["before"]
