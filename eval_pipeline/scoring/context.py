"""What scoring may use besides cases and answers: settings, resources, references and models."""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import msgspec

from eval_pipeline.files import (
    Violation,
    content_hash,
    files_below,
    files_hash,
    is_there,
    read_yaml,
    shown_field,
)
from eval_pipeline.files.structs import mismatches
from eval_pipeline.gates import MeasuredModel
from eval_pipeline.golden import ANSWERS_FILE
from eval_pipeline.problems import BadInput, Problems, without_problems
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


def check_settings(suite: Suite, folder: Path, problems: Problems) -> None:
    """Say what is wrong with the settings of a golden folder."""
    try:
        _settings(suite, _first([folder], SETTINGS_FILE), {})
    except BadInput as bad:
        problems.include(bad)


def _first(folders: Sequence[Path], name: str) -> Path | None:
    return next((folder / name for folder in folders if is_there(folder / name)), None)


def _hashed(path: Path | None) -> str:
    if path is None:
        return ""
    files = without_problems(lambda each: files_below(path, each)) if path.is_dir() else [path]
    return files_hash(file for file in files if file.name != Path(ANSWERS_FILE).name)


def _settings(suite: Suite, file: Path | None, given: Mapping[str, Any]) -> Any:
    """The settings of a file and those given, which win; what is wrong is named where it was said."""
    problems = Problems()

    def check(stored: Any) -> Iterator[Violation]:
        merged = {**stored, **given} if isinstance(stored, dict) else stored
        return (each for each in mismatches(merged, suite.settings) if not _is_given(each, given))

    stored: Any = (read_yaml(file, Any, problems, check) if file else None) or {}
    merged = {**stored, **given}
    for each in mismatches(merged, suite.settings):
        if _is_given(each, given) or not file:
            problems.add("input", each.message, each.remedy, field=shown_field(each.path))
    problems.stop_if_any()
    return msgspec.convert(merged, suite.settings)


def _is_given(violation: Violation, given: Mapping[str, Any]) -> bool:
    return bool(violation.path) and violation.path[0] in given
