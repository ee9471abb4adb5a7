"""Which code an asset is made by, so that the UI links to that line: for a suite, where it is declared."""

import re
import sys
import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import dagster as dg

from eval_pipeline.loading import declaration
from eval_pipeline.orchestration.places import KINDS
from eval_pipeline.own_code import SUITES
from eval_pipeline.project import Project
from eval_pipeline.suite import Suite

_DECLARED = re.compile(r"SUITE\b|description:|cases:")


def suite_file(project: Project, suite: Suite) -> Path | None:
    """The file that declares a suite of a project: its suite.yaml, else its module."""
    file = declaration(project, suite.name)
    if file.is_file():
        return file
    module = sys.modules.get(f"{SUITES}.{suite.name}")
    return Path(str(module.__file__)) if module else None


def declared_at(file: Path | None) -> dict[str, Any]:
    """What lets the UI link to the line of a file that declares a suite."""
    if file is None:
        return {}
    lines = file.read_text(encoding="utf-8", errors="replace").splitlines()
    line = next((number for number, text in enumerate(lines, 1) if _DECLARED.match(text)), 1)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", dg.BetaWarning)  # without them nobody finds the file
        reference = dg.LocalFileCodeReference(file_path=str(file), line_number=line, label=file.name)
        return {"dagster/code_references": dg.CodeReferencesMetadataValue(code_references=[reference])}


def described(assets: Sequence[Any], owners: Sequence[str]) -> Sequence[Any]:
    """Assets that are of no suite's chain, with their kind, their owners, and the code that makes them."""

    def told(spec: dg.AssetSpec) -> dg.AssetSpec:
        return spec.merge_attributes(kinds={*KINDS}, owners=[*owners])

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", (dg.BetaWarning, dg.PreviewWarning))
        referred: Any = dg.with_source_code_references(assets)
        return dg.map_asset_specs(told, referred)
