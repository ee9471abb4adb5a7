"""Which file configures Dagster's instance."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml

from eval_pipeline.orchestration.instance_file import INSTANCE_FILE, MARK, configure_instance, configured
from eval_pipeline.problems import BadInput
from eval_pipeline.project import Project
from eval_pipeline.store.database import DATABASE_VARIABLE

URL = "postgresql+psycopg2://user:s3cr3t-word@host/database"


@pytest.fixture
def project(tmp_path: Path) -> Project:
    (tmp_path / ".eval").mkdir()
    (tmp_path / INSTANCE_FILE).write_text("telemetry: {enabled: false}\n")
    return Project(tmp_path, tmp_path / ".eval")


def test_one_variable_puts_storage_into_postgresql_and_back(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = configure_instance(project)
    assert file.readlink() == project.root / INSTANCE_FILE
    monkeypatch.setenv(DATABASE_VARIABLE, URL)
    configure_instance(project)
    settings = configured(file)
    assert settings["storage"] == {"postgres": {"postgres_url": {"env": DATABASE_VARIABLE}}}
    assert settings["telemetry"] == {"enabled": False}
    assert settings["compute_logs"]["class"] == "NoOpComputeLogManager"
    assert "s3cr3t" not in file.read_text()
    (project.root / INSTANCE_FILE).write_text("compute_logs: {module: a, class: B}\n")
    configure_instance(project)
    assert configured(file)["compute_logs"] == {"module": "a", "class": "B"}
    monkeypatch.delenv(DATABASE_VARIABLE)
    assert configure_instance(project).readlink() == project.root / INSTANCE_FILE
    assert MARK not in (project.root / INSTANCE_FILE).read_text()


def test_a_file_that_a_person_wrote_stays(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    file = project.state / INSTANCE_FILE
    monkeypatch.setenv(DATABASE_VARIABLE, URL)
    own = {"storage": {"postgres": {"postgres_url": "elsewhere"}}}
    file.write_text(yaml.safe_dump(own))
    configure_instance(project)
    assert configured(file) == own
    file.write_text("nux: {enabled: false}\n")
    with pytest.raises(BadInput, match="keeps Dagster's storage here") as caught:
        configure_instance(project)
    assert "Add: storage: {postgres: {postgres_url: {env: EVAL_PIPELINE_DATABASE}}}" in str(caught.value)


@pytest.mark.parametrize(
    "url", ["postgresql+psycopg://user@host/database", "postgresql://user@host/database"]
)
def test_a_driver_that_dagster_does_not_use_is_refused(
    project: Project, monkeypatch: pytest.MonkeyPatch, url: str
) -> None:
    monkeypatch.setenv(DATABASE_VARIABLE, url)
    with pytest.raises(BadInput, match="Dagster knows that driver alone"):
        configure_instance(project)
