"""What the assets of every suite share: a workbench each, the store, and progress in the log."""

from pathlib import Path
from typing import Any

import dagster as dg
from pydantic import Field, PrivateAttr

from eval_pipeline import stages
from eval_pipeline.orchestration.io_manager import StoreIOManager
from eval_pipeline.orchestration.places import resource_name
from eval_pipeline.orchestration.progress import ProgressLog
from eval_pipeline.project import HostedProject, JudgedProject, Project
from eval_pipeline.suite import Suite

STORE = "store"
PROGRESS = "progress"
WORKBENCHES = "workbenches"
PROCESS_TAG = ".dagster/eval_pipeline_process"
"""Of a run that a command started: whose it is. Tags that begin like this are not shown."""


class Workbenches(dg.ConfigurableResource[Any]):
    """One workbench for each suite of a run, so that the steps of a run load everything once."""

    root: str = Field(description="The project: a folder with engines.yaml, golden/ and prompts/.")
    state: str = Field(description="The folder that holds all state.")
    judged_by: str | None = Field(
        default=None, description="Another tree whose gates, sign-offs, approvals and baselines count."
    )
    golden: str | None = Field(default=None, description="The golden folder, where it lies elsewhere.")
    prompts: str | None = Field(default=None, description="Its prompt versions, where they lie elsewhere.")
    engines: str | None = Field(default=None, description="The file of engines, where it is another one.")
    cases: str | None = Field(default=None, description="Where golden cases of another asset are kept.")
    namespace: str = Field(default="", description="What tells its history apart in a shared database.")
    _run_id: str = PrivateAttr("")
    _benches: dict[str, stages.Workbench] = PrivateAttr(default_factory=dict)

    def of(self, suite: Suite, run_id: str) -> stages.Workbench:
        """The workbench of a suite in a run; the next run starts with a new one."""
        if run_id != self._run_id:
            self._run_id, self._benches = run_id, {}
        return self._benches.setdefault(suite.name, stages.Workbench(self._project, suite))

    @property
    def _project(self) -> Project:
        root, state = Path(self.root), Path(self.state)
        if self.judged_by:
            return JudgedProject(root, state, Path(self.judged_by))
        elsewhere = [
            Path(each) if each else None for each in (self.golden, self.prompts, self.engines, self.cases)
        ]
        return HostedProject(root, state, None, self.namespace, *elsewhere)


def build_resources(project: Project, namespace: str = "", rows: str = "") -> dict[str, Any]:
    """What the assets of every suite share; with a namespace, under names that nobody else has.

    `rows` is what rows of another asset are called after, where these are evaluated.
    """
    shared = {
        WORKBENCHES: Workbenches(
            root=str(project.root),
            state=str(project.state),
            judged_by=_text(project.judged_by),
            **_elsewhere(project),
        ),
        STORE: StoreIOManager(root=str(project.state), rows=rows),
        PROGRESS: ProgressLog(),
    }
    return {resource_name(namespace, name): each for name, each in shared.items()}


def _elsewhere(project: Project) -> dict[str, Any]:
    if not isinstance(project, HostedProject):
        return {}
    return {
        "golden": _text(project.golden_folder),
        "prompts": _text(project.prompts_folder),
        "engines": _text(project.engines),
        "cases": _text(project.cases),
        "namespace": project.namespace,
    }


def _text(path: Path | None) -> str | None:
    return str(path) if path else None
