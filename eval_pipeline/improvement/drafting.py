"""How a suite's golden entries are drafted: by its own module, its suite.yaml, or the usual format."""

from __future__ import annotations

import importlib
import importlib.util
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

import msgspec

from eval_pipeline import suites
from eval_pipeline.declarative import DeclaredSuite, Task, read_declaration
from eval_pipeline.files import file_bytes
from eval_pipeline.golden import GoldenCase, read_cases
from eval_pipeline.problems import BadInput, Problems, bad_value
from eval_pipeline.suite import Suite
from eval_pipeline.suite.drafting import Drafting

_JSON = (".json", ".jsonl")
_ABSENT = object()


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
        return _as_first_case(suite, folder)
    return Drafting(
        text=_text_field(suite.input),
        given=lambda fields: {"input": dict(fields) or None},
        expected=("expected",),
        optional=("attributes",),
    )


def _as_first_case(suite: Suite, folder: Path) -> Drafting:
    """A golden entry like the first one: what its fields share with its input is given, the rest is blank.

    A person has to fill in what all cases have; what only some have may stay blank.
    """
    cases = list(read_cases(suite, folder, Problems()))
    files = [file for file in dict.fromkeys(Path(each.file) for each in cases) if file.suffix in _JSON]
    if cases and Path(cases[0].file) in files:
        entries = [entry for file in files for entry in _objects(file)]
        for entry in entries:
            if drafting := _like(entry, cases[0], entries):
                return drafting
    remedy = "Say in a module `drafting` beside the suite, as DRAFTING, how a golden entry is drafted."
    raise bad_value("suite", f"{suite.name} has a golden format of its own", remedy)


def _like(
    entry: Mapping[str, Any], case: GoldenCase, entries: Sequence[Mapping[str, Any]]
) -> Drafting | None:
    """How to draft entries like one, if it is that of a case; the others say what all have."""
    given, suffix = msgspec.to_builtins(case.case.input), Path(case.file).suffix
    own = [name for name, value in entry.items() if value == case.case.id]
    taken = [name for name, value in entry.items() if given.get(name, _ABSENT) == value]
    if not own or not taken:
        return None
    alike = [each for each in entries if own[0] in each]
    others = [name for name in entry if name not in (own[0], *taken)]
    expected = tuple(name for name in others if all(name in each for each in alike))
    return Drafting(
        text=next((name for name in taken if isinstance(entry[name], str)), taken[0]),
        given=lambda fields: {name: fields.get(name) for name in taken},
        expected=expected,
        optional=tuple(name for name in others if name not in expected),
        id=own[0],
        file=f"cases/{{id}}{suffix}",
        contents=lambda record: {suffix: f"{msgspec.json.encode(record).decode()}\n"},
    )


def _objects(path: Path) -> Iterator[dict[str, Any]]:
    """The objects of a JSON or JSON Lines file, as far as they can be read."""
    data = file_bytes(path)
    with suppress(msgspec.DecodeError):
        whole = [msgspec.json.decode(line) for line in data.splitlines() if line.strip()]
        yield from (each for each in whole if isinstance(each, dict))
        return
    with suppress(msgspec.DecodeError):
        content = msgspec.json.decode(data)
        yield from (
            each for each in (content if isinstance(content, list) else [content]) if isinstance(each, dict)
        )


def can_be_drafted(suite: Suite, folder: Path) -> bool:
    """Whether anybody knows how golden entries of a suite look."""
    try:
        drafting_of(suite, folder)
    except BadInput:
        return False
    return True


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
