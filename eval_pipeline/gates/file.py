"""`gates.yaml`: the gates of a suite, checked before they are used."""

from collections.abc import Iterable, Mapping
from pathlib import Path

from msgspec.structs import replace

from eval_pipeline.files import Violation, read_yaml
from eval_pipeline.gates.gate import (
    ERROR_GATE,
    LARGEST_ERROR_RATE,
    NUMBER,
    Bound,
    Gate,
    GatesFile,
    Regression,
    is_bound,
)
from eval_pipeline.numbers import limit
from eval_pipeline.problems import BadInput, Problem, Problems
from eval_pipeline.suite import ERROR_RATE, Suite, all_metrics, quantities

GATES_FILE = "gates.yaml"


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
                and is_bound(gate.fail)
                and Bound.parse(gate.fail).limit > LARGEST_ERROR_RATE
            ):
                remedy = f"More than {limit(LARGEST_ERROR_RATE)} fails in every suite."
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


def _bound_violations(
    path: tuple[str, str, str], text: str | None, better: str | None, fraction: bool
) -> Iterable[Violation]:
    """A bound that cannot be read, can never hold, or would let bad values pass."""
    if text is None:
        return
    if not is_bound(text):
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
        if name not in metrics or not NUMBER.fullmatch(limit):
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
