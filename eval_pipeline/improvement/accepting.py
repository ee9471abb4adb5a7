"""A suggestion that a person completed becomes a golden case, or a canary of some."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import msgspec

from eval_pipeline.files import file_bytes, is_there, readable_json, remove, write_text
from eval_pipeline.files.json import json_line
from eval_pipeline.golden import read_cases, reader_of
from eval_pipeline.improvement.adding import added_to
from eval_pipeline.improvement.checking import including
from eval_pipeline.improvement.drafting import drafting_of
from eval_pipeline.improvement.suggestions import ID, Suggestion, note_accepted, read_suggestions
from eval_pipeline.metrics.text import normalize
from eval_pipeline.problems import Problems, shown_path
from eval_pipeline.project import Project
from eval_pipeline.suite import Case, Suite, suite_code
from eval_pipeline.suite.drafting import Drafting

FILL_IN = "Say what is right; [] says that nothing is."


class Accepted(NamedTuple):
    """What became of a suggestion."""

    suite: str
    suggestion: Path
    names: tuple[str, ...]
    """The new case, or the cases that forbid the canary from now on."""
    files: tuple[Path, ...]
    canary: str | None = None


class _Change(NamedTuple):
    suggestion: Suggestion
    accepted: Accepted
    contents: dict[Path, str]
    """The files that change, in the order in which they are written."""


def accept(project: Project, paths: Sequence[Path]) -> list[Accepted]:
    """Add suggestions to their golden sets: all of them, or none where anything is wrong with one."""
    problems = Problems()
    changes: list[_Change] = []
    for path, suggestion, suite in read_suggestions(project, paths, problems):
        change = None
        taken = {name for change in changes for name in change.contents}
        pending = {
            name for change in changes if change.accepted.canary is None for name in change.accepted.names
        }
        with including(problems, path):
            if suggestion.canary is not None:
                change = _canary(project, suite, path, suggestion, problems)
            else:
                change = _case(project, suite, path, suggestion, pending, problems)
        if change is None:
            continue
        if twice := taken & change.contents.keys():
            name = shown_path(sorted(twice)[0])
            problems.add(path, f"another one changes {name}, too", "Accept them one after the other.")
        changes.append(change)
    problems.stop_if_any()
    for change in changes:
        for file, text in change.contents.items():
            write_text(file, text)
        note_accepted(project, change.suggestion, change.accepted.names[0])
        remove(change.accepted.suggestion)
    return [change.accepted for change in changes]


def _case(
    project: Project, suite: Suite, path: Path, suggestion: Suggestion, pending: set[str], problems: Problems
) -> _Change | None:
    folder = project.golden(suite.name)
    drafting = drafting_of(suite, folder)
    entry = suggestion.case or {}
    before = len(problems)
    text = file_bytes(path).decode(errors="replace")
    for field in _blanks(entry, drafting):
        line = json_line(text, ("case", *field))
        shown = ".".join(("case", *map(str, field)))
        problems.add(path, "is blank", FILL_IN, line=line, field=shown)
    if not entry or len(problems) > before:
        if not entry:
            problems.add(path, "holds no case", "Suggest it anew.", field="case")
        return None
    whole = {name: value for name, value in entry.items() if value is not None}
    target = _target(drafting, suite, folder, whole, path, problems)
    if target is None:
        return None
    record = {name: value for name, value in whole.items() if name not in drafting.aside}
    contents = _contents(drafting, target, record, path, problems)
    case = _read_back(suite, folder, target, contents, drafting, record, path, text, problems)
    if case is None:
        return None
    known = {each.case.id: each.file for each in read_cases(suite, folder, problems)}
    if case.id in known or case.id in pending:
        where = known.get(case.id, "another suggestion")
        problems.add(path, f"{case.id!r} is also the id of a case in {where}", "Give it an id of its own.")
    elif drafting.file and any(is_there(file) for file in contents):
        problems.add(path, f"{shown_path(target)} is there already", "Give the case another id.")
    return _Change(suggestion, Accepted(suite.name, path, (case.id,), tuple(contents)), contents)


def _blanks(entry: dict[str, Any], drafting: Drafting) -> Iterator[tuple[str | int, ...]]:
    """Where a person has yet to say what is right."""
    needed = (drafting.id, *drafting.expected) if drafting.id else drafting.expected
    for name in dict.fromkeys((*entry, *needed)):
        if name in drafting.optional:
            continue
        value = entry.get(name)
        if value is None or value == {}:
            yield (name,)
        else:
            yield from _blank_texts(value, (name,))


def _blank_texts(value: Any, path: tuple[str | int, ...]) -> Iterator[tuple[str | int, ...]]:
    if isinstance(value, str) and not value.strip():
        yield path
    elif isinstance(value, dict):
        for name, each in value.items():
            yield from _blank_texts(each, (*path, name))
    elif isinstance(value, list):
        for index, each in enumerate(value):
            if not isinstance(each, str):  # a document may have blank lines
                yield from _blank_texts(each, (*path, index))


def _target(
    drafting: Drafting, suite: Suite, folder: Path, entry: dict[str, Any], path: Path, problems: Problems
) -> Path | None:
    """The file that the case belongs into."""
    if not drafting.file:
        return next(iter(_declared_files(suite, folder, problems)), None)
    names = {name: entry[name] for name in (drafting.id, *drafting.aside)}
    for name, value in names.items():
        if not isinstance(value, str) or not ID.fullmatch(value):
            remedy = "Use letters, digits, dots, - and _: it becomes the name of a file."
            problems.add(path, f"{value!r} cannot be used", remedy, field=f"case.{name}")
            return None
    return folder / drafting.file.format(**{**names, "id": names[drafting.id]})


def _declared_files(suite: Suite, folder: Path, problems: Problems) -> list[Path]:
    from eval_pipeline.declarative import case_files, read_declaration

    return case_files(folder, read_declaration(folder).files, problems)


def _contents(
    drafting: Drafting, target: Path, record: dict[str, Any], path: Path, problems: Problems
) -> dict[Path, str]:
    """The files of the golden set that change, with what they hold then."""
    if not drafting.file:
        return {target: added_to(target, record, path, problems)}
    if drafting.contents is None:
        return {target: readable_json(record) + "\n"}
    return {target.with_suffix(suffix): text for suffix, text in drafting.contents(record).items()}


def _read_back(
    suite: Suite,
    folder: Path,
    target: Path,
    contents: dict[Path, str],
    drafting: Drafting,
    record: dict[str, Any],
    path: Path,
    text: str,
    problems: Problems,
) -> Case[Any, Any] | None:
    """The case as the suite's own reader sees it; what is wrong is said of the suggestion."""
    found = Problems()
    with _aside(folder, target, contents) as copy, suite_code(suite.name):
        cases = [case for case, _ in reader_of(suite).read(copy, found)]
    for problem in found:
        field = problem.field.partition(".")[2] if problem.field[:1] == "[" else problem.field
        line = json_line(text, ("case", *_path(field)))
        problems.add(
            path, problem.message, problem.remedy, line=line, field=f"case.{field}" if field else "case"
        )
    if found:
        return None
    if not cases:
        problems.add(path, "gives no case", "See the suite's golden format.", field="case")
        return None
    return cases[-1]


@contextmanager
def _aside(folder: Path, target: Path, contents: dict[Path, str]) -> Iterator[Path]:
    """Copies of the files in a folder that is laid out as the golden folder is, its resources beside."""
    with tempfile.TemporaryDirectory() as place:
        copy = Path(place) / "golden" / folder.name
        copy.mkdir(parents=True)
        if is_there(folder / "resources"):
            (copy / "resources").symlink_to((folder / "resources").resolve())
        for file, text in contents.items():
            inside = copy / "cases" / file.name
            write_text(inside, text)
        yield copy / "cases" / target.name


def _path(field: str) -> Iterator[str | int]:
    """The steps of a field as problems name it: `mentions[0].start`."""
    for part in field.replace("[", ".[").split("."):
        if part.startswith("["):
            yield int(part.strip("[]"))
        elif part:
            yield part


def _canary(
    project: Project, suite: Suite, path: Path, suggestion: Suggestion, problems: Problems
) -> _Change | None:
    """The golden cases that forbid a name from now on."""
    folder = project.golden(suite.name)
    forbidden = drafting_of(suite, folder).forbidden
    if not forbidden or not suggestion.canary:
        problems.add(path, f"{suite.name} has no canaries", "Drop the suggestion.", field="canary")
        return None
    text = file_bytes(path).decode(errors="replace")
    if not suggestion.forbid_in:
        remedy = f"List the golden cases that are to forbid it; near ones: {suggestion.near or 'none'}."
        problems.add(path, "is blank", remedy, line=json_line(text, ("forbid_in",)), field="forbid_in")
        return None
    files = {each.case.id: Path(each.file) for each in read_cases(suite, folder, problems)}
    contents: dict[Path, str] = {}
    for name in dict.fromkeys(suggestion.forbid_in):
        if name not in files:
            problems.add(
                path, f"{name!r} is not a golden case", "See the ids in its golden files.", field="forbid_in"
            )
            continue
        file = files[name]
        entry = msgspec.json.decode(file_bytes(file))
        known = entry.get(forbidden) or ()
        if normalize(suggestion.canary) in map(normalize, known):
            continue
        entry[forbidden] = [*known, suggestion.canary]
        contents[file] = readable_json(entry) + "\n"
        found = Problems()
        with _aside(folder, file, {file: contents[file]}) as copy:
            for _ in reader_of(suite).read(copy, found):
                pass
        for problem in found:
            problems.add(
                path, f"{name}: {problem.field}: {problem.message}", problem.remedy, field="forbid_in"
            )
    if not contents and files.keys() >= set(suggestion.forbid_in):
        problems.add(path, "all of these cases forbid it already", "Drop the suggestion.", field="forbid_in")
    names = tuple(dict.fromkeys(suggestion.forbid_in))
    accepted = Accepted(suite.name, path, names, tuple(contents), suggestion.canary)
    return _Change(suggestion, accepted, contents)
