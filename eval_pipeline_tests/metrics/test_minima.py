"""Minima of single cases."""

from __future__ import annotations

import msgspec
import pytest

from eval_pipeline.metrics.minima import Minimum, below_minimum


class Wanted(msgspec.Struct):
    first: Minimum | None = None
    second: Minimum | None = None


@pytest.mark.parametrize(
    ("first", "value", "missed"),
    [
        (Minimum(0.3), 0.1 + 0.2, []),
        (Minimum(0.28), 0.3 - 0.02, []),
        (Minimum(0.5), 0.4, ["first 40.0 %, at least 50 % expected"]),
        (Minimum(0.0), None, ["first undefined, at least 0 % expected"]),
        (None, None, []),
    ],
)
def test_what_is_missed(first: Minimum | None, value: float | None, missed: list[str]) -> None:
    assert below_minimum(Wanted(first), {"first": value, "second": 0.0}) == missed
