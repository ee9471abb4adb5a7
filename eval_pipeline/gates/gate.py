"""A gate: which values of a metric fail, pass and excel, and which drops matter."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Annotated, Any, Literal, NamedTuple

from pydantic import BeforeValidator, Field, ValidationInfo, field_validator

from eval_pipeline.files import Violation
from eval_pipeline.files.models import Model, refusal
from eval_pipeline.files.words import kind_of
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


def is_bound(text: str) -> bool:
    """Whether a text is a bound such as `>= 0.70`."""
    return _BOUND.fullmatch(text) is not None


def _readable(text: Any) -> Any:
    said = f"{text!r} is not" if isinstance(text, str) else f"is {kind_of(text)}, not"
    if not isinstance(text, str) or not is_bound(text):
        raise refusal(Violation((), f"{said} a bound", "Write for example '>= 0.70'."))
    return text


BoundText = Annotated[
    str, BeforeValidator(_readable), Field(json_schema_extra={"pattern": f"^{_BOUND.pattern}$"})
]
"""A bound as a file holds it."""
Drop = Annotated[float, Field(ge=0)]


class Regression(Model):
    """Drops, in the metric's own unit, from which a person looks, and beyond which a change stops."""

    investigate: Drop
    """From this drop on a person looks: 0.01 is a percentage point of a fraction."""
    block: Drop
    """Beyond this drop a change stops."""
    beyond: Literal["block", "needs_approval"] = "block"
    """Whether an approval lets a larger drop pass."""

    @field_validator("block")
    @classmethod
    def _larger(cls, block: float, info: ValidationInfo) -> float:
        if block < info.data.get("investigate", 0.0):
            raise refusal(Violation((), "is less than investigate", "Let the larger drop block."))
        return block


class Gate(Model):
    """What `gates.yaml` says of one metric."""

    fail: BoundText
    """Which values fail: "< 0.60"."""
    passes: BoundText = Field(validation_alias="pass", serialization_alias="pass")
    """Which values pass: ">= 0.70". What neither fails nor passes is a warning."""
    excellent: BoundText | None = None
    """Which values excel: ">= 0.85"."""
    warn: BoundText | None = None
    """Which values deserve a look though their zone is fine."""
    severity: Severity = "critical"
    """Whether the fail zone stops a change, or is a warning."""
    regression: Regression | None = None
    """Which drops matter; by default one and five points."""
    inconclusive: Literal["investigate", "block"] = "investigate"
    """What a drop leads to that may be chance."""

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


class GatesFile(Model):
    """The content of `gates.yaml`."""

    metrics: dict[str, Gate]
    """The gate of each metric of the suite."""
    operations: dict[Literal["latency_p95_ms", "cost_usd_per_answer"], Gate] = Field(default_factory=dict)
    """Limits on what asking costs in time and money."""

    @field_validator("metrics")
    @classmethod
    def _some(cls, metrics: dict[str, Gate]) -> dict[str, Gate]:
        if not metrics:
            raise refusal(Violation((), "is empty", "Without a gate nothing would ever fail."))
        return metrics


LARGEST_ERROR_RATE = 0.01
ERROR_GATE = Gate(fail=f"> {LARGEST_ERROR_RATE}", passes=f"<= {LARGEST_ERROR_RATE}", excellent="<= 0")
"""In every suite: more than one case in a hundred without a usable output is a failure."""


def plain_gates(gates: Mapping[str, Gate]) -> dict[str, Any]:
    """Gates as plain values, every field named as in a file: what identifies them."""
    return {name: gate.model_dump(by_alias=True) for name, gate in gates.items()}
