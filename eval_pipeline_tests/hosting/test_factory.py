"""The factory: the same numbers as in a project of one's own, and nothing that collides with a host's."""

import datetime
import os
from pathlib import Path
from typing import Any
from unittest import mock

import dagster as dg
import pytest

from eval_pipeline import Rows, Times, build_eval_assets
from eval_pipeline.declarative import CaseFiles
from eval_pipeline.definitions import build_definitions
from eval_pipeline.orchestration import evaluation_job
from eval_pipeline.problems import BadInput
from eval_pipeline.project import Project
from eval_pipeline.store import History, Store, database_url
from eval_pipeline.store.database import URL_VARIABLE
from eval_pipeline_tests.conftest import REPOSITORY
from eval_pipeline_tests.hosted import (
    VERSION,
    in_process,
    in_processes,
    materialize,
    materialized,
    run,
    write_suite,
)
from eval_pipeline_tests.running import instance_in, run_chain

SUITE = "golden/capitals/suite.yaml"
NIGHTLY = Times(nightly="0 2 * * *", weekly="0 4 * * 1", on_change=True)


def own_of_host() -> dg.Definitions:
    """What a host has that could be in the way."""

    @dg.asset
    def alerts() -> int:
        return 1

    job = dg.define_asset_job("nightly", dg.AssetSelection.assets(alerts))
    return dg.Definitions(
        assets=[alerts],
        jobs=[job],
        schedules=[dg.ScheduleDefinition(name="nightly", job=job, cron_schedule="0 1 * * *")],
        resources={
            "io_manager": dg.mem_io_manager,
            **{name: dg.ResourceDefinition.none_resource() for name in ("project", "store", "progress")},
        },
        executor=dg.multiprocess_executor,
    )


def test_fifty_suites_and_two_of_one_are_merged_into_a_host_that_is_in_the_way(tmp_path: Path) -> None:
    for number in range(48):
        write_suite(tmp_path, f"suite_{number}")
    write_suite(tmp_path)
    suites = [
        build_eval_assets(f"golden/suite_{number}/suite.yaml", root=tmp_path, times=NIGHTLY)
        for number in range(48)
    ]
    twins = [
        build_eval_assets(SUITE, root=tmp_path, key_prefix=prefix, times=NIGHTLY)
        for prefix in ("team/a", ["team", "b"])
    ]
    defs = dg.Definitions.merge(own_of_host(), *suites, *twins)
    dg.Definitions.validate_loadable(defs)
    assert len(defs.resolve_all_asset_keys()) == 1 + 7 * 50
    repository = defs.get_repository_def()
    names = [each.name for each in repository.schedule_defs]
    names += [each.name for each in repository.sensor_defs]
    assert len(names) == len(set(names)) == 1 + 4 * 50
    assert {"team__a__capitals_nightly", "team__b__capitals_prompt_files"} <= set(names)
    with dg.DagsterInstance.ephemeral() as instance:
        for prefix in ("team__a", "team__b"):
            job = f"{prefix}__capitals_evaluation"
            result = defs.resolve_job_def(job).execute_in_process(
                instance=instance, partition_key=VERSION, raise_on_error=False
            )
            assert result.success
        assert materialized(materialize(own_of_host(), "alerts", instance=instance)) == {"alerts"}


def test_two_of_one_suite_share_no_state_even_in_one_database(tmp_path: Path) -> None:
    write_suite(tmp_path)
    url = f"sqlite:///{tmp_path}/shared.sqlite"
    with mock.patch.dict(os.environ, {URL_VARIABLE: url}), dg.DagsterInstance.ephemeral() as instance:
        for prefix in ("a", "b"):
            defs = build_eval_assets(SUITE, root=tmp_path, key_prefix=prefix)
            assert run(defs, f"{prefix}__capitals_evaluation", instance, VERSION).success
            with History(url, prefix) as history:
                assert [each.replay for each in history.points("capitals")] == [False]
        with History(url) as history:
            assert history.points("capitals") == []
    kept = sorted(each.name for each in (tmp_path / ".eval" / "prefixes").iterdir())
    assert kept == ["a", "b"]
    assert not (tmp_path / ".eval" / "evaluations").exists()
    within = build_eval_assets(SUITE, root=tmp_path, key_prefix=["a", "evaluations"])
    before = sorted(each for each in (tmp_path / ".eval" / "prefixes" / "a").rglob("*"))
    with dg.DagsterInstance.ephemeral() as instance:
        assert run(within, "a__evaluations__capitals_evaluation", instance, VERSION).success
    assert sorted(each for each in (tmp_path / ".eval" / "prefixes" / "a").rglob("*")) == before


def test_a_host_gets_the_numbers_ids_and_history_that_the_project_itself_gets(toy: Project) -> None:
    """Of a Python suite of a project's own, and of one that is shipped."""
    with instance_in(toy) as instance:
        run_chain(toy, instance, "toy", "guess-v1.0")
    own = Store(toy.state).evaluation("toy", "guess-v1.0")
    with History(database_url(toy)) as history:
        (point,) = history.points("toy")
    state = toy.root / "hosted"
    defs = build_eval_assets(
        f"{'eval_pipeline.suites.toy'}:SUITE", root=toy.root, key_prefix="host", state=state
    )
    with dg.DagsterInstance.ephemeral() as instance:
        assert run(defs, f"host__{evaluation_job('toy')}", instance, "guess-v1.0").success
    place = state / "prefixes" / "host"
    hosted = Store(place).evaluation("toy", "guess-v1.0")
    assert own is not None
    assert hosted is not None
    assert (hosted.id, hosted.summary) == (own.id, own.summary)
    with History(f"sqlite:///{place}/journal.sqlite", "host") as history:
        (theirs,) = history.points("toy")
    assert theirs.metrics == point.metrics
    assert theirs.outputs == point.outputs


@pytest.mark.parametrize("executor", [in_process, in_processes])
def test_the_chain_passes_under_both_executors(executor: Any, tmp_path: Path) -> None:
    write_suite(tmp_path / "project")
    (tmp_path / "home").mkdir()
    root = (str(tmp_path / "project"),)
    job = dg.build_reconstructable_job(
        executor.__module__,
        executor.__name__,
        reconstructable_args=root,
        reconstructor_working_directory=str(REPOSITORY),
    )
    with (
        dg.instance_for_test(temp_dir=str(tmp_path / "home")) as instance,
        dg.execute_job(job, instance=instance, tags={"dagster/partition": VERSION}) as result,
    ):
        assert result.success
    assert Store(tmp_path / "project" / ".eval").evaluation("capitals", VERSION) is not None


def test_conventions_are_kept_here_and_in_hosts(tmp_path: Path) -> None:
    write_suite(tmp_path)
    hosted = build_eval_assets(
        SUITE,
        root=tmp_path,
        key_prefix="quality",
        group_name="answers",
        owners=["team:search"],
        tags={"tier": "1"},
        kinds=["eval", "python"],
        pool="llm",
        times=NIGHTLY,
    )
    assert hosted.executor is None
    assert not hosted.resources
    for spec in hosted.resolve_all_asset_specs():
        assert spec.key.path[:2] == ["quality", "capitals"]
        assert (spec.group_name, list(spec.owners)) == ("answers", ["team:search"])
        assert spec.kinds == {"eval", "python"}
        assert spec.tags["tier"] == "1"
        assert spec.description
    for defs, suite in ((hosted, ["quality", "capitals"]), (build_definitions(Project.find()), ["review"])):
        by_key = {tuple(spec.key.path): spec for spec in defs.resolve_all_asset_specs()}
        chain = [by_key[*suite, stage] for stage in ("golden_set", "model_outputs", "metrics")]
        for spec in chain:
            assert "eval" in spec.kinds
            columns = {each.name for each in spec.metadata["dagster/column_schema"].columns}
            assert columns & {"case_id", "metric"}
            (reference,) = spec.metadata["dagster/code_references"].code_references
            line = Path(reference.file_path).read_text().splitlines()[reference.line_number - 1]
            assert line.startswith(("SUITE", "description"))
        late = {key[-1] for key, spec in by_key.items() if key[:-1] == (*suite,) and spec.freshness_policy}
        assert late == {"metrics", "active_version"}
        rows_of = build_eval_assets(
            SUITE, root=tmp_path, upstream=Rows("answers", "a.csv"), times=Times(nightly="0 2 * * *")
        )
        (found,) = (spec for spec in rows_of.resolve_all_asset_specs() if spec.freshness_policy)
        assert found.key.path == ["capitals", "metrics"]


def test_every_asset_of_the_project_says_what_it_is_whose_and_where(toy: Project) -> None:
    (toy.root / "automation.yaml").write_text("owners: ['team:evaluation']\n")
    for spec in build_definitions(toy).resolve_all_asset_specs():
        assert spec.description
        assert (spec.kinds, list(spec.owners)) == ({"eval"}, ["team:evaluation"]), spec.key
        if spec.key.path != ["alerts"]:  # no code makes it: a sensor tells of it
            (reference,) = spec.metadata["dagster/code_references"].code_references
            assert Path(reference.file_path).is_file()


@pytest.mark.parametrize("status", ["active", "candidate"])
def test_a_prompt_that_came_after_the_code_was_loaded_waits_for_the_next_load(
    status: str, tmp_path: Path
) -> None:
    """One that is no partition would fail the tick, for all versions."""
    write_suite(tmp_path)
    folder = tmp_path / "prompts" / "capitals"
    defs = build_eval_assets(SUITE, root=tmp_path, times=NIGHTLY)
    (folder / f"{VERSION}.md").rename(folder / "answer-v0.9.md")
    text = (folder / "answer-v0.9.md").read_text()
    (folder / "answer-v0.9.md").write_text(text.replace("active", "archived"))
    (folder / "answer-v1.1.md").write_text(text.replace("active", status))
    moment = datetime.datetime(2026, 3, 2, 4, tzinfo=datetime.UTC)
    cursor = None
    with dg.instance_for_test(temp_dir=str(tmp_path)) as instance:
        for is_loaded in (False, True):
            defs = build_eval_assets(SUITE, root=tmp_path, times=NIGHTLY) if is_loaded else defs
            repository = defs.get_repository_def()
            weekly = defs.resolve_schedule_def("capitals_weekly").evaluate_tick(
                dg.build_schedule_context(
                    instance, scheduled_execution_time=moment, repository_def=repository
                )
            )
            sensor = repository.get_sensor_def("capitals_prompt_files").evaluate_tick(
                dg.build_sensor_context(instance, cursor=cursor, repository_def=repository)
            )
            cursor = sensor.cursor
            for ticked in (weekly, sensor):
                asked = [each.partition_key for each in ticked.run_requests or ()]
                assert asked == (["answer-v1.1"] if is_loaded else [])
                assert is_loaded or "answer-v1.1: no partition yet. Reload" in str(ticked.skip_message)


def test_an_engine_is_chosen_for_all_runs(tmp_path: Path) -> None:
    write_suite(tmp_path)
    defs = build_eval_assets(SUITE, root=tmp_path, engine="other")
    with dg.DagsterInstance.ephemeral() as instance:
        run(defs, "capitals_evaluation", instance, VERSION)
    evaluation = Store(tmp_path / ".eval").evaluation("capitals", VERSION)
    assert evaluation is not None
    assert evaluation.identity.outputs.engine == "other"
    with pytest.raises(BadInput, match="is not an engine"):
        build_eval_assets(SUITE, root=tmp_path, engine="nobody")


@pytest.mark.parametrize(
    ("options", "reason"),
    [
        ({"suite": "golden/nothing/suite.yaml"}, "is not there"),
        ({"suite": "no_such_module:SUITE"}, "No module named"),
        ({"suite": "eval_pipeline.project:Project"}, "has no suite 'Project'"),
        ({"suite": SUITE, "key_prefix": "a-b"}, "cannot be part of a name"),
        ({"suite": SUITE, "key_prefix": "a__b"}, "cannot be part of a name"),
    ],
)
def test_what_cannot_be_used_is_said_with_a_remedy(
    options: dict[str, Any], reason: str, tmp_path: Path
) -> None:
    write_suite(tmp_path)
    with pytest.raises(BadInput, match=reason):
        build_eval_assets(root=tmp_path, **options)


def test_loading_reads_no_case(tmp_path: Path) -> None:
    write_suite(tmp_path)
    file = tmp_path / "golden" / "capitals" / "cases" / "cases.csv"
    file.write_text(f"{file.read_text().splitlines()[0]}\na row that nobody could read\n")
    with mock.patch.object(CaseFiles, "read", side_effect=AssertionError):
        assert build_eval_assets(SUITE, root=tmp_path).jobs


def test_definitions_of_the_project_bind_what_they_share_to_their_assets() -> None:
    defs = build_definitions(Project(REPOSITORY, REPOSITORY / ".eval"))
    assert not defs.resources
    assert defs.executor is dg.in_process_executor
