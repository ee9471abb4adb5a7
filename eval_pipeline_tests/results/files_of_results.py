"""Reading results in tests."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from eval_pipeline.problems import BadInput, Problems
from eval_pipeline.results import Results, read_results

FIXTURES = Path(__file__).parent / "fixtures"
WRONG = {"chad", "fiji", "mali", "peru", "kenya", "iran"}


def results(path: Path, id_field: str | None = None) -> list[Results]:
    """The evaluations of a file; what is wrong with it is raised."""
    problems = Problems()
    read = read_results(path, id_field, problems)
    problems.stop_if_any()
    return read


def problems_of(path: Path, id_field: str | None = None) -> list[str]:
    """What is wrong with a file, which must be something."""
    try:
        results(path, id_field)
    except BadInput as bad:
        return [str(each).removeprefix(str(path)) for each in bad.problems]
    raise AssertionError(f"{path} has no problem")


def lines(path: Path, rows: Iterable[Any]) -> Path:
    """A JSON Lines file of rows."""
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path
