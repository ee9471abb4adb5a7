"""What 50 components cost where a host's project is loaded, beside 50 of the host's own that do nothing.

The bound that the project holds itself to: at most 3 s more than Dagster's own loading. No case is read: of
the files of cases, only the headers are in order.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from pathlib import Path

from benchmarks.imports import compare, seconds
from eval_pipeline_tests.hosted import write_suite

COMPONENTS = 50
MOST = 3.0
HOST = "host"
PROJECT = """\
[project]
name = "host"
version = "0.1.0"

[tool.dg]
directory_type = "project"

[tool.dg.project]
root_module = "host"
"""
TRIVIAL = '''\
"""A component that does next to nothing."""

from dataclasses import dataclass

import dagster as dg


@dataclass
class Trivial(dg.Component, dg.Resolvable):
    """One asset, which only exists."""

    name: str

    def build_defs(self, context):
        """Its definitions."""
        return dg.Definitions(assets=[dg.AssetSpec(self.name)])
'''
COMPONENT = """\
type: eval_pipeline.EvalSuiteComponent
attributes:
  automation: {nightly: "0 2 * * *", weekly: "0 4 * * 1", on_change: true}
"""
LOAD = """
import sys
from pathlib import Path

import dagster as dg

defs = dg.load_from_defs_folder(path_within_project=Path(sys.argv[1]))
dg.Definitions.validate_loadable(defs)
print(len(defs.resolve_all_asset_keys()))
"""


def write_host(root: Path) -> Path:
    """An empty project in Dagster's layout; where its components go."""
    package = root / "src" / HOST
    (package / "defs").mkdir(parents=True)
    (root / "pyproject.toml").write_text(PROJECT)
    for folder in (package, package / "defs"):
        (folder / "__init__.py").touch()
    (package / "trivial.py").write_text(TRIVIAL)
    return package / "defs"


def write_trivial(folder: Path, name: str) -> None:
    """A component of the host's own."""
    folder.mkdir()
    (folder / "defs.yaml").write_text(f"type: {HOST}.trivial.Trivial\nattributes: {{name: {name}}}\n")


def write_evaluation(folder: Path, name: str) -> None:
    """A component of ours, with all that starts it by itself."""
    cases = write_suite(folder, name).parent / "cases" / "cases.csv"
    cases.write_text(f"{cases.read_text().splitlines()[0]}\na row that nobody could read\n")
    (folder / "defs.yaml").write_text(f"{COMPONENT}  suite: golden/{name}/suite.yaml\n")


def loading(root: Path) -> float:
    """The processor time of a process that loads a project."""
    os.environ["PYTHONPATH"] = os.pathsep.join([str(root / "src"), str(Path.cwd())])
    return seconds("-W", "ignore", "-c", LOAD, str(root / "src" / HOST), rounds=3)


def main() -> None:
    """Print both times, and what was loaded."""
    with tempfile.TemporaryDirectory() as folder:
        own, ours = (write_host(Path(folder, name)) for name in ("own", "ours"))
        for number in range(COMPONENTS):
            write_trivial(own / f"number_{number}", f"number_{number}")
            write_evaluation(ours / f"number_{number}", f"number_{number}")
        roots = [Path(folder, name) for name in ("own", "ours")]
        bare, measured = map(loading, roots)
        compare(f"{COMPONENTS} evaluations", measured, f"{COMPONENTS} trivial components", bare, MOST)
        script = [sys.executable, "-W", "ignore", "-c", LOAD, str(roots[1] / "src" / HOST)]
        done = subprocess.run(script, check=True, capture_output=True, text=True)
        print(f"  ×{measured / bare:.1f}; {done.stdout.strip()} assets")


if __name__ == "__main__":
    main()
