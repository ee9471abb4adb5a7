"""A suite at work: everything that its evaluation uses, each part loaded once."""

import uuid
from functools import cached_property
from pathlib import Path

from eval_pipeline.asking import judged_context, share_judge
from eval_pipeline.engines import Purse
from eval_pipeline.gates import GATES_FILE, Gate, MeasuredModel, read_gates, read_operation_gates
from eval_pipeline.problems import without_problems
from eval_pipeline.project import Project, cases_of
from eval_pipeline.scoring import measured_models
from eval_pipeline.store import Store
from eval_pipeline.suite import Context, Suite


class Workbench:
    """A suite of a project, with its store, gates and scoring context. Use one for each evaluation."""

    def __init__(self, project: Project, suite: Suite, shared_run: str = "") -> None:
        self.project = project
        self.suite = suite
        self.store = Store(project.state)
        self.shared_run = shared_run
        """The run whose shards are worked on here; blank where all of it is."""
        self.purses: dict[str, Purse] = {}
        """What is left of each engine's budget."""

    @property
    def golden_folder(self) -> Path:
        """Where the golden set and all that belongs to it is."""
        return self.project.golden(self.suite.name)

    @property
    def cases_folder(self) -> Path:
        """Where the golden cases are: in the golden folder, unless another asset brings them."""
        return cases_of(self.project, self.suite.name)

    @property
    def rules_folder(self) -> Path:
        """Where gates, sign-off, approvals and baselines are."""
        return self.project.rules(self.suite.name)

    @cached_property
    def context(self) -> Context:
        """What scoring may use, the judge included."""
        context = judged_context(self.project, self.suite, self.golden_folder)
        share_judge(context, self.shared_run)
        return context

    @cached_property
    def run(self) -> str:
        """What the evaluation is called among those who work on its shards."""
        return self.shared_run or uuid.uuid4().hex

    @cached_property
    def models(self) -> tuple[MeasuredModel, ...]:
        """The models behind metrics, with their measured accuracy."""
        return measured_models(self.suite, self.context)

    @cached_property
    def gates(self) -> dict[str, Gate]:
        """The suite's gates."""
        file = self.rules_folder / GATES_FILE
        return without_problems(lambda problems: read_gates(self.suite, file, problems))

    @cached_property
    def operation_gates(self) -> dict[str, Gate]:
        """The suite's limits on latency and cost."""
        return read_operation_gates(self.rules_folder / GATES_FILE)
