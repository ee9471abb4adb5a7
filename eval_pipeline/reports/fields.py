"""Inputs and expectations as texts for people, field by field."""

from typing import Any

import msgspec

from eval_pipeline.golden import GoldenCase
from eval_pipeline.suite import Suite

Fields = list[tuple[str, str]]


def place_of(suite: Suite, golden: GoldenCase) -> str:
    """Where a case stands, from the golden folder on: whose machine it was says nothing."""
    folder = f"golden/{suite.name}/"
    _, inside, rest = golden.file.rpartition(folder)
    return f"{folder}{rest}:{golden.line}" if inside else f"{golden.file.rpartition('/')[2]}:{golden.line}"


def fields_of(value: Any) -> Fields:
    """A value as texts: a text as it is, anything else as JSON over several lines."""
    plain = msgspec.to_builtins(value)
    if not isinstance(plain, dict):
        return [("", _text(plain))]
    return [(name, _text(each)) for name, each in plain.items()]


def _text(value: Any) -> str:
    if isinstance(value, str):
        return value
    return msgspec.json.format(msgspec.json.encode(value), indent=2).decode()
