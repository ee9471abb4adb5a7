"""Coming from another program: its configuration as a suite, and a list of what was left behind."""

from eval_pipeline.importing.places import Leftovers, Place
from eval_pipeline.importing.project import project_files, prompt_texts, stop_if_there, suite_files
from eval_pipeline.importing.promptfoo import Imported, read_promptfoo
from eval_pipeline.importing.providers import Suggested

# fmt: off
__all__ = [
    "Imported", "Leftovers", "Place", "Suggested", "project_files", "prompt_texts", "read_promptfoo",
    "stop_if_there", "suite_files",
]
# fmt: on
