"""`engines.yaml`: which engines there are, and which one a run uses."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

import msgspec

from eval_pipeline.documents import Violation, read_yaml
from eval_pipeline.engines import Engine
from eval_pipeline.problems import Problems, bad_value
from eval_pipeline.project import Project
from eval_pipeline.prompt import Prompt
from eval_pipeline.suite import Suite


class EmbeddedEntry(
    msgspec.Struct, frozen=True, forbid_unknown_fields=True, tag_field="kind", tag="embedded"
):
    """The suite's own classical system."""

    description: str = ""


class RecordedEntry(
    msgspec.Struct, frozen=True, forbid_unknown_fields=True, tag_field="kind", tag="recorded"
):
    """A file of outputs; `{suite}` and `{version}` in its path are filled in."""

    path: str
    description: str = ""


class EnginesFile(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The content of `engines.yaml`."""

    default: str
    engines: dict[str, EmbeddedEntry | RecordedEntry]


def read_engines(path: Path, problems: Problems) -> EnginesFile | None:
    """The engines of a project, or None where the file has problems."""

    def check(file: EnginesFile) -> Iterable[Violation]:
        for name, entry in file.engines.items():
            if isinstance(entry, RecordedEntry) and set("{}") & set(_filled(entry.path, "", "")):
                remedy = "Only {suite} and {version} are filled in."
                yield Violation(("engines", name, "path"), "has a placeholder that nobody fills in", remedy)
        if file.default not in file.engines:
            yield Violation(
                ("default",), f"{file.default!r} is not an engine", f"Engines: {', '.join(file.engines)}."
            )

    return read_yaml(path, EnginesFile, problems, check)


def _filled(path: str, suite: str, version: str) -> str:
    return path.replace("{suite}", suite).replace("{version}", version)


def open_engine(project: Project, suite: Suite, prompt: Prompt, chosen: str | None, resources: Any) -> Engine:
    """The engine that a run uses: the one chosen, else the prompt's, else the default."""
    problems = Problems()
    file = read_engines(project.engines_file, problems)
    problems.stop_if_any()
    assert file is not None
    name = chosen or prompt.front.engine or file.default
    if name not in file.engines:
        remedy = f"Engines of {project.engines_file.name}: {', '.join(file.engines)}."
        raise bad_value("engine", f"{name!r} is not an engine", remedy)
    entry = file.engines[name]
    if isinstance(entry, RecordedEntry):
        from eval_pipeline.engines.recorded import RecordedEngine

        return RecordedEngine(name, suite, project.root / _filled(entry.path, suite.name, prompt.version))
    from eval_pipeline.engines.embedded import EmbeddedEngine

    return EmbeddedEngine(name, suite, prompt.parameters, resources)
