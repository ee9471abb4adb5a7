"""`suite.yaml`: a suite in a few lines. Everything that is wrong with it is said at once."""

from __future__ import annotations

import keyword
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any, NamedTuple

import msgspec
from pydantic import BeforeValidator, Field

from eval_pipeline.declarative.cases import HIDDEN, case_files
from eval_pipeline.declarative.catalogue import Refused, read_schema, schema_of_scores, scorer_of
from eval_pipeline.declarative.cells import Unusable, references
from eval_pipeline.declarative.kinds import Json, Kind, Label, Labels, List, Number, Text
from eval_pipeline.declarative.records import columns_of
from eval_pipeline.declarative.scorers import Assertions, Scorer
from eval_pipeline.declarative.scorers.assertions import COLUMN as ASSERTIONS
from eval_pipeline.declarative.task import SCORE, SOUND, metric_names
from eval_pipeline.files import Violation
from eval_pipeline.files.models import Model, read_model
from eval_pipeline.files.structs import mismatches
from eval_pipeline.files.words import did_you_mean
from eval_pipeline.problems import Problems, bad_value

SUITE_FILE = "suite.yaml"
NAME = re.compile(r"[A-Za-z][A-Za-z0-9_]*")
KINDS: dict[str, type[Kind]] = {
    "text": Text, "label": Label, "labels": Labels, "number": Number, "json": Json, "list": List,
}  # fmt: skip
DESCRIBED = "__description"
"""A column of notes, which nobody reads."""
RESERVED = (
    SCORE,
    SOUND,
    "macro_f1",
    "error_rate",
    "case_pass_rate",
    "answers",
    "errors",
    "passed",
    "passable",
)
"""Names of metrics that no scorer may have."""


def _several(value: Any) -> Any:
    return [value] if isinstance(value, str) else value


def _by_name(value: Any) -> Any:
    return {name: name for name in value} if isinstance(value, list) and _are_texts(value) else value


def _are_texts(values: Sequence[Any]) -> bool:
    return all(isinstance(each, str) for each in values)


Texts = Annotated[list[str], BeforeValidator(_several, json_schema_input_type=str | list[str])]


class SuiteFile(Model):
    """The content of suite.yaml."""

    description: str = ""
    """What the task is, in a line."""
    cases: Texts = Field(min_length=1)
    """Files of cases, from this folder on: .csv, .tsv, .jsonl, .json, .yaml, .parquet; * stands for names."""
    id: str = ""
    """The column that names a case; where it is blank or missing, the name is made from the input."""
    attributes: Texts = Field(default_factory=list)
    """Columns by whose values every metric is shown, too."""
    inputs: (
        Annotated[
            dict[str, str], BeforeValidator(_by_name, json_schema_input_type=list[str] | dict[str, str])
        ]
        | None
    ) = None
    """What templates see: columns, or variable: column. By default what nothing else needs."""
    answer: Any = Field(default_factory=lambda: {"kind": "text"})
    """What a reply is: kind, with `of`, `schema`, `strict` or `decimal`."""
    scores: list[Any] = Field(default_factory=list)
    """How a reply is scored."""


class Declaration(NamedTuple):
    """What a suite.yaml says, with everything that it leaves out."""

    name: str
    description: str
    files: tuple[str, ...]
    id: str
    attributes: tuple[str, ...]
    inputs: dict[str, str]
    answer: Kind
    scores: tuple[Scorer, ...]


def read_declaration(folder: Path, loading: bool = True) -> Declaration:
    """The suite that a golden folder declares; every problem is raised at once.

    Without `loading`, functions of the project are named and not imported.
    """
    problems = Problems()
    if not NAME.fullmatch(folder.name):
        problems.add(folder, "is no name of a suite", "Use letters, digits and _, a letter first.")
    reader = _Reader(folder, problems, loading)
    file = read_model(folder / SUITE_FILE, SuiteFile, problems, reader.check)
    problems.stop_if_any()
    if file is None:
        raise bad_value(SUITE_FILE, "is empty", "Write at least `cases` and `scores`.")
    return Declaration(
        folder.name,
        file.description,
        tuple(file.cases),
        file.id,
        tuple(file.attributes),
        reader.inputs,
        reader.answer,
        tuple(reader.scores),
    )


class _Reader:
    """Looks at the plain values of a file, as far as they are usable, and makes records of them."""

    def __init__(self, folder: Path, problems: Problems, loading: bool) -> None:
        self._folder = folder
        self._loading = loading
        self._problems = problems
        self.answer: Kind = Text()
        self.scores: list[Scorer] = []
        self.inputs: dict[str, str] = {}
        self._needed: list[tuple[int, list[str]]] = []
        """The columns that each entry of `scores` names, whatever else is wrong with it."""
        self._shared: set[str] = set()
        """The columns that every file has."""

    def check(self, value: Any) -> Iterator[Violation]:
        """Everything that the types of the fields do not say."""
        if not isinstance(value, dict):
            return
        columns = self._columns(value.get("cases"))
        unclear = list(self._check_answer(value.get("answer", {"kind": "text"})))
        yield from unclear
        entries = value.get("scores", [])
        asserting = [name for name in columns if ASSERTIONS.fullmatch(name)]
        if isinstance(entries, list):
            wrong = list(self._check_scores(entries, not unclear))
            yield from wrong
            self._add_assertions(asserting)
            if not entries and not asserting:
                yield Violation(("scores",), "is empty", "Without a score nothing would ever fail.")
            elif not wrong:
                yield from self._check_names(entries)
        if columns:
            yield from self._check_columns(value, columns)

    def _columns(self, cases: Any) -> list[str]:
        """The columns of all files of cases."""
        patterns = _several(cases)
        if not isinstance(patterns, list) or not _are_texts(patterns):
            return []
        found: list[list[str]] = []
        for file in case_files(self._folder, patterns, self._problems):
            if not file.is_file():
                self._problems.add(file, "is not a regular file", "Put a file there.")
                continue
            found.append(columns_of(file, self._problems))
        self._shared = set.intersection(*map(set, found)) if found else set()
        return list(dict.fromkeys(name for names in found for name in names))

    def _check_answer(self, answer: Any) -> Iterator[Violation]:
        answer = {"kind": answer} if isinstance(answer, str) else answer
        kind = answer.get("kind") if isinstance(answer, dict) else None
        if kind not in KINDS:
            near = did_you_mean(str(kind), KINDS) if kind else ""
            yield Violation(
                ("answer", "kind") if kind else ("answer",),
                "is no kind of answer",
                f"{near}Kinds: {', '.join(KINDS)}.",
            )
            return
        try:
            if isinstance(answer.get("schema"), str):
                answer = {**answer, "schema": read_schema(answer["schema"], self._folder, ("schema",))}
            elif isinstance(answer.get("schema"), dict):
                read_schema(answer["schema"], self._folder, ("schema",))
        except Refused as refused:
            yield from (each._replace(path=("answer", *each.path)) for each in refused.violations)
            return
        plain = {name: each for name, each in answer.items() if name != "kind"}
        wrong = list(mismatches(plain, KINDS[kind], ("answer",)))
        yield from wrong
        if not wrong:
            self.answer = msgspec.convert(plain, KINDS[kind])

    def _check_scores(self, entries: Sequence[Any], kind_is_known: bool) -> Iterator[Violation]:
        for index, entry in enumerate(entries):
            try:
                scorer = scorer_of(entry, self._folder, loading=self._loading)
            except Refused as refused:
                yield from (each._replace(path=("scores", index, *each.path)) for each in refused.violations)
                self._needed.append((index, list(references(entry))))
                continue
            self.scores.append(scorer)
            self._needed.append((index, scorer.needs))
            for each in _with_parts(scorer):
                if kind_is_known and each.kinds and self._kind not in each.kinds:
                    remedy = f"Let the answer be of kind {' or '.join(each.kinds)}, or choose another score."
                    yield Violation(
                        ("scores", index), f"{each.key} cannot look at answers of kind {self._kind}", remedy
                    )
                elif kind_is_known and not each.needs and not getattr(each, "parts", ()):
                    yield from self._check_wanted(index, each)

    def _check_wanted(self, index: int, scorer: Scorer) -> Iterator[Violation]:
        """What a score wants of every case alike is wrong here, once, and not in every row."""
        try:
            scorer.wanted({}, self.answer)
        except Unusable as unusable:
            yield Violation(("scores", index, scorer.key), unusable.message, unusable.remedy)

    @property
    def _kind(self) -> str:
        return next(name for name, kind in KINDS.items() if isinstance(self.answer, kind))

    def _add_assertions(self, columns: Sequence[str]) -> None:
        if columns:
            self.scores.append(Assertions(of=tuple(columns), optional=bool(self.scores)))

    def _check_names(self, entries: Sequence[Any]) -> Iterator[Violation]:
        given = [scorer.name for scorer in self.scores]
        names = metric_names(self.answer, self.scores)
        for index, _ in enumerate(entries):
            twice = bool(given[index]) and given.count(given[index]) > 1
            if given[index] in RESERVED or twice or names.count(names[index]) > 1:
                yield Violation(
                    ("scores", index, "name"), f"{names[index]!r} is taken", "Choose another name."
                )
        if self.scores and not any(scorer.weight for scorer in self.scores):
            yield Violation(("scores",), "nothing has a weight", "Let at least one score count.")

    def _check_columns(self, value: Mapping[str, Any], columns: Sequence[str]) -> Iterator[Violation]:
        """Columns that are named and not there, and those that may not be seen."""
        for index, needed in self._needed:
            unknown = [name for name in dict.fromkeys(needed) if name not in columns]
            yield from (_unknown(("scores", index), name, columns) for name in unknown)
        case_id, attributes = value.get("id", ""), _several(value.get("attributes", []))
        if isinstance(case_id, str) and case_id and case_id not in columns:
            yield _unknown(("id",), case_id, columns)
        attributes = attributes if isinstance(attributes, list) and _are_texts(attributes) else []
        for name in attributes:
            if name not in columns:
                yield _unknown(("attributes",), name, columns)
        for name in columns:
            if name.startswith(HIDDEN) and not ASSERTIONS.fullmatch(name) and name != DESCRIBED:
                yield Violation(
                    ("cases",), f"the column {name!r} has no meaning here", "Rename or remove it."
                )
        yield from self._check_inputs(value.get("inputs"), columns, {case_id, *attributes})

    def _check_inputs(self, given: Any, columns: Sequence[str], others: set[Any]) -> Iterator[Violation]:
        needed = {name for scorer in self.scores for name in scorer.needs}
        if given is None:
            kept = self._shared - others - needed
            seen = [name for name in columns if name in kept and not name.startswith(HIDDEN)]
            self.inputs = {name: name for name in seen}
            if not seen:
                yield Violation(
                    ("inputs",), "no column is left as input", "Name the columns that templates may see."
                )
        elif isinstance(by_name := _by_name(given), dict) and _are_texts([*by_name, *by_name.values()]):
            self.inputs = by_name
        answers = {name for scorer in self.scores if scorer.holds_answer for name in scorer.needs}
        for variable, column in self.inputs.items():
            if column not in columns:
                yield _unknown(("inputs",), column, columns)
            elif column.startswith(HIDDEN) or column in answers:
                remedy = "No template may see it: leave it out."
                yield Violation(("inputs",), f"{column!r} holds what is expected", remedy)
            if not variable.isidentifier() or keyword.iskeyword(variable) or variable.startswith("_"):
                suggested = (
                    "".join(each if each.isalnum() else "_" for each in column).strip("_").lower() or "text"
                )
                remedy = f'Give it a name: inputs: {{{suggested}: "{column}"}}.'
                yield Violation(("inputs",), f"{variable!r} cannot be the name of a variable", remedy)


def _with_parts(scorer: Scorer) -> Iterator[Scorer]:
    yield scorer
    for part in getattr(scorer, "parts", ()):
        yield from _with_parts(part)


def _unknown(path: tuple[str | int, ...], name: str, columns: Sequence[str]) -> Violation:
    return Violation(
        path, f"there is no column {name!r}", f"{did_you_mean(name, columns)}Columns: {', '.join(columns)}."
    )


def suite_schema() -> dict[str, Any]:
    """The JSON Schema of suite.yaml."""
    schema = SuiteFile.model_json_schema()
    _, shared = schema_of_scores()
    kinds, of_kinds = msgspec.json.schema_components(KINDS.values(), ref_template="#/$defs/{name}")
    of_kinds[Json.__name__]["properties"]["schema"] = {"type": ["string", "object"]}
    described = schema["properties"]["answer"]["description"]
    schema["properties"]["answer"] = {
        "description": described,
        "anyOf": [{"enum": ["text", "number", "list", "json"]}, *kinds],
    }
    schema["properties"]["scores"]["items"] = {"$ref": "#/$defs/Score"}
    return {**schema, "$defs": {**schema.get("$defs", {}), **of_kinds, **shared}}
