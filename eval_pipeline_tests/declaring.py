"""Projects whose suite is a file, and what their scorers say of outputs."""

from __future__ import annotations

import importlib
import json
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from unittest import mock

import yaml

from eval_pipeline.answers import Answer
from eval_pipeline.declarative import KINDS, Kind, Scorer, Task, input_type
from eval_pipeline.declarative.catalogue import scorer_of
from eval_pipeline.problems import BadInput
from eval_pipeline.project import Project
from eval_pipeline.suite import Batch, Case, Context, Items

NAME = "tickets"
CASES = [
    {"id": "a", "text": "I was charged twice", "language": "en", "label": "billing"},
    {"id": "b", "text": "The app crashes", "language": "en", "label": "bug"},
    {"id": "c", "text": "Die App stürzt ab", "language": "de", "label": "bug"},
    {"id": "d", "text": "Guten Tag", "language": "de", "label": "other"},
]
CLASSIFIER: dict[str, Any] = {
    "description": "Support tickets into three categories",
    "cases": "cases.jsonl",
    "id": "id",
    "attributes": ["language"],
    "answer": {"kind": "label", "of": ["billing", "bug", "other"]},
    "scores": [{"equals": "{{ label }}"}],
}


def declare(root: Path, suite: dict[str, Any] | str, rows: Sequence[dict[str, Any]] = CASES) -> Project:
    """A project with one suite, its cases in JSON Lines."""
    folder = root / "golden" / NAME
    folder.mkdir(parents=True, exist_ok=True)
    (root / "engines.yaml").write_text("default: recorded\nengines: {recorded: {kind: recorded}}\n")
    text = suite if isinstance(suite, str) else yaml.safe_dump(suite, sort_keys=False, allow_unicode=True)
    (folder / "suite.yaml").write_text(text)
    (folder / "cases.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    return Project(root, root / ".eval")


@contextmanager
def importing_from(root: Path, *modules: str) -> Iterator[None]:
    """Let modules of a project be imported, and forget them afterwards."""
    with mock.patch.object(sys, "path", [*sys.path, str(root)]):
        importlib.invalidate_caches()
        try:
            yield
        finally:
            for module in modules:
                sys.modules.pop(module, None)


def kind_of(kind: str | dict[str, Any]) -> Kind:
    """A kind of answer, by name or with its settings."""
    given = {"kind": kind} if isinstance(kind, str) else dict(kind)
    return KINDS[given.pop("kind")](
        **{name: tuple(each) if isinstance(each, list) else each for name, each in given.items()}
    )


def scorer(entry: dict[str, Any], folder: Path = Path()) -> Scorer:
    """An entry of `scores`."""
    return scorer_of(entry, folder)


def scored(
    entries: Sequence[dict[str, Any]],
    rows: Sequence[dict[str, Any]],
    outputs: Sequence[Any],
    kind: str | dict[str, Any] = "text",
    **figures: Any,
) -> tuple[Task, Batch]:
    """What scorers say of outputs; `figures` are those of every answer."""
    task = Task(kind_of(kind), [scorer(entry) for entry in entries])
    given = input_type(("text",))
    cases = [
        Case(str(number), given(text=row.get("text", "")), {name: row.get(name) for name in task.columns})
        for number, row in enumerate(rows)
    ]
    items = Items(cases, outputs, 1, lambda index: Answer(str(index), text=str(outputs[index]), **figures))
    return task, task.score(items, Context())


def value(
    entry: dict[str, Any],
    row: dict[str, Any],
    output: Any,
    kind: str | dict[str, Any] = "text",
    **figures: Any,
) -> float | None:
    """What one scorer says of one output; None where it says nothing."""
    task, batch = scored([entry], [row], [output], kind, **figures)
    (name,) = task.scores
    return float(batch.counts[name][0]) if batch.counts[f"{name}:defined"][0] else None


def passes(
    entry: dict[str, Any],
    row: dict[str, Any],
    output: Any,
    kind: str | dict[str, Any] = "text",
    **figures: Any,
) -> bool:
    """Whether a case passes."""
    return bool(scored([entry], [row], [output], kind, **figures)[1].counts["all_passed"][0])


def problems_of(bad: BadInput) -> list[str]:
    """Problems as lines."""
    return [str(each) for each in bad.problems]
