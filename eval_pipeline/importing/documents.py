"""Files of another program: YAML and JSON as plain values that know their lines. Nothing is run or fetched.

YAML is read as JavaScript's parser reads it: `yes` and `on` are texts. Anchors and merged keys are followed,
up to a number of values: a few lines of them can stand for gigabytes.
"""

from __future__ import annotations

import glob
import re
from collections.abc import Iterator, Mapping
from itertools import islice
from pathlib import Path
from typing import Any

from eval_pipeline.files import LARGEST_YAML, read_bytes
from eval_pipeline.importing.places import Leftovers, NotTaken, Place
from eval_pipeline.problems import Problems

MOST_VALUES = 100_000
DEEPEST = 100
MOST_FILES = 200
LARGEST_TEXT = 2**20
LARGEST_ALL = 64 * 2**20
"""Bytes of all files that a configuration names."""
FILE = "file://"
REMOTE = re.compile(r"(?:https?|huggingface|az|s3|gs|portkey|langfuse|helicone)://")
CODE = (
    ".js", ".mjs", ".cjs", ".ts", ".mts", ".cts", ".py", ".rb", ".go", ".sh", ".bash", ".exe", ".bat",
    ".cmd", ".ps1", ".pl",
)  # fmt: skip
_CALLED = re.compile(r":[A-Za-z_][\w.]*$")
_DATE = re.compile(r"\d{4}-\d\d?-\d\d?(?:[Tt ].*)?")
_INTEGER = re.compile(r"[-+]?(?:0x[0-9a-fA-F]+|0o[0-7]+|0b[01]+|[0-9]+)")
_FLOAT = re.compile(r"[-+]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][-+]?[0-9]+)?")
_FLAGS = {"true": True, "True": True, "TRUE": True, "false": False, "False": False, "FALSE": False}
_NOTHING = ("", "~", "null", "Null", "NULL")
_TAG = "tag:yaml.org,2002:"


class Fields(dict[str, Any]):
    """An object, and where its fields stand."""

    def __init__(self, place: Place) -> None:
        super().__init__()
        self.place = place
        self.lines: dict[str, Place] = {}

    def at(self, name: str) -> Place:
        """Where a field stands; the object itself where there is none."""
        return self.lines.get(name, self.place)

    def put(self, name: str, value: Any, place: Place) -> None:
        """Add a field, or replace one."""
        self[name] = value
        self.lines[name] = place


class Items(list[Any]):
    """A list, and where its elements stand."""

    def __init__(self, place: Place) -> None:
        super().__init__()
        self.place = place
        self.lines: list[Place] = []

    def put(self, value: Any, place: Place) -> None:
        """Add an element."""
        self.append(value)
        self.lines.append(place)

    def placed(self) -> Iterator[tuple[Any, Place]]:
        """The elements with their places."""
        return zip(self, self.lines, strict=True)


class Folder:
    """The folder of a configuration: what it names is read from there, and from nowhere else."""

    def __init__(self, root: Path, leftovers: Leftovers) -> None:
        self.root = root.resolve()
        self.leftovers = leftovers
        self._read = 0

    def named(self, text: str) -> list[Path]:
        """The files that `file://…` names, `*` included; raises `NotTaken`."""
        plain = text.removeprefix(FILE)
        if "{{" in plain or "{%" in plain:
            raise NotTaken("is a template of a path", "Write the path out.")
        if Path(_CALLED.sub("", plain)).suffix.lower() in CODE:
            raise NotTaken("is code, which is never run", "Write what it returns.")
        if plain.startswith("/") or ".." in Path(plain).parts:
            raise self._outside(text)
        files = self._matching(plain)
        if not files or not all(map(_is_there, files)):
            raise NotTaken(f"there is no file {plain!r}", "Put it there, or remove the line.")
        if not all(path.resolve().is_relative_to(self.root) for path in files):
            raise self._outside(text)
        if len(files) > MOST_FILES:
            raise NotTaken(f"names {len(files):,} files; the limit is {MOST_FILES}", "Name fewer.")
        return files

    def _matching(self, plain: str) -> list[Path]:
        if not glob.has_magic(plain) or _is_there(self.root / plain):
            return [self.root / plain]
        try:
            found = sorted(islice(self.root.glob(plain), 10 * MOST_FILES))
        except (ValueError, OSError, NotImplementedError) as error:
            raise NotTaken(f"{plain!r} is no pattern of files: {error}", "Correct it.") from None
        return [path for path in found if _is_there(path)]

    def text(self, path: Path) -> str:
        """The text of one of these files; raises `NotTaken`."""
        problems = Problems()
        data = read_bytes(path, LARGEST_TEXT, problems, "Shorten it")
        for each in problems:
            raise NotTaken(f"{each.file}: {each.message}", each.remedy)
        self._read += len(data or b"")
        if self._read > LARGEST_ALL:
            raise NotTaken(f"its files have more than {LARGEST_ALL:,} bytes", "Name fewer.")
        try:
            return (data or b"").decode("utf-8-sig")
        except UnicodeDecodeError:
            raise NotTaken(f"{path.name} is not UTF-8", "Save it as UTF-8.") from None

    def document(self, path: Path) -> Any:
        """The values of one of these files; raises `NotTaken`."""
        problems = Problems()
        value = parse_document(self.text(path), path, self.leftovers, problems)
        for each in problems:
            raise NotTaken(f"{each.file}:{each.line}: {each.message}", each.remedy)
        return value

    def _outside(self, text: str) -> NotTaken:
        return NotTaken(f"{text} leads out of the configuration's folder", "Copy the file into it.")


def _is_there(path: Path) -> bool:
    try:
        return path.is_file()
    except (OSError, ValueError):
        return False


def read_document(path: Path, leftovers: Leftovers, problems: Problems) -> Any:
    """The values of a YAML or JSON file; None where it has problems."""
    data = read_bytes(
        path, LARGEST_YAML, problems, "Put tests into a table beside it: tests: file://tests.csv"
    )
    if data is None:
        return None
    try:
        return parse_document(data.decode("utf-8-sig"), path, leftovers, problems)
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        problems.add(path, f"byte {error.start} is not UTF-8", "Save the file as UTF-8.", line=line)
        return None


def parse_document(text: str, path: Path, leftovers: Leftovers, problems: Problems) -> Any:
    """The values of a YAML or JSON text; None where it has problems."""
    import yaml

    loader = type("Loader", (yaml.CSafeLoader,), {"yaml_implicit_resolvers": {}})
    try:
        _stop_if_deep(yaml.parse(text, loader), path, problems)
        node = yaml.compose(text, loader)
        return _Reader(path, leftovers, problems).value(node, Place(path, 1), 0) if node is not None else None
    except _Stopped:
        return None
    except (yaml.YAMLError, ValueError, RecursionError) as error:
        mark = getattr(error, "problem_mark", None)
        reason = getattr(error, "problem", None) or str(error) or type(error).__name__
        problems.add(
            path, f"not valid YAML: {reason}", "Correct the syntax.", line=mark.line + 1 if mark else 1
        )
        return None


class _Stopped(Exception):
    """A problem after which nothing else can be said."""


def _stop_if_deep(events: Iterator[Any], path: Path, problems: Problems) -> None:
    """Refuse what is nested so deeply that the parser, which is written in C, would run out of stack."""
    depth = 0
    for event in events:
        name = type(event).__name__
        depth += name.endswith("StartEvent") - name.endswith("EndEvent")
        if depth > DEEPEST:
            line = event.start_mark.line + 1
            problems.add(path, f"is nested more than {DEEPEST} deep", "Write it flatter.", line=line)
            raise _Stopped


class _Reader:
    """Makes plain values of a tree of nodes."""

    def __init__(self, path: Path, leftovers: Leftovers, problems: Problems) -> None:
        self._path = path
        self._leftovers = leftovers
        self._problems = problems
        self._left = MOST_VALUES

    def value(self, node: Any, place: Place, depth: int) -> Any:
        """The value of a node; an alias is read again where it stands."""
        place = place._replace(line=node.start_mark.line + 1)
        self._left -= 1
        if self._left < 0 or depth > DEEPEST:
            what = (
                f"nested more than {DEEPEST} deep" if depth > DEEPEST else f"more than {MOST_VALUES:,} values"
            )
            self._problems.add(self._path, f"has {what}, anchors followed", "Write it out.", line=place.line)
            raise _Stopped
        if node.id == "sequence":
            items = Items(place)
            for number, each in enumerate(node.value):
                inside = place.below(number)._replace(line=each.start_mark.line + 1)
                items.put(self.value(each, inside, depth + 1), inside)
            return items
        if node.id == "mapping":
            return self._fields(node, place, depth)
        return self._scalar(node, place)

    def _fields(self, node: Any, place: Place, depth: int) -> Fields:
        fields, seen = Fields(place), set[str]()
        merged: list[Any] = []
        for key, each in node.value:
            name = str(key.value)
            if name in seen:
                remedy = "Keep one of them."
                self._problems.add(
                    self._path, "stands twice", remedy, line=key.start_mark.line + 1, field=name
                )
                raise _Stopped
            seen.add(name)
            inside = place.below(name)._replace(line=key.start_mark.line + 1)
            if name == "<<" and not key.style:
                merged += each.value if each.id == "sequence" else [each]
            else:
                fields.put(name, self.value(each, inside, depth + 1), inside)
        for each in merged:
            other = self.value(each, place, depth + 1)
            for name in other if isinstance(other, Fields) else ():
                if name not in fields:
                    fields.put(name, other[name], other.at(name))
        return fields

    def _scalar(self, node: Any, place: Place) -> Any:
        text = str(node.value)
        if node.tag not in (f"{_TAG}str", f"{_TAG}null", f"{_TAG}int", f"{_TAG}float", f"{_TAG}bool"):
            self._leftovers.change(
                place, f"the tag {node.tag.removeprefix(_TAG)!r} is left out", "It is text."
            )
            return text
        if node.style:
            return text
        if node.tag == f"{_TAG}str" and _DATE.fullmatch(text):
            self._leftovers.change(
                place, f"{text} is text here, and no date", "Quote it, and it is so everywhere."
            )
        return _plain(text)


def _plain(text: str) -> Any:
    """What a text without quotes stands for."""
    if text in _NOTHING:
        return None
    if text in _FLAGS:
        return _FLAGS[text]
    if _INTEGER.fullmatch(text) and len(text) <= 20:
        return int(text, 0) if re.match("[-+]?0[xob]", text) else int(text)
    if _FLOAT.fullmatch(text) and len(text) <= 40:
        number = float(text)
        return int(number) if number.is_integer() and abs(number) < 2**53 else number
    return text


def resolved(root: Fields, leftovers: Leftovers, problems: Problems) -> Fields:
    """A document with every `$ref: '#/…'` replaced by what it names; one that leads elsewhere is listed."""
    found = _References(root, leftovers, problems).followed(root, 0)
    return found if isinstance(found, Fields) else Fields(root.place)


class _References:
    """Follows the references of a document, up to a number of values."""

    def __init__(self, root: Fields, leftovers: Leftovers, problems: Problems) -> None:
        self._root = root
        self._leftovers = leftovers
        self._problems = problems
        self._left = MOST_VALUES

    def followed(self, value: Any, depth: int) -> Any:
        """A value with all references replaced."""
        self._left -= 1
        if not isinstance(value, Fields | Items):
            return value
        if self._left < 0 or depth > DEEPEST:
            message = f"references make more than {MOST_VALUES:,} values, or lead in a circle"
            self._problems.add(value.place.file, message, "Write it out.", line=value.place.line)
            self._problems.stop_if_any()
        if isinstance(value, Items):
            items = Items(value.place)
            for each, place in value.placed():
                items.put(self.followed(each, depth + 1), place)
            return items
        if isinstance(value.get("$ref"), str):
            return self._target(value, depth)
        fields = Fields(value.place)
        for name, each in value.items():
            fields.put(name, self.followed(each, depth + 1), value.at(name))
        return fields

    def _target(self, value: Fields, depth: int) -> Any:
        found = _pointed(value["$ref"], self._root)
        if found is None:
            remedy = "Write the value out: only references within the file are followed."
            self._leftovers.drop(value.at("$ref"), f"refers to {value['$ref']!r}", remedy)
            return None
        return _moved(self.followed(found, depth + 1), value)


def _moved(found: Any, here: Fields) -> Any:
    """What a reference stands for, as if it stood where the reference does."""
    if not isinstance(found, Fields):
        return found
    moved = Fields(here.place)
    for name, each in found.items():
        moved.put(name, each, here.place.below(name))
    return moved


def _pointed(reference: str, root: Any) -> Any:
    if not reference.startswith("#/"):
        return None
    value = root
    for part in reference.removeprefix("#/").split("/"):
        name = part.replace("~1", "/").replace("~0", "~")
        if isinstance(value, Mapping):
            value = value.get(name)
        elif isinstance(value, list) and name.isdecimal() and int(name) < len(value):
            value = value[int(name)]
        else:
            return None
    return value
