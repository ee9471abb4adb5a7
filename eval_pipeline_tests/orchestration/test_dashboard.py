"""The pages as assets: materialized by hand, and told to Dagster where they were written without a run."""

from __future__ import annotations

from pathlib import Path
from unittest import mock

import dagster as dg
import pytest

from eval_pipeline.definitions import build_definitions
from eval_pipeline.orchestration import refresh_pages
from eval_pipeline.orchestration.dashboard import KEY, weekly_key
from eval_pipeline.orchestration.launching import refresh_dashboard
from eval_pipeline.project import Project
from eval_pipeline.store import note_address
from eval_pipeline_tests.running import QUIET, environment, instance_in
from eval_pipeline_tests.surveying import evaluate


def materialize(project: Project, *keys: dg.AssetKey) -> dg.ExecuteInProcessResult:
    job = build_definitions(project).resolve_implicit_global_asset_job_def()
    with instance_in(project) as instance:
        return job.execute_in_process(
            instance=instance, asset_selection=list(keys), run_config=QUIET, raise_on_error=False
        )


def test_the_dashboard_is_an_asset_with_its_path_and_what_it_shows(toy: Project) -> None:
    evaluate(toy)
    (event,) = materialize(toy, KEY).get_asset_materialization_events()
    metadata = event.materialization.metadata
    assert Path(str(metadata["path"].value)) == toy.state / "dashboard.html"
    assert (toy.state / "dashboard.html").is_file()
    numbers = {name: metadata[name].value for name in ("passing", "blocked", "never_evaluated")}
    assert numbers == {"passing": 1, "blocked": 0, "never_evaluated": 0}
    assert metadata["unsigned_golden_sets"].value == 1
    assert "accuracy 75.0 %" in str(metadata["versions"].value)


def test_a_weekly_page_is_an_asset(toy: Project) -> None:
    (event,) = materialize(toy, weekly_key("toy")).get_asset_materialization_events()
    path = Path(str(event.materialization.metadata["path"].value))
    assert path.parent == toy.state / "weekly" / "toy"
    assert "toy: the week to" in path.read_text()


def test_a_suite_that_cannot_be_loaded_does_not_keep_the_page_from_being_written(toy: Project) -> None:
    (toy.root / "suites" / "toy" / "__init__.py").write_text("raise RuntimeError('no')\n")
    assert materialize(toy, KEY).success
    assert "✗ cannot be loaded" in (toy.state / "dashboard.html").read_text()


def test_what_cannot_be_written_fails_the_asset_in_words(
    toy: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("EVAL_PIPELINE_JOURNAL", "nonsense")
    result = materialize(toy, KEY)
    assert not result.success
    (failure,) = result.get_step_failure_events()
    assert "is not a database's URL" in str(failure.event_specific_data)


def test_a_refresh_without_a_run_is_told_to_dagster(toy: Project) -> None:
    with mock.patch.dict("os.environ", environment(toy)):
        assert refresh_dashboard(toy) == toy.state / "dashboard.html"
    with instance_in(toy) as instance:
        assert instance.get_latest_materialization_event(KEY) is not None


def test_where_pages_are_served_the_asset_links_to_them(toy: Project) -> None:
    note_address(toy.state, "http://127.0.0.1:3001")
    dashboard, weekly = refresh_pages(toy, weekly=["toy"])
    assert dashboard.metadata["page"].value == "http://127.0.0.1:3001/dashboard.html"
    assert str(weekly.metadata["page"].value).startswith("http://127.0.0.1:3001/weekly/toy/")


def test_a_refresh_tells_of_the_weekly_pages_that_it_wrote(toy: Project) -> None:
    assert [event.asset_key for event in refresh_pages(toy, weekly=["toy"])] == [KEY, weekly_key("toy")]
    assert [event.asset_key for event in refresh_pages(toy)] == [KEY]
