"""Beginning a project of one's own: from a table of cases to a suite that runs."""

from eval_pipeline.starting.columns import Column, Roles, Task, guess_roles, guess_task
from eval_pipeline.starting.new_project import (
    STATE,
    Plan,
    read_columns,
    sample_file,
    shared_files,
    suite_files,
    suite_name,
    suite_text,
    write_files,
)
from eval_pipeline.starting.tasks import TASKS

# fmt: off
__all__ = [
    "STATE", "TASKS", "Column", "Plan", "Roles", "Task", "guess_roles", "guess_task", "read_columns",
    "sample_file", "shared_files", "suite_files", "suite_name", "suite_text", "write_files",
]
# fmt: on
