"""How a metric stands against its gate."""

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Literal

import msgspec
from msgspec.structs import replace

from eval_pipeline.gates.gate import TOLERANCE, Bound, Gate, Zone
from eval_pipeline.numbers import Unit, number
from eval_pipeline.suite import Severity, Suite

OPERATION_UNITS: Mapping[str, Unit] = {"latency_p95_ms": "milliseconds", "cost_usd_per_answer": "dollars"}

Status = Literal["pass", "warn", "fail", "not_applicable"]
HARDLY_BETTER_THAN_A_COIN = 0.6
"""What is right so rarely judges nothing: its error would leave anything from failing to perfect."""


class GateResult(msgspec.Struct, frozen=True):
    """How a metric stands against its gate."""

    metric: str
    value: float | None
    zone: Zone | None
    status: Status
    severity: Severity
    message: str
    advice: str = ""
    """What the suite says to do about a value that does not pass."""
    interval: tuple[float, float] | None = None
    """Where the true value may lie, if a model judges that errs more often than the gate allows."""

    @property
    def text(self) -> str:
        """Message and advice."""
        return f"{self.message} {self.advice}".rstrip()


class MeasuredModel(msgspec.Struct, frozen=True):
    """A model behind metrics, with its measured accuracy."""

    name: str
    metrics: tuple[str, ...]
    accuracy: float
    told: str


def advise(suite: Suite, results: Iterable[GateResult]) -> tuple[GateResult, ...]:
    """The results, those that do not pass with the suite's advice on what to do."""
    judged = tuple(results)
    asked = suite.reporting.advice
    advice = asked({each.metric: each.status for each in judged}) if asked else {}
    return tuple(
        replace(each, advice=advice.get(each.metric, "")) if each.status in ("warn", "fail") else each
        for each in judged
    )


def gate_result(gate: Gate, metric: str, value: float | None, applies: bool, unit: Unit) -> GateResult:
    """The result of one gate. An undefined value fails, unless the metric does not apply."""
    if not applies:
        message = "The golden set has no case, or the run too few trials, for this metric to apply."
        return GateResult(metric, None, None, "not_applicable", gate.severity, message)
    if value is None or not math.isfinite(value):
        message = "The metric is undefined: nothing was there to measure. An undefined metric never passes."
        return GateResult(metric, None, None, "fail", gate.severity, message)
    zone = gate.zone(value)
    shown = number(value, unit)
    bounds = {name: bound.text(unit) for name, bound in gate.bounds.items()}
    status: Status = "pass"
    if zone == "fail":
        status = "fail" if gate.severity == "critical" else "warn"
        message = f"{shown} is in the fail zone ({bounds['fail']})"
        message += "." if gate.severity == "critical" else ", which is a warning here."
    elif zone == "between":
        status = "warn"
        message = f"{shown} is between fail ({bounds['fail']}) and pass ({bounds['pass']})."
    else:
        message = f"{shown} is in the {zone} zone ({bounds[zone]})."
    if status == "pass" and gate.warns(value):
        status = "warn"
        message = f"{shown} lies in the {zone} zone but calls for a look ({bounds['warn']})."
    return GateResult(metric, value, zone, status, gate.severity, message)


def operation_results(
    gates: Mapping[str, Gate], measures: Mapping[str, float | None]
) -> tuple[GateResult, ...]:
    """How latency and cost stand against their limits; what was not measured does not apply."""
    return tuple(
        gate_result(gate, name, measures[name], measures[name] is not None, OPERATION_UNITS[name])
        for name, gate in gates.items()
    )


def doubt(result: GateResult, gate: Gate, models: Sequence[MeasuredModel], unit: Unit) -> GateResult:
    """The same result, with the interval that is left where its judge errs more often than the gate allows.

    A classifier that is right 70 % of the time cannot tell 90 % from less: of every hundred things thirty may
    be judged wrongly, either way. That holds for every run, so it is said and is no warning. A judge that is
    hardly better than a coin is unusable: the gate does not pass, whatever the value.
    """
    bound = Bound.parse(gate.passes)
    needed = bound.limit if bound.sign.startswith(">") else 1.0 - bound.limit
    judging = [model for model in models if result.metric in model.metrics]
    weak = [model for model in judging if model.accuracy < max(needed, HARDLY_BETTER_THAN_A_COIN) - TOLERANCE]
    if not weak or result.value is None:
        return result
    accuracy = min(model.accuracy for model in weak)
    names = "; ".join(f"{model.name}, right {number(model.accuracy)} of the time" for model in weak)
    if accuracy < HARDLY_BETTER_THAN_A_COIN - TOLERANCE:
        status: Status = "fail" if gate.severity == "critical" else "warn"
        message = f"{number(result.value, unit)} says nothing, since what judges it ({names}) is unusable: "
        return replace(
            result, zone=None, status=status, message=f"{message}hardly better than a coin. Use another."
        )
    error = 1.0 - accuracy
    interval = (max(0.0, result.value - error), min(1.0, result.value + error))
    left = " to ".join(number(edge, unit) for edge in interval)
    message = f"{result.message} What judges it ({names}) cannot settle this gate: its error leaves {left}."
    return replace(result, interval=interval, message=message)
