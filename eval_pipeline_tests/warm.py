"""What every command of a test would do anew, done once before commands are forked from a process.

A whole chain is run, too: what it leaves in memory, such as compiled statements and patterns and the stems of
words, every command after it would have to find out again.
"""

from __future__ import annotations

import atexit
import gc
import importlib
import sys
import tempfile
from pathlib import Path

from eval_pipeline_tests.running import copy_suites, invoke_here
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

share_vectors()
share_scores()

imported = dict(sys.modules)
with tempfile.TemporaryDirectory() as folder:
    done = invoke_here(copy_suites(Path(folder, "project"), "decomposition"), "run", "decomposition")
    assert done.returncode == 0, done.stderr
sys.modules.update(imported)  # who leaves this repository for a project forgets its modules

gc.collect()
gc.freeze()  # what is shared with all commands is copied for none of them
atexit.register(gc.unfreeze)  # duckdb complains of what is not collected in the end
