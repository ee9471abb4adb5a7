"""Where things are: the project's folders, and the one folder that holds its state."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

ROOT_VARIABLE = "EVAL_PIPELINE_ROOT"
STATE_VARIABLE = "DAGSTER_HOME"
MARKER = "engines.yaml"


@dataclass(frozen=True)
class Project:
    """A folder with `golden/`, `prompts/` and `engines.yaml`, and its state folder."""

    root: Path
    state: Path

    @classmethod
    def find(cls) -> Project:
        """The project of the environment, of the working directory, or the one this package lies in."""
        named = os.environ.get(ROOT_VARIABLE)
        root = Path(named).resolve() if named else _root_above(Path.cwd())
        state = os.environ.get(STATE_VARIABLE)
        return cls(root, Path(state).resolve() if state else root / ".eval")

    def golden(self, suite: str) -> Path:
        """The folder of a suite's golden set, gates and baseline."""
        return self.root / "golden" / suite

    def prompts(self, suite: str) -> Path:
        """The folder of a suite's prompt versions."""
        return self.root / "prompts" / suite

    @property
    def engines_file(self) -> Path:
        """The file that names the engines."""
        return self.root / MARKER

    @property
    def own_suites(self) -> Path:
        """A folder for suites that are not part of this package."""
        return self.root / "suites"


def _root_above(start: Path) -> Path:
    for folder in (start, *start.parents):
        if (folder / MARKER).is_file():
            return folder
    return Path(__file__).resolve().parent.parent
