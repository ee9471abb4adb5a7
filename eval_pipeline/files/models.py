"""What people configure, as pydantic models: every problem at once, each in plain words and in its place."""

import ast
import inspect
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from copy import deepcopy
from difflib import get_close_matches
from functools import lru_cache
from itertools import pairwise
from pathlib import Path
from textwrap import dedent
from typing import Any, Self, TypeVar

from pydantic import (
    BaseModel,
    ConfigDict,
    GetJsonSchemaHandler,
    ModelWrapValidatorHandler,
    ValidationError,
    model_validator,
)
from pydantic.json_schema import JsonSchemaValue
from pydantic_core import CoreSchema, ErrorDetails, PydanticCustomError

from eval_pipeline.files import words
from eval_pipeline.files.text import decoded_text, read_bytes
from eval_pipeline.files.violations import CLOSE, Check, FieldPath, Violation, no_checks
from eval_pipeline.files.yaml import LARGEST_YAML, parse_yaml
from eval_pipeline.problems import Problems

REFUSED = "refused"
"""The type of error that carries violations."""
_CHOICE = re.compile(r"'((?:[^'\\]|\\.)*)'")

M = TypeVar("M", bound="Model")


class Model(BaseModel):
    """A part of a file that people write: nothing is guessed, and no unknown field passes."""

    model_config = ConfigDict(
        frozen=True,
        extra="forbid",
        strict=True,
        validate_by_name=True,
        validate_by_alias=True,
        allow_inf_nan=False,
        hide_input_in_errors=True,
    )

    @model_validator(mode="wrap")
    @classmethod
    def _named(cls, value: Any, handler: ModelWrapValidatorHandler[Self]) -> Self:
        """What is wrong here and below, in our words; only here it is known which fields there are."""
        try:
            return handler(value)
        except ValidationError as error:
            raise refusal(*_violations(error, value, cls)) from None

    @classmethod
    def __get_pydantic_json_schema__(
        cls, core_schema: CoreSchema, handler: GetJsonSchemaHandler
    ) -> JsonSchemaValue:
        """A field is described by the text below it, which is read now: pydantic would for every import."""
        schema = handler(core_schema)
        properties = handler.resolve_ref_schema(schema).get("properties", {})
        for name, text in _texts_below_fields(cls).items():
            properties[str(cls.model_fields[name].validation_alias or name)].setdefault("description", text)
        return schema


def _texts_below_fields(model: type[Model]) -> dict[str, str]:
    """What is written below the fields of a model and of those that it extends."""
    texts: dict[str, str] = {}
    for each in reversed(model.__mro__[: model.__mro__.index(Model)]):
        with suppress(OSError, TypeError):  # one that is made by a function has no source
            (written,) = ast.parse(dedent(inspect.getsource(each))).body
            texts |= _below_fields(written)
    return texts


def _below_fields(written: ast.stmt) -> Iterator[tuple[str, str]]:
    for field, below in pairwise(getattr(written, "body", ())):
        match field, below:
            case ast.AnnAssign(target=ast.Name(name)), ast.Expr(value=ast.Constant(value=str(text))):
                yield name, inspect.cleandoc(text)


def refusal(*violations: Violation) -> PydanticCustomError:
    """What a validator raises: everything that is wrong with its value, by path from there."""
    told = "; ".join(f"{each.message}. {each.remedy}".rstrip() for each in violations)
    return PydanticCustomError(REFUSED, "{told}", {"told": told, "violations": violations})


def read_model(path: Path, model: type[M], problems: Problems, check: Check = no_checks) -> M | None:
    """The content of a YAML file, or None where it has problems.

    `check` sees the plain values, whatever else is wrong with them, and looks at those of use to it.
    """
    data = read_bytes(path, LARGEST_YAML, problems, "Configuration is never that large")
    text = decoded_text(data, path, problems) if data is not None else None
    return parse_model(text, 1, path, model, problems, check) if text is not None else None


def parse_model(
    text: str, first_line: int, path: Path, model: type[M], problems: Problems, check: Check = no_checks
) -> M | None:
    """The same for a YAML text whose first line is line `first_line` of the file."""
    value, checking = None, _checking(model, check)
    with suppress(RecursionError):  # it is nested too deeply, for which there is a line
        value = deepcopy(_plain(text))
    if value is None or any(True for _ in checking(value)):  # what is wrong has a line
        value = parse_yaml(text, first_line, path, Any, problems, checking)
    return None if value is None else _validated(value, model)


@lru_cache(maxsize=64)
def _plain(text: str) -> Any:
    """What a YAML text holds; None where it has problems. A run reads the same few files again and again."""
    return parse_yaml(text, 1, Path(), Any, Problems())


def violations_in(value: Any, model: type[Model]) -> list[Violation]:
    """Every place where a plain value is not what a model says."""
    try:
        _validated(value, model)
    except ValidationError as error:
        return _violations(error, value)
    return []


def field_at(value: Any, *path: str) -> Any:
    """What stands at a path of plain values; None where nothing does."""
    for name in path:
        value = value.get(name) if isinstance(value, Mapping) else None
    return value


def _checking(model: type[Model], check: Check) -> Callable[[Any], Iterable[Violation]]:
    def every(value: Any) -> Iterator[Violation]:
        found = violations_in(value, model)
        yield from found
        named = {each.path for each in found}
        yield from (each for each in check(value) if each.path not in named)

    return every


def _validated(value: Any, model: type[M]) -> M:
    """A file spells fields by their aliases only."""
    return model.model_validate(value, by_alias=True, by_name=False)


def _violations(error: ValidationError, value: Any, model: type[Model] | None = None) -> list[Violation]:
    errors = error.errors(include_url=False)
    typos = _typos(errors, value, model) if model else {}
    return [
        violation
        for each in errors
        if not (each["type"] == "missing" and each["loc"][0] in typos.values())
        for violation in _translated(each, value, model, typos)
    ]


def _typos(errors: Iterable[ErrorDetails], value: Any, model: type[Model]) -> dict[str, str]:
    """Unknown fields that are close to an absent one, with the one that is meant."""
    unknown = [str(each["loc"][0]) for each in errors if each["type"] == "extra_forbidden"]
    absent = [name for name in _fields(model) if name not in value] if unknown else []
    near = {name: get_close_matches(name, absent, 1, CLOSE) for name in unknown}
    return {name: matches[0] for name, matches in near.items() if matches}


def _fields(model: type[Model]) -> list[str]:
    return [str(field.validation_alias or name) for name, field in model.model_fields.items()]


def _translated(
    error: ErrorDetails, value: Any, model: type[Model] | None, typos: Mapping[str, str]
) -> Iterator[Violation]:
    context = error.get("ctx", {})
    path = _path(error["loc"], value)
    match error["type"]:
        case "refused":
            yield from (each._replace(path=(*path, *each.path)) for each in context["violations"])
        case "missing":
            yield Violation(path, "is missing", "Add it.")
        case "extra_forbidden":
            assert model is not None
            name = str(error["loc"][0])
            known = f"Known: {', '.join(_fields(model))}."
            remedy = f"Did you mean {typos[name]}?" if name in typos else known
            yield Violation(path, "is not a known field", remedy)
        case _:
            yield Violation(path, *_in_words(error, context))


def _path(location: tuple[int | str, ...], value: Any) -> FieldPath:
    """A location as a path: numbers that are keys are names, and what pydantic adds for keys goes."""
    path: list[str | int] = []
    for part in location:
        if part == "[key]":
            break
        inside = isinstance(value, Mapping)
        path.append(str(part) if inside else part)
        known = part in value if inside else isinstance(value, list) and isinstance(part, int)
        value = value[part] if known else None
    return tuple(path)


_WANTED = {
    "string_type": words.TEXT,
    "int_type": words.WHOLE_NUMBER,
    "int_from_float": words.WHOLE_NUMBER,
    "float_type": words.NUMBER,
    "finite_number": "a finite number",
    "bool_type": words.TRUE_OR_FALSE,
    "list_type": words.LIST,
    "dict_type": words.FIELDS,
    "model_type": words.FIELDS,
}
_SIGNS = {"greater_than_equal": ">=", "greater_than": ">", "less_than_equal": "<=", "less_than": "<"}
_LIMITS = {">=": "ge", ">": "gt", "<=": "le", "<": "lt"}


def _in_words(error: ErrorDetails, context: Mapping[str, Any]) -> words.Words:
    """Pydantic's kinds of errors in plain words."""
    kind, value = error["type"], error["input"]
    if kind in _WANTED:
        message, remedy = words.wrong_kind(value, _WANTED[kind])
        return (f"its name {message}" if error["loc"][-1:] == ("[key]",) else message), remedy
    if kind in _SIGNS:
        return words.beyond(_SIGNS[kind], context[_LIMITS[_SIGNS[kind]]])
    if kind == "literal_error":
        return words.not_a_choice(value, _CHOICE.findall(context["expected"]))
    if kind in ("string_too_short", "too_short"):
        return words.wrong_length(">=", context["min_length"], _things(kind))
    if kind in ("string_too_long", "too_long"):
        return words.wrong_length("<=", context["max_length"], _things(kind))
    return "cannot be used", "Correct the value."


def _things(kind: str) -> str:
    return "characters" if kind.startswith("string") else "entries"
