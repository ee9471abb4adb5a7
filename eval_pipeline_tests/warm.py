"""What every command of a test would do anew, done once before commands are forked from a process."""

from __future__ import annotations

import atexit
import gc
import importlib
import os
import tempfile
from pathlib import Path
from unittest import mock

from eval_pipeline.orchestration.launching import open_instance
from eval_pipeline.project import Project
from eval_pipeline.scoring.identity import engine_version, prober_version, scorer_version
from eval_pipeline.suites import decomposition
from eval_pipeline_tests.instances import share_instance
from eval_pipeline_tests.renderers import share_renderers
from eval_pipeline_tests.scores import share_scores
from eval_pipeline_tests.vectors import share_vectors

LATER = (
    *("dagster._core.execution.execute_in_process", "dagster._core.executor.in_process"),
    *("dagster._core.secrets.env_file", "dagster._daemon.asset_daemon"),
    "dagster._core.definitions.repository_definition.repository_data_builder",
    *("fsspec.implementations.local", "upath.implementations.local", "jinja2._identifier", "pyarrow.parquet"),
    *("eval_pipeline.reports.page.dashboard", "eval_pipeline.reports.page.weekly"),
    *("duckdb", "pyarrow.dataset"),
    *("hypothesis", "pandas", "rapidfuzz.distance", "regex", "scipy.special", "snowballstemmer", "uvloop"),
)
"""What is imported where it is used."""

for name in LATER:
    importlib.import_module(name)

with tempfile.TemporaryDirectory() as folder, mock.patch.dict(os.environ):
    open_instance(Project(Path(folder), Path(folder, ".eval"))).dispose()

for identity in (scorer_version, prober_version, engine_version):
    identity(decomposition.SUITE)

share_vectors()
share_scores()
share_instance()
share_renderers()

gc.collect()
gc.freeze()  # what is shared with all commands is copied for none of them
atexit.register(gc.unfreeze)  # duckdb complains of what is not collected in the end
