"""What scoring may use besides cases and answers: settings, resources, references and models."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import msgspec

from eval_pipeline.files import (
    content_hash,
    files_below,
    files_hash,
    is_there,
    read_yaml,
    shown_field,
    violations_of,
)
from eval_pipeline.gates import MeasuredModel
from eval_pipeline.golden import ANSWERS_FILE
from eval_pipeline.problems import Problems, without_problems
from eval_pipeline.suite import Context, Suite, suite_code

RESOURCES = "resources"
REFERENCES = "references"
SETTINGS_FILE = "settings.yaml"


def measured_models(suite: Suite, context: Context) -> tuple[MeasuredModel, ...]:
    """The models behind a suite's metrics, with their measured accuracy."""
    with suite_code(suite.name):
        models = [*suite.models, *(suite.trained(context) if suite.trained else ())]
        models += [context.judge.model] if context.judge else []
        return tuple(MeasuredModel(model.name, model.metrics, *model.measure()) for model in models)


def context_for(suite: Suite, *folders: Path, settings: Mapping[str, Any] | None = None) -> Context:
    """What scoring may use: a suite's settings, resources and references.

    Each is taken from the first of the golden folders that has it; `settings` given here win.
    """
    resources, references = (_first(folders, name) for name in (RESOURCES, REFERENCES))
    with suite_code(suite.name):
        loaded = suite.resources(resources) if suite.resources and resources else None
        known = suite.references(references) if suite.references and references else None
    return Context(
        settings=_settings(suite, _first(folders, SETTINGS_FILE), settings or {}),
        resources=loaded,
        references=known,
        hash=content_hash(
            [
                settings or {},
                *(_hashed(_first(folders, name)) for name in (SETTINGS_FILE, REFERENCES)),
                *(model.name for model in suite.models),
            ]
        ),
    )


def _first(folders: Sequence[Path], name: str) -> Path | None:
    return next((folder / name for folder in folders if is_there(folder / name)), None)


def _hashed(path: Path | None) -> str:
    if path is None:
        return ""
    files = without_problems(lambda each: files_below(path, each)) if path.is_dir() else [path]
    return files_hash(file for file in files if file.name != Path(ANSWERS_FILE).name)


def _settings(suite: Suite, file: Path | None, given: Mapping[str, Any]) -> Any:
    problems = Problems()
    stored = read_yaml(file, dict[str, Any], problems) if file else None
    merged = {**(stored or {}), **given}
    for violation in violations_of(merged, suite.settings):
        problems.add(file or "input", violation.message, violation.remedy, field=shown_field(violation.path))
    problems.stop_if_any()
    return msgspec.convert(merged, suite.settings)
