"""What identifies a golden set."""

from collections.abc import Iterable, Mapping
from pathlib import Path

from eval_pipeline.files import content_hash, files_below, files_hash
from eval_pipeline.problems import without_problems


def golden_hash(case_hashes: Iterable[str], resources: Path | None) -> str:
    """What identifies a golden set: its cases in any order, and its resources."""
    return content_hash([sorted(case_hashes), resources_hash(resources)])


def inputs_hash(input_hashes: Mapping[str, str], resources: Path | None) -> str:
    """What identifies the questions of a golden set, whatever the expectations: inputs and resources."""
    return content_hash([input_hashes, resources_hash(resources)])


def resources_hash(resources: Path | None) -> str:
    """What identifies a golden set's resources."""
    return files_hash(without_problems(lambda each: files_below(resources, each))) if resources else ""


def resources_folder(golden: Path) -> Path | None:
    """The resources of a golden folder, if it has any."""
    resources = golden / "resources"
    return resources if resources.is_dir() else None
