"""What the assets of every suite share: a workbench each, the store, and progress in the log."""

from pathlib import Path
from typing import Any

import dagster as dg
from pydantic import Field, PrivateAttr

from eval_pipeline import stages
from eval_pipeline.orchestration.io_manager import StoreIOManager
from eval_pipeline.orchestration.progress import ProgressLog
from eval_pipeline.project import JudgedProject, Project
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
        return JudgedProject(root, state, Path(self.judged_by)) if self.judged_by else Project(root, state)


def build_resources(project: Project) -> dict[str, Any]:
    """What the assets of every suite share."""
    return {
        WORKBENCHES: Workbenches(
            root=str(project.root),
            state=str(project.state),
            judged_by=str(project.judged_by) if project.judged_by else None,
        ),
        STORE: StoreIOManager(root=str(project.state)),
        PROGRESS: ProgressLog(),
    }
