"""How a suite's golden entries are drafted: by its own module, its suite.yaml, or the usual format."""

from __future__ import annotations

import importlib
import importlib.util
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import msgspec

from eval_pipeline import suites
from eval_pipeline.declarative import DeclaredSuite, Task, read_declaration
from eval_pipeline.problems import bad_value
from eval_pipeline.suite import Suite
from eval_pipeline.suite.drafting import Drafting


def drafting_of(suite: Suite, folder: Path) -> Drafting:
    """How requests of a suite become drafts of golden entries.

    No suite refers to its module `drafting`, so that it is no part of what scores.
    """
    if isinstance(suite, DeclaredSuite):
        return _declared(folder)
    package = f"{suites.__name__}.{suite.name}"
    if importlib.util.find_spec(package) and importlib.util.find_spec(f"{package}.drafting"):
        drafting: Drafting = importlib.import_module(f"{package}.drafting").DRAFTING
        return drafting
    if suite.reader is not None:
        remedy = "Say in a module `drafting` beside the suite, as DRAFTING, how a golden entry is drafted."
        raise bad_value("suite", f"{suite.name} has a golden format of its own", remedy)
    return Drafting(
        text=_text_field(suite.input),
        given=lambda fields: {"input": dict(fields) or None},
        expected=("expected",),
        optional=("attributes",),
    )


def draft_of(drafting: Drafting, case_id: str, fields: Mapping[str, Any]) -> dict[str, Any]:
    """A golden entry in the suite's own fields, blank where a person must say what is right."""
    entry: dict[str, Any] = {drafting.id: case_id} if drafting.id else {}
    entry |= drafting.given(fields)
    return entry | {name: None for name in (*drafting.expected, *drafting.optional) if name not in entry}


def _declared(folder: Path) -> Drafting:
    declared = read_declaration(folder)
    columns = Task(declared.answer, declared.scores).columns
    taken = {*declared.inputs.values(), declared.id}
    expected = tuple(dict.fromkeys(column for column in columns if column not in taken))
    return Drafting(
        text=next(iter(declared.inputs), ""),
        given=lambda fields: {column: fields.get(name) for name, column in declared.inputs.items()},
        expected=expected,
        optional=tuple(name for name in declared.attributes if name not in (*expected, *taken)),
        id=declared.id,
        file="",
    )


def _text_field(input_type: type[Any]) -> str:
    """The field that a request in plain text is: the first one that holds text."""
    fields = msgspec.structs.fields(input_type)
    return next((each.name for each in fields if each.type is str), fields[0].name if fields else "text")
