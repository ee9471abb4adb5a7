"""What identifies the code that scores."""

from __future__ import annotations

import importlib
from pathlib import Path

from eval_pipeline.files import files_hash
from eval_pipeline.suite import PACKAGE, Suite

SHARED_PACKAGES = ("metrics", "language", "suites._heritage", "suites._video")
"""Folders of pure functions and word lists that suites score with."""


def scorer_version(suite: Suite) -> str:
    """The scoring code in one word: a suite's own modules, what suites share, and what sums it up."""
    here = Path(__file__).parent
    own = Path(str(importlib.import_module(f"{PACKAGE}.{suite.name}").__file__)).parent
    folders = [own, *(here.parent.joinpath(*name.split(".")) for name in SHARED_PACKAGES)]
    folders += [here, here.with_name("suite")]
    return files_hash(file for folder in folders for file in folder.rglob("*.py"))
