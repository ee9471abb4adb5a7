"""Gates: `gates.yaml` says per metric which values fail, pass and excel, and which drops matter."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Annotated, Literal, NamedTuple

import msgspec
from msgspec.structs import replace

from eval_pipeline.documents import Violation, read_yaml
from eval_pipeline.problems import BadInput, Problem, Problems
from eval_pipeline.scoring import ERROR_RATE, all_metrics, quantities
from eval_pipeline.suite import Severity, Suite

TOLERANCE = 1e-9
GATES_FILE = "gates.yaml"

Zone = Literal["fail", "between", "pass", "excellent"]
Status = Literal["pass", "warn", "fail", "not_applicable"]

_NUMBER = re.compile(r"[-+]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][-+]?[0-9]+)?")
_BOUND = re.compile(rf"\s*(<=|>=|<|>)\s*({_NUMBER.pattern})\s*")


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

    def __str__(self) -> str:
        return f"{self.sign} {self.limit:g}"


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

    @property
    def told(self) -> str:
        """Message and advice."""
        return f"{self.message} {self.advice}".rstrip()


class JudgedBy(msgspec.Struct, frozen=True):
    """A model behind metrics, with its measured accuracy."""

    name: str
    metrics: tuple[str, ...]
    accuracy: float
    told: str


LARGEST_ERROR_RATE = 0.01
ERROR_GATE = Gate(fail=f"> {LARGEST_ERROR_RATE}", passes=f"<= {LARGEST_ERROR_RATE}", excellent="<= 0")
"""In every suite: more than one case in a hundred without a usable output is a failure."""


def read_gates(suite: Suite, path: Path, problems: Problems) -> dict[str, Gate]:
    """The gates of a suite, from a `gates.yaml`; the gate on errors is always among them."""
    known = quantities(suite)

    def check(file: GatesFile) -> Iterable[Violation]:
        for name, gate in file.metrics.items():
            better = None
            if name in known:
                better = ">" if known[name].direction == "higher" else "<"
            else:
                remedy = f"Metrics: {_listed(known)}."
                yield Violation(("metrics", name), "is not a metric of the suite", remedy)
            fraction = name in known and known[name].unit == "fraction"
            for field in ("fail", "pass", "excellent", "warn"):
                text = getattr(gate, "passes" if field == "pass" else field)
                yield from _bound_violations(("metrics", name, field), text, better, fraction)
            yield from _regression_violations(("metrics", name, "regression"), gate.regression, fraction)
            if (
                name == ERROR_RATE.name
                and _is_bound(gate.fail)
                and Bound.parse(gate.fail).limit > LARGEST_ERROR_RATE
            ):
                remedy = f"More than {LARGEST_ERROR_RATE:g} fails in every suite."
                yield Violation(("metrics", name, "fail"), f"{gate.fail!r} is too lenient", remedy)
        if not file.metrics:
            yield Violation(("metrics",), "is empty", "Without a gate nothing would ever fail.")
        for measure, gate in file.operations.items():
            for field in ("fail", "pass", "excellent", "warn"):
                text = getattr(gate, "passes" if field == "pass" else field)
                yield from _bound_violations(("operations", measure, field), text, "<", False)

    file = read_yaml(path, GatesFile, problems, check)
    gates = dict(file.metrics) if file else {}
    gates.setdefault(ERROR_RATE.name, ERROR_GATE)
    return gates


def read_operation_gates(path: Path) -> dict[str, Gate]:
    """The limits on latency and cost; none where the file cannot be used, which the metrics say."""
    file = read_yaml(path, GatesFile, Problems()) if path.is_file() else None
    return {str(name): gate for name, gate in file.operations.items()} if file else {}


def _is_bound(text: str) -> bool:
    return _BOUND.fullmatch(text) is not None


def _bound_violations(
    path: tuple[str, str, str], text: str | None, better: str | None, fraction: bool
) -> Iterable[Violation]:
    """A bound that cannot be read, can never hold, or would let bad values pass."""
    if text is None:
        return
    if not _is_bound(text):
        yield Violation(path, f"{text!r} is not a bound", "Write for example '>= 0.70'.")
        return
    bound, bad_news = Bound.parse(text), path[-1] in ("fail", "warn")
    if better and (bound.sign[0] == better) == bad_news:
        remedy = f"Of this metric {'higher' if better == '>' else 'lower'} values are better."
        yield Violation(path, f"{text!r} points the wrong way", remedy)
    if fraction and not -1 <= bound.limit <= 1:
        yield Violation(path, f"{text!r} is out of range", "This metric is a fraction: 5 % is 0.05.")


def _regression_violations(
    path: tuple[str, str, str], rules: Regression | None, fraction: bool
) -> Iterable[Violation]:
    if rules is None:
        return
    if rules.block < rules.investigate:
        yield Violation((*path, "block"), "is less than investigate", "Let the larger drop block.")
    if fraction and rules.block > 1:
        yield Violation((*path, "block"), "can never be reached", "Five points are 0.05.")


def _listed(names: Iterable[str]) -> str:
    return ", ".join(sorted(names))


def override(gates: Mapping[str, Gate], text: str, suite: Suite) -> dict[str, Gate]:
    """Gates with limits replaced as `--gates metric=limit,…` says: worse than the limit fails.

    A metric may be called by any of its aliases.
    """
    changed = dict(gates)
    metrics = {name: metric for metric in all_metrics(suite) for name in (metric.name, *metric.aliases)}
    wrong: list[Problem] = []
    for part in filter(None, text.split(",")):
        name, _, limit = (piece.strip() for piece in part.partition("="))
        if name not in metrics or not _NUMBER.fullmatch(limit):
            remedy = f"Write metric=limit, with one of: {_listed(metrics)}."
            wrong.append(Problem("input", 0, "--gates", f"{part!r} is not a gate", remedy))
            continue
        metric = metrics[name]
        worse, fine = ("<", ">=") if metric.direction == "higher" else (">", "<=")
        gate = gates.get(metric.name, Gate("", ""))
        changed[metric.name] = replace(
            gate, fail=f"{worse} {limit}", passes=f"{fine} {limit}", excellent=None, warn=None
        )
    if wrong:
        raise BadInput(wrong)
    return changed


def advise(suite: Suite, results: Iterable[GateResult]) -> tuple[GateResult, ...]:
    """The results, those that do not pass with the suite's advice on what to do."""
    judged = tuple(results)
    advice = suite.advice({each.metric: each.status for each in judged}) if suite.advice else {}
    return tuple(
        replace(each, advice=advice.get(each.metric, "")) if each.status in ("warn", "fail") else each
        for each in judged
    )


def judge(gate: Gate, metric: str, value: float | None, applies: bool, shown: str) -> GateResult:
    """The result of one gate. An undefined value fails, unless the metric does not apply."""
    if not applies:
        message = "The golden set has no case, or the run too few trials, for this metric to apply."
        return GateResult(metric, None, None, "not_applicable", gate.severity, message)
    if value is None or not math.isfinite(value):
        message = "The metric is undefined: nothing was there to measure. An undefined metric never passes."
        return GateResult(metric, None, None, "fail", gate.severity, message)
    zone = gate.zone(value)
    status: Status = "pass"
    if zone == "fail":
        status = "fail" if gate.severity == "critical" else "warn"
        message = f"{shown} is in the fail zone ({gate.fail})."
    elif zone == "between":
        status = "warn"
        message = f"{shown} is between fail ({gate.fail}) and pass ({gate.passes})."
    else:
        message = f"{shown} is in the {zone} zone ({gate.excellent if zone == 'excellent' else gate.passes})."
    if status == "pass" and gate.warns(value):
        status = "warn"
        message = f"{shown} lies in the {zone} zone but calls for a look ({gate.warn})."
    return GateResult(metric, value, zone, status, gate.severity, message)


def doubt(result: GateResult, gate: Gate, models: Sequence[JudgedBy]) -> GateResult:
    """The same result, with a warning where a model behind the metric errs more often than its gate allows.

    A classifier that is right 70 % of the time cannot tell 90 % from less: such a gate never simply passes.
    """
    bound = Bound.parse(gate.passes)
    needed = bound.limit if bound.sign.startswith(">") else 1.0 - bound.limit
    weak = [
        model for model in models if result.metric in model.metrics and model.accuracy < needed - TOLERANCE
    ]
    if not weak or result.status == "not_applicable":
        return result
    told = "; ".join(f"{model.name}, right {model.accuracy:.1%} of the time" for model in weak)
    message = f"{result.message} What judges it is weaker than the gate: {told}."
    return replace(result, status="warn" if result.status == "pass" else result.status, message=message)
