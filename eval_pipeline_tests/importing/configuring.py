"""Configurations of promptfoo for tests."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import yaml

from eval_pipeline.importing import Imported, read_promptfoo

PLAIN: dict[str, Any] = {
    "prompts": ["Say {{ word }}"],
    "providers": ["echo"],
    "tests": [{"vars": {"word": "yes"}, "assert": [{"type": "contains", "value": "yes"}]}],
}
LAUGHS = "a: &a [x, x, x, x, x, x, x, x, x]\n" + "".join(
    f"{chr(98 + number)}: &{chr(98 + number)} [{', '.join(['*' + chr(97 + number)] * 9)}]\n"
    for number in range(9)
)
"""A few lines that stand for billions of values."""


def write_config(folder: Path, config: dict[str, Any] | str, **files: str) -> Path:
    """A configuration in a folder, with files beside it."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in files.items():
        (folder / name).write_text(text)
    path = folder / "promptfooconfig.yaml"
    path.write_text(config if isinstance(config, str) else yaml.safe_dump(config, sort_keys=False))
    return path


def imported_from(folder: Path, **fields: Any) -> Imported:
    """What a plain configuration with some fields of its own becomes."""
    return read_promptfoo(write_config(folder, {**PLAIN, **fields}))
