"""JSON Schema: whether it can be used, and where a value departs from it. Nothing is ever fetched."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import lru_cache
from itertools import islice
from typing import TYPE_CHECKING, Any

import msgspec

from eval_pipeline.files import canonical_json
from eval_pipeline.language.patterns import MOST_SECONDS, SlowPattern

if TYPE_CHECKING:
    from jsonschema.protocols import Validator

MOST_DEPARTURES = 5
REFERENCES = ("$ref", "$dynamicRef", "$recursiveRef")
EMPTY: tuple[Any, ...] = (None, {}, [], "")
UNBOUNDED = "patternProperties"
"""Its patterns would be searched for without a limit of time."""


def unusable(schema: Mapping[str, Any]) -> str:
    """Why a schema cannot be used; blank where it can."""
    from jsonschema import Draft202012Validator
    from jsonschema.exceptions import SchemaError

    keys = list(_keys(schema))
    remote = sorted(
        {str(value) for key, value in keys if key in REFERENCES and not str(value).startswith("#")}
    )
    if remote:
        return f"refers to {', '.join(map(repr, remote))}; only references within the schema are followed"
    if any(key == UNBOUNDED for key, _ in keys):
        return f"has {UNBOUNDED}, which is not supported"
    try:
        Draft202012Validator.check_schema(schema)
        for value in EMPTY:
            departures(value, schema)
    except SchemaError as error:
        return f"is not a JSON Schema: {error.message[:200]}"
    except Exception as error:  # references that lead nowhere, and patterns that are none
        return f"cannot be used: {str(error)[:200]}"
    return ""


def departures(value: Any, schema: Mapping[str, Any]) -> list[str]:
    """Where a value departs from a schema, in words; the first few."""
    errors = _validator(canonical_json(schema)).iter_errors(value)
    try:
        return [f"{each.json_path}: {each.message}" for each in islice(errors, MOST_DEPARTURES)]
    except RecursionError:
        return ["it is nested too deeply"]


@lru_cache(maxsize=64)
def _validator(schema: bytes) -> Validator:
    from jsonschema import Draft202012Validator
    from jsonschema.validators import extend
    from referencing import Registry

    bounded = extend(Draft202012Validator, {"pattern": _pattern})
    return bounded(msgspec.json.decode(schema), registry=Registry())


def _pattern(validator: Validator, pattern: str, value: Any, schema: Any) -> Iterator[Any]:
    """The keyword `pattern`, in bounded time."""
    import regex
    from jsonschema.exceptions import ValidationError

    if not isinstance(value, str):
        return
    try:
        if not regex.search(pattern, value, timeout=MOST_SECONDS):
            yield ValidationError(f"{value[:100]!r} does not match {pattern!r}")
    except TimeoutError:
        stopped = f"the pattern {pattern!r} was stopped after {MOST_SECONDS:g} s"
        raise SlowPattern(f"{stopped}. Write repeats with a small limit.") from None


def _keys(schema: Any) -> Iterator[tuple[str, Any]]:
    if isinstance(schema, Mapping):
        for key, value in schema.items():
            yield key, value
            yield from _keys(value)
    elif isinstance(schema, list):
        for each in schema:
            yield from _keys(each)
