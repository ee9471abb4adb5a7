"""What `dg scaffold defs eval_pipeline.EvalSuiteComponent <name>` writes: a suite that runs at once."""

import csv
import io
import tempfile
from pathlib import Path

import dagster as dg
from dagster.components.component_scaffolding import scaffold_component
from pydantic import BaseModel, Field

from eval_pipeline.declarative import SUITE_FILE
from eval_pipeline.files import write_text
from eval_pipeline.loading import shipped_names
from eval_pipeline.problems import BadInput
from eval_pipeline.project import MARKER
from eval_pipeline.starting import (
    DESCRIPTIONS,
    STATE,
    TASKS,
    Plan,
    Task,
    guess_roles,
    read_columns,
    sample_file,
    shared_files,
    suite_files,
    suite_name,
    write_files,
)

CASES = 5


class ScaffoldParams(BaseModel):
    """What a person may choose."""

    task: Task = Field(default=TASKS[0], description=f"The kind of task: {', '.join(TASKS)}.")


class EvalSuiteScaffolder(dg.Scaffolder[ScaffoldParams]):
    """Writes a suite.yaml, five cases, gates, a prompt, engines, and the defs.yaml that names the suite."""

    @classmethod
    def get_scaffold_params(cls) -> type[ScaffoldParams]:
        """What a person may choose."""
        return ScaffoldParams

    def scaffold(self, request: dg.ScaffoldRequest[ScaffoldParams]) -> None:
        """Write the files, none of them over one that is there."""
        folder, task = request.target_path, request.params.task
        folder = folder.parent if request.append else folder
        name = suite_name(folder.name, shipped_names())
        with tempfile.TemporaryDirectory() as temporary:
            cases = Path(temporary) / "cases.csv"
            cases.write_text(_some_of(sample_file(task).read_text(encoding="utf-8")), encoding="utf-8")
            columns = read_columns(cases)
            plan = Plan(name, task, guess_roles(columns, {}), columns, cases, DESCRIPTIONS[task])
            contents, _ = suite_files(plan)
            try:
                write_files(folder, {**contents, MARKER: shared_files(folder)[MARKER]})
            except BadInput as bad:
                raise dg.DagsterInvalidDefinitionError("\n".join(map(str, bad.problems))) from None
        scaffold_component(request, {"suite": f"golden/{name}/{SUITE_FILE}"})
        if request.project_root:  # Git is not to see what models answered
            write_text(request.project_root / STATE / ".gitignore", "*\n")


def _some_of(table: str) -> str:
    """A few rows of a table of cases, from all over it."""
    header, *rows = csv.reader(io.StringIO(table))
    every = max(len(rows) // CASES, 1)
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerows([header, *rows[::every][:CASES]])
    return text.getvalue()
