"""A suite that a file declares: the same object that a Python suite is."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from eval_pipeline.declarative.cases import CaseFiles, case_files
from eval_pipeline.declarative.file import SUITE_FILE, read_declaration
from eval_pipeline.declarative.source import source_of
from eval_pipeline.declarative.task import Task, input_type
from eval_pipeline.problems import Problems
from eval_pipeline.suite import Suite


@dataclass(frozen=True, eq=False)
class DeclaredSuite(Suite):
    """A suite from a suite.yaml, with the Python module that says the same."""

    source: str = ""
    """What identifies its scorer: the module's syntax, and the code that it names."""
    root: Path = Path()
    """The project, whose modules it may name."""


def declared_names(golden: Path) -> list[str]:
    """The suites that golden folders declare."""
    return sorted(file.parent.name for file in golden.glob(f"*/{SUITE_FILE}"))


def read_suite(folder: Path) -> DeclaredSuite:
    """The suite that a golden folder declares; every problem of its file is raised at once."""
    declared = read_declaration(folder)
    task = Task(declared.answer, declared.scores)
    return DeclaredSuite(
        name=declared.name,
        description=declared.description,
        reader=CaseFiles(declared.files, task, declared.inputs, declared.id, declared.attributes),
        input=input_type(declared.inputs),
        expected=dict,
        output=task.output,
        score=task.score,
        metrics=task.metrics,
        headline=task.headline,
        case_passes=task.passes,
        errored=task.errored,
        models=task.models,
        groups=declared.attributes,
        reporting=task.reporting,
        probing=task.probing,
        source=source_of(declared),
        root=folder.resolve().parent.parent,
    )


def files_of_cases(folder: Path, *places: Path) -> set[Path]:
    """The files of cases that a golden folder declares, as they are in golden folders of that name."""
    patterns = read_declaration(folder, loading=False).files
    return {file for place in places for file in case_files(place, patterns, Problems())}


def module_in(folder: Path) -> str:
    """The Python module that says what a golden folder declares; no code of the project is run for it."""
    return source_of(read_declaration(folder, loading=False))
