"""A whole chain, run once in the process that commands are forked from, and in no other.

What it leaves in memory, such as compiled statements and patterns and the stems of words, every command after
it would have to find out again.
"""

from __future__ import annotations

import gc
import sys
import tempfile
from pathlib import Path

from eval_pipeline_tests.running import copy_suites, fork_gate_lines, invoke_here

imported = dict(sys.modules)
with tempfile.TemporaryDirectory() as folder:
    done = invoke_here(copy_suites(Path(folder, "project"), "decomposition"), "run", "decomposition")
    assert done.returncode == 0, done.stderr
fork_gate_lines()
sys.modules.update(imported)  # who leaves this repository for a project forgets its modules

gc.collect()
gc.freeze()
