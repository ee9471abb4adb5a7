"""How hosts write the keys of assets, what these begin with, and things of their modules."""

import importlib
import re
from collections.abc import Sequence
from typing import Any

import dagster as dg

from eval_pipeline.problems import bad_value

NAMED = re.compile(r"(?P<module>[A-Za-z_][\w.]*):(?P<name>[A-Za-z_]\w*)")
"""A thing of a module, as `package.module:name`."""


def asset_key(named: dg.AssetKey | str) -> dg.AssetKey:
    """An asset's key, which may be written with slashes."""
    return dg.AssetKey.from_user_string(named) if isinstance(named, str) else named


def prefix_parts(prefix: str | Sequence[str]) -> tuple[str, ...]:
    """The parts of a key prefix, which may be written with slashes."""
    given = [prefix] if isinstance(prefix, str) else prefix
    return tuple(part for each in given for part in each.split("/") if part)


def of_module(named: str, field: str) -> Any:
    """A thing of a module of the host's; it is looked up now, so that a wrong name is found at once."""
    match = NAMED.fullmatch(named)
    if match is None:
        raise bad_value(field, f"{named!r} names nothing of a module", "Write package.module:name.")
    module, name = match["module"], match["name"]
    try:
        loaded = importlib.import_module(module)
    except ImportError as error:
        raise bad_value(field, f"{module} cannot be imported: {error}", "Correct the name.") from None
    if not hasattr(loaded, name):
        raise bad_value(field, f"{module} has no {name!r}", "Correct the name.")
    return getattr(loaded, name)
