"""Which `dagster.yaml` configures the instance: the project's own, or the same with storage in PostgreSQL.

One variable decides, so that every program that starts here uses the same database; the file names the
variable and never the address, which holds a password.
"""

import importlib.util
from pathlib import Path
from typing import Any

import yaml

from eval_pipeline.files import LARGEST_YAML, file_bytes, is_there, write_text
from eval_pipeline.problems import BadInput, Problems, bad_value
from eval_pipeline.project import Project
from eval_pipeline.store import DATABASE_VARIABLE, is_dagster_shared

INSTANCE_FILE = "dagster.yaml"
DEFAULT_INSTANCE = Path(__file__).resolve().with_name(INSTANCE_FILE)
MARK = (
    f"# Written by eval-pipeline, because {DATABASE_VARIABLE} is set; {INSTANCE_FILE} of the project counts."
)
STORED = {"storage": {"postgres": {"postgres_url": {"env": DATABASE_VARIABLE}}}}
UNKEPT_LOGS = {
    "compute_logs": {
        "module": "dagster._core.storage.noop_compute_log_manager",
        "class": "NoOpComputeLogManager",
    }
}
"""What steps print goes to the log of their process: a file here would be of no use to other machines."""
STORAGES = ("storage", "run_storage", "event_log_storage", "schedule_storage")


def configure_instance(project: Project) -> Path:
    """Put the file in place that configures the Dagster instance of a project's state folder."""
    file, own = project.state / INSTANCE_FILE, project.root / INSTANCE_FILE
    source = own if own.is_file() else DEFAULT_INSTANCE
    if is_dagster_shared():
        _configure_shared(file, source)
        return file
    is_default = file.is_symlink() and file.readlink() == DEFAULT_INSTANCE
    if not file.exists() or _is_ours(file) or (is_default and own.is_file()):
        file.unlink(missing_ok=True)
        file.symlink_to(source)
    return file


def configured(file: Path) -> dict[str, Any]:
    """What Dagster's configuration says; unlike those of this project, it may share values by anchors."""
    if not is_there(file):
        return {}
    try:
        settings = yaml.safe_load(file_bytes(file, LARGEST_YAML)) or {}
    except yaml.YAMLError as error:
        raise unusable(file, f"is not valid YAML: {' '.join(str(error).split())}") from None
    if not isinstance(settings, dict):
        raise unusable(file, "is not a mapping of settings")
    return settings


def unusable(file: Path, *reasons: str) -> BadInput:
    """A configuration that Dagster cannot use, for reasons."""
    problems = Problems()
    for reason in reasons:
        problems.add(file, reason, "Correct it.")
    return BadInput(list(problems))


def _configure_shared(file: Path, source: Path) -> None:
    """Write the project's configuration with storage in PostgreSQL; one that a person put there stays."""
    if importlib.util.find_spec("dagster_postgres") is None:
        remedy = "Run: pip install 'eval-pipeline[postgres]'"
        raise bad_value(DATABASE_VARIABLE, "needs the package dagster-postgres", remedy)
    if file.exists() and not file.is_symlink() and not _is_ours(file):
        if not any(name in configured(file) for name in STORAGES):
            wanted = "storage: {postgres: {postgres_url: {env: " + DATABASE_VARIABLE + "}}}"
            problems = Problems()
            problems.add(
                file, f"keeps Dagster's storage here, but {DATABASE_VARIABLE} is set", f"Add: {wanted}"
            )
            problems.stop_if_any()
        return
    settings = configured(source)
    if not any(name in settings for name in STORAGES):
        settings |= STORED
    text = f"{MARK}\n{yaml.safe_dump(UNKEPT_LOGS | settings, sort_keys=False)}"
    if file.is_symlink() or not file.exists() or file.read_text(encoding="utf-8") != text:
        write_text(file, text)


def _is_ours(file: Path) -> bool:
    with file.open("rb") as opened:
        return opened.read(len(MARK)) == MARK.encode()
