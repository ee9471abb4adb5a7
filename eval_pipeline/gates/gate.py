"""A gate: which values of a metric fail, pass and excel, and which drops matter."""

from __future__ import annotations

import re
from typing import Annotated, Literal, NamedTuple

import msgspec

from eval_pipeline.numbers import Unit, limit
from eval_pipeline.suite import Severity

TOLERANCE = 1e-9
Zone = Literal["fail", "between", "pass", "excellent"]
NUMBER = re.compile(r"[-+]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][-+]?[0-9]+)?")
_BOUND = re.compile(rf"\s*(<=|>=|<|>)\s*({NUMBER.pattern})\s*")


class Bound(NamedTuple):
    """A comparison with a number, as the documents write it: `>= 0.70`."""

    sign: str
    limit: float

    @classmethod
    def parse(cls, text: str) -> Bound:
        """The bound in a text."""
        match = _BOUND.fullmatch(text)
        if match is None:
            raise ValueError(f"{text!r} is not a bound such as '>= 0.70'")
        return cls(match[1], float(match[2]))

    def holds(self, value: float) -> bool:
        """Whether a value satisfies the bound, within the tolerance that floats need."""
        if self.sign == ">=":
            return value >= self.limit - TOLERANCE
        if self.sign == "<=":
            return value <= self.limit + TOLERANCE
        if self.sign == ">":
            return value > self.limit + TOLERANCE
        return value < self.limit - TOLERANCE

    def text(self, unit: Unit) -> str:
        """The bound as people read it: `>= 70 %`."""
        return f"{self.sign} {limit(self.limit, unit)}"


class Regression(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Drops, in the metric's own unit, from which a person looks, and beyond which a change stops."""

    investigate: Annotated[float, msgspec.Meta(ge=0)]
    block: Annotated[float, msgspec.Meta(ge=0)]
    beyond: Literal["block", "needs_approval"] = "block"


class Gate(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What `gates.yaml` says of one metric."""

    fail: str
    passes: str = msgspec.field(name="pass")
    excellent: str | None = None
    warn: str | None = None
    severity: Severity = "critical"
    regression: Regression | None = None
    inconclusive: Literal["investigate", "block"] = "investigate"

    @property
    def bounds(self) -> dict[str, Bound]:
        """Its bounds by name, as far as it has them."""
        texts = {"fail": self.fail, "pass": self.passes, "excellent": self.excellent, "warn": self.warn}
        return {name: Bound.parse(text) for name, text in texts.items() if text}

    def zone(self, value: float) -> Zone:
        """The zone a value lies in."""
        if Bound.parse(self.fail).holds(value):
            return "fail"
        if self.excellent and Bound.parse(self.excellent).holds(value):
            return "excellent"
        return "pass" if Bound.parse(self.passes).holds(value) else "between"

    def warns(self, value: float) -> bool:
        """Whether a value deserves a warning though its zone is fine."""
        return self.warn is not None and Bound.parse(self.warn).holds(value)


class GatesFile(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The content of `gates.yaml`."""

    metrics: dict[str, Gate]
    operations: dict[Literal["latency_p95_ms", "cost_usd_per_answer"], Gate] = {}
    """Limits on what asking costs in time and money."""


LARGEST_ERROR_RATE = 0.01
ERROR_GATE = Gate(fail=f"> {LARGEST_ERROR_RATE}", passes=f"<= {LARGEST_ERROR_RATE}", excellent="<= 0")
"""In every suite: more than one case in a hundred without a usable output is a failure."""


def is_bound(text: str) -> bool:
    """Whether a text is a bound such as `>= 0.70`."""
    return _BOUND.fullmatch(text) is not None
