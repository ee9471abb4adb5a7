"""The scorers by the names that a suite.yaml has for them, and entries of `scores` as scorers."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import msgspec

from eval_pipeline.declarative import scorers
from eval_pipeline.declarative.schemas import unusable
from eval_pipeline.declarative.scorers import Scorer
from eval_pipeline.files import FieldPath, Violation, is_there, read_json
from eval_pipeline.files.structs import mismatches
from eval_pipeline.files.words import did_you_mean
from eval_pipeline.own_code import import_own
from eval_pipeline.problems import Problems

SCORERS: dict[str, type[Scorer]] = {
    each.key: each
    for each in (
        scorers.Equals, scorers.OneOf, scorers.Contains, scorers.ContainsAll, scorers.ContainsAny,
        scorers.NotContains, scorers.Regex, scorers.StartsWith, scorers.Length, scorers.JsonSchema,
        scorers.JsonEquals, scorers.F1, scorers.Rouge, scorers.Similarity, scorers.Levenshtein, scorers.SetF1,
        scorers.Ranking, scorers.Citations, scorers.Refusal, scorers.Latency, scorers.Cost, scorers.Python,
        scorers.IsJson, scorers.AllOf, scorers.AnyOf, scorers.NoneOf, scorers.MeanOf,
    )
}  # fmt: skip
"""Every scorer that `scores` may name."""
COMBINED = tuple(each.key for each in (scorers.AllOf, scorers.AnyOf, scorers.NoneOf, scorers.MeanOf))
OF_THE_WHOLE = ("weight", "name", "optional")
"""What a part of a combined scorer does not say for itself."""


class Refused(Exception):
    """What is wrong with an entry of `scores`."""

    def __init__(self, *violations: Violation) -> None:
        super().__init__(violations)
        self.violations = violations


def scorer_of(entry: Any, folder: Path, *, part: bool = False, loading: bool = True) -> Scorer:
    """An entry of `scores` as a scorer; raises `Refused` with everything that is wrong.

    Without `loading`, functions of the project are named and not imported.
    """
    key = _key(entry)
    if part and (own := [name for name in OF_THE_WHOLE if name in entry]):
        remedy = f"Say it beside {', '.join(COMBINED[:-1])} or {COMBINED[-1]}."
        raise Refused(*(Violation((name,), "is not for a part", remedy) for name in own))
    prepared = dict(entry)
    if key in COMBINED:
        prepared[key] = _parts(entry[key], key, folder, loading)
    elif key == scorers.Python.key:
        prepared[key] = own_function(entry[key], folder, loading)
    elif key == scorers.JsonSchema.key:
        prepared[key] = read_schema(entry[key], folder, (key,))
    kind = SCORERS[key]
    checked = prepared if key not in (*COMBINED, scorers.Python.key) else {**prepared, key: []}
    wrong = list(mismatches(checked, _without_callable(kind)))
    if wrong:
        raise Refused(*(_at_key(each, key) for each in wrong))
    try:
        return _made(kind, prepared, key)
    except ValueError as error:
        raise Refused(Violation((key,), str(error), "Correct it.")) from None


def read_schema(value: Any, folder: Path, path: FieldPath) -> dict[str, Any]:
    """A JSON Schema that stands in the file, or in one beside it."""
    schema = value
    if isinstance(value, str):
        file = folder / value
        if not file.resolve().is_relative_to(folder.resolve().parent.parent) or not is_there(file):
            remedy = "Name a file of the project, from the folder of suite.yaml on."
            raise Refused(Violation(path, f"there is no file {value!r} in the project", remedy))
        problems = Problems()
        schema = next((each.record for each in read_json(file, dict[str, Any], problems)), None)
        if problems:
            raise Refused(
                *(
                    Violation(path, f"{each.file}:{each.line}: {each.message}", each.remedy)
                    for each in problems
                )
            )
    if not isinstance(schema, dict):
        raise Refused(Violation(path, "is no JSON Schema", "Write the schema, or name a file that holds it."))
    if reason := unusable(schema):
        raise Refused(Violation(path, reason, "Correct the schema."))
    return schema


def own_function(target: Any, folder: Path, loading: bool) -> Callable[..., Any]:
    """A function of the project, `module:name`."""
    remedy = "Write module:name, of a function in the project's folder."
    where: FieldPath = (scorers.Python.key,)
    module, _, name = target.partition(":") if isinstance(target, str) else ("", "", "")
    if not (name.isidentifier() and all(part.isidentifier() for part in module.split("."))):
        raise Refused(Violation(where, "names no function", remedy))
    root = folder.resolve().parent.parent
    top = module.partition(".")[0]
    if not ((root / f"{top}.py").is_file() or (root / top).is_dir()):
        raise Refused(Violation(where, f"there is no module {top} in the project", remedy))
    return _loaded(module, name, root, remedy) if loading else _named(module, name)


def _named(module: str, name: str) -> Callable[..., Any]:
    """What stands for a function whose code is only to be named."""

    def function(answer: Any, case: Any) -> bool:
        raise NotImplementedError

    function.__module__, function.__name__ = module, name
    return function


def _loaded(module: str, name: str, root: Path, remedy: str) -> Callable[..., Any]:
    where: FieldPath = (scorers.Python.key,)
    try:
        loaded = import_own(root, module)
    except (Exception, SystemExit) as error:
        message = f"{module} cannot be loaded: {type(error).__name__}: {error}"
        raise Refused(Violation(where, message, remedy)) from None
    if not Path(str(loaded.__file__)).resolve().is_relative_to(root):
        raise Refused(Violation(where, f"{module} is not the project's own module", "Give it another name."))
    function = getattr(loaded, name, None)
    if not callable(function) or (function.__module__, getattr(function, "__name__", "")) != (module, name):
        raise Refused(Violation(where, f"{name!r} is no function that {module} defines", remedy))
    return function  # type: ignore[no-any-return]


def _key(entry: Any) -> str:
    if not isinstance(entry, Mapping):
        raise Refused(Violation((), "is no score", 'Write for example - equals: "{{ label }}".'))
    keys = [name for name in entry if name in SCORERS]
    if len(keys) == 1:
        return str(keys[0])
    if keys:
        raise Refused(
            Violation((), f"names several scorers: {', '.join(keys)}", "Let each be an entry of its own.")
        )
    near = "".join(did_you_mean(str(name), SCORERS) for name in entry)
    raise Refused(
        Violation(
            (str(next(iter(entry), "")),) if entry else (),
            "is no scorer",
            f"{near}Known: {', '.join(SCORERS)}.",
        )
    )


def _parts(entries: Any, key: str, folder: Path, loading: bool) -> tuple[Scorer, ...]:
    if not isinstance(entries, list) or not entries:
        raise Refused(
            Violation((key,), "is no list of scores", "Write one on each line below it, after a dash.")
        )
    parts: list[Scorer] = []
    wrong: list[Violation] = []
    for index, entry in enumerate(entries):
        try:
            parts.append(scorer_of(entry, folder, part=True, loading=loading))
        except Refused as refused:
            wrong += [each._replace(path=(key, index, *each.path)) for each in refused.violations]
    if wrong:
        raise Refused(*wrong)
    return tuple(parts)


def _made(kind: type[Scorer], entry: Mapping[str, Any], key: str) -> Scorer:
    if kind is scorers.Python or key in COMBINED:
        plain = msgspec.convert({**entry, key: []}, _without_callable(kind))
        values = {name: getattr(plain, name) for name in plain.__struct_fields__}
        return kind(**{**values, "of": entry[key]})
    return msgspec.convert(entry, kind)


_PLAIN: dict[type[Scorer], type[msgspec.Struct]] = {}


def _without_callable(kind: type[Scorer]) -> type[msgspec.Struct]:
    """The record of a scorer as a file can hold it: what is no plain value stands for anything."""
    if kind.key not in (*COMBINED, scorers.Python.key):
        return kind
    if kind not in _PLAIN:
        fields = [
            (each.name, list[Any]) if each.name == "of" else (each.name, each.type, each.default)
            for each in msgspec.structs.fields(kind)
        ]
        _PLAIN[kind] = msgspec.defstruct(
            kind.__name__, fields, rename={"of": kind.key}, kw_only=True, forbid_unknown_fields=True
        )
    return _PLAIN[kind]


def _at_key(violation: Violation, key: str) -> Violation:
    """A violation of the whole entry stands at the scorer's name."""
    return violation if violation.path else violation._replace(path=(key,))


def schema_of_scores() -> tuple[list[dict[str, Any]], dict[str, Any]]:
    """The JSON Schemas of all entries, and what they share."""
    plain = {key: _without_callable(kind) for key, kind in SCORERS.items()}
    schemas, shared = msgspec.json.schema_components(plain.values(), ref_template="#/$defs/{name}")
    for key, schema in plain.items():
        known = shared[schema.__name__]
        known["description"] = " ".join((SCORERS[key].__doc__ or "").split())
    for key in COMBINED:
        shared[SCORERS[key].__name__]["properties"][key] = {
            "type": "array",
            "minItems": 1,
            "items": {"$ref": "#/$defs/Score"},
        }
    shared[scorers.Python.__name__]["properties"][scorers.Python.key] = {
        "type": "string",
        "pattern": r"^[\w.]+:\w+$",
    }
    shared[scorers.JsonSchema.__name__]["properties"][scorers.JsonSchema.key] = {"type": ["string", "object"]}
    shared["Score"] = {"anyOf": list(schemas)}
    return list(schemas), shared
