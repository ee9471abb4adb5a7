"""Where things are: the project's folders, and the one folder that holds its state."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

from eval_pipeline.problems import bad_value, is_text

ROOT_VARIABLE = "EVAL_PIPELINE_ROOT"
STATE_VARIABLE = "DAGSTER_HOME"
MARKER = "engines.yaml"
PREFIXES = "prefixes"
"""In a state folder: the folders of suites that a host has under prefixes of their own."""


@dataclass(frozen=True)
class Project:
    """A folder with `golden/`, `prompts/` and `engines.yaml`, and its state folder."""

    root: Path
    state: Path
    judged_by: Path | None = None
    """Another tree whose rules count in place of the project's own: that of a revision."""

    @classmethod
    def find(cls) -> Project:
        """The project of the environment or around the working directory, or the clone of this package.

        Where there is none of them, it is the working directory, as an empty project.
        """
        named = os.environ.get(ROOT_VARIABLE)
        root = Path(named).resolve() if named else _root_above(Path.cwd())
        state = os.environ.get(STATE_VARIABLE)
        project = cls(root, Path(state).resolve() if state else root / ".eval")
        project.stop_if_unusable()
        return project

    def stop_if_unusable(self) -> None:
        """Refuse places that databases and tables cannot be kept in: their paths become parts of URLs."""
        for variable, path, acting in ((ROOT_VARIABLE, self.root, ""), (STATE_VARIABLE, self.state, "%?#")):
            text = str(path)
            if any(each in text for each in acting) or not is_text(text):
                remedy = f"Choose a path in UTF-8 without {' '.join('%?#')}."
                raise bad_value(variable, f"{text!a} cannot be used", remedy)

    def golden(self, suite: str) -> Path:
        """The folder of a suite's golden set, gates and baseline."""
        return self.root / "golden" / suite

    def rules(self, suite: str) -> Path:
        """The folder of the gates, sign-off, approvals and baselines by which a suite is judged."""
        theirs = self.judged_by / "golden" / suite if self.judged_by else None
        return theirs if theirs and theirs.is_dir() else self.golden(suite)

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


class JudgedProject(Project):
    """A project that asks the engines of the tree whose rules count."""

    @property
    def engines_file(self) -> Path:
        """The file that names the engines."""
        theirs = self.judged_by / MARKER if self.judged_by else None
        return theirs if theirs and theirs.is_file() else super().engines_file


@dataclass(frozen=True)
class HostedProject(Project):
    """One suite in somebody else's project: its folders are where they say they are."""

    namespace: str = ""
    """What tells its history apart from that of others who share a database, where suites have one name."""
    golden_folder: Path | None = None
    prompts_folder: Path | None = None
    engines: Path | None = None
    cases: Path | None = None
    """Where rows of another asset are kept, where these are the golden cases."""

    def golden(self, suite: str) -> Path:
        """The folder of the suite's golden set, gates and baseline."""
        return self.golden_folder or super().golden(suite)

    def prompts(self, suite: str) -> Path:
        """The folder of the suite's prompt versions."""
        return self.prompts_folder or super().prompts(suite)

    @property
    def engines_file(self) -> Path:
        """The file that names the engines."""
        return self.engines or super().engines_file


def cases_of(project: Project, suite: str) -> Path:
    """The folder that holds a suite's golden cases: its golden folder, unless another asset brings them."""
    elsewhere = project.cases if isinstance(project, HostedProject) else None
    return elsewhere or project.golden(suite)


def namespace_of(project: Project) -> str:
    """What tells a project's history apart from that of others who share its database; mostly nothing."""
    return project.namespace if isinstance(project, HostedProject) else ""


def prefix_of(state: Path) -> tuple[str, ...]:
    """What tells the state of a suite under a prefix of a host apart from others; mostly nothing."""
    return (PREFIXES, state.name) if state.parent.name == PREFIXES else ()


def _root_above(start: Path) -> Path:
    for folder in (start, *start.parents):
        if (folder / MARKER).is_file():
            return folder
    clone = Path(__file__).resolve().parent.parent
    return clone if (clone / MARKER).is_file() else start
