"""How hosts write the keys of assets, and what these begin with."""

from collections.abc import Sequence

import dagster as dg


def asset_key(named: dg.AssetKey | str) -> dg.AssetKey:
    """An asset's key, which may be written with slashes."""
    return dg.AssetKey.from_user_string(named) if isinstance(named, str) else named


def prefix_parts(prefix: str | Sequence[str]) -> tuple[str, ...]:
    """The parts of a key prefix, which may be written with slashes."""
    given = [prefix] if isinstance(prefix, str) else prefix
    return tuple(part for each in given for part in each.split("/") if part)
