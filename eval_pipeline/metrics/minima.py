"""Minima that single cases set for their qualities, where no answer is the right one."""

from collections.abc import Mapping
from typing import Annotated

import msgspec

from eval_pipeline.numbers import limit, number

TOLERANCE = 1e-9


class Minimum(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The least that a quality may be in a case."""

    min: Annotated[float, msgspec.Meta(ge=0, le=1)]


def below_minimum(qualities: msgspec.Struct, values: Mapping[str, float | None]) -> list[str]:
    """The qualities that miss what a case expects; one that is undefined misses it too.

    The fields of `qualities` are `Minimum | None`, named as the values are.
    """
    missed = []
    for name in qualities.__struct_fields__:
        minimum, value = getattr(qualities, name), values[name]
        if minimum is not None and (value is None or value < minimum.min - TOLERANCE):
            shown = "undefined" if value is None else number(value)
            missed.append(f"{name} {shown}, at least {limit(minimum.min)} expected")
    return missed
