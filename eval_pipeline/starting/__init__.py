"""Beginning a project of one's own: from a table of cases to a suite that runs."""

from eval_pipeline.starting.columns import Column, Roles, Task, guess_roles, guess_task
from eval_pipeline.starting.new_project import (
    STATE,
    Plan,
    begin_state,
    gates_text,
    read_columns,
    sample_file,
    shared_files,
    suite_files,
    suite_name,
    suite_text,
    write_files,
)
from eval_pipeline.starting.standing_in import stand_in_answers
from eval_pipeline.starting.tasks import DESCRIPTIONS, TASKS, variables

# fmt: off
__all__ = [
    "DESCRIPTIONS", "STATE", "TASKS", "Column", "Plan", "Roles", "Task", "begin_state", "gates_text",
    "guess_roles", "guess_task", "read_columns", "sample_file", "shared_files", "stand_in_answers",
    "suite_files", "suite_name", "suite_text", "variables", "write_files",
]
# fmt: on
