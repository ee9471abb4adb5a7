"""`gates.yaml`: the gates of a suite, checked before they are used."""

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from eval_pipeline.files import Violation, is_there
from eval_pipeline.files.models import field_at, read_model
from eval_pipeline.files.words import did_you_mean
from eval_pipeline.gates.gate import ERROR_GATE, LARGEST_ERROR_RATE, NUMBER, Bound, Gate, GatesFile, is_bound
from eval_pipeline.numbers import limit
from eval_pipeline.problems import BadInput, Problem, Problems
from eval_pipeline.suite import ERROR_RATE, Metric, Suite, TrialMetric, all_metrics, quantities

GATES_FILE = "gates.yaml"


BOUNDS = ("fail", "pass", "excellent", "warn")


def read_gates(suite: Suite, path: Path, problems: Problems) -> dict[str, Gate]:
    """The gates of a suite, from a `gates.yaml`; the gate on errors is always among them."""
    known = quantities(suite)

    def check(value: Any) -> Iterator[Violation]:
        for name, gate in _gates(value, "metrics"):
            yield from _metric_violations(name, gate, known)
        for measure, gate in _gates(value, "operations"):
            for field in BOUNDS:
                yield from _bound_violations(("operations", measure, field), gate.get(field), "<", False)

    if not is_there(path):
        remedy = f'Write for example: metrics: {{{suite.headline}: {{fail: "< 0.6", pass: ">= 0.7"}}}}.'
        problems.add(path, "is missing, and without a gate nothing would ever fail", remedy)
        return {ERROR_RATE.name: ERROR_GATE}
    file = read_model(path, GatesFile, problems, check)
    gates = dict(file.metrics) if file else {}
    gates.setdefault(ERROR_RATE.name, ERROR_GATE)
    return gates


def read_operation_gates(path: Path) -> dict[str, Gate]:
    """The limits on latency and cost; none where the file cannot be used, which the metrics say."""
    file = read_model(path, GatesFile, Problems()) if path.is_file() else None
    return {str(name): gate for name, gate in file.operations.items()} if file else {}


def same_gates(one: Path, other: Path) -> bool:
    """Whether two files say the same, whatever their comments; a file that cannot be used says nothing."""
    problems = Problems()
    said = [read_model(file, GatesFile, problems) if is_there(file) else None for file in (one, other)]
    return not len(problems) and said[0] is not None and said[0] == said[1]


def _gates(value: Any, part: str) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """The gates of one part of the file, as far as they look like some."""
    gates = field_at(value, part)
    for name, gate in gates.items() if isinstance(gates, dict) else ():
        if isinstance(name, str):
            yield name, gate if isinstance(gate, dict) else {}


def _metric_violations(
    name: str, gate: Mapping[str, Any], known: Mapping[str, Metric | TrialMetric]
) -> Iterator[Violation]:
    """What a gate says that its metric denies."""
    metric = known.get(name)
    if metric is None:
        remedy = f"{did_you_mean(name, known)}Metrics: {_listed(known)}."
        yield Violation(("metrics", name), "is not a metric of the suite", remedy)
        return
    better, fraction = ">" if metric.direction == "higher" else "<", metric.unit == "fraction"
    for field in BOUNDS:
        yield from _bound_violations(("metrics", name, field), gate.get(field), better, fraction)
    block = field_at(gate, "regression", "block")
    if fraction and isinstance(block, int | float) and block > 1:
        remedy = "Five points are 0.05."
        yield Violation(("metrics", name, "regression", "block"), "can never be reached", remedy)
    fail = gate.get("fail", "")
    if name == ERROR_RATE.name and _usable(fail) and Bound.parse(fail).limit > LARGEST_ERROR_RATE:
        remedy = f"More than {limit(LARGEST_ERROR_RATE)} fails in every suite."
        yield Violation(("metrics", name, "fail"), f"{fail!r} is too lenient", remedy)


def _bound_violations(
    path: tuple[str, str, str], text: Any, better: str, fraction: bool
) -> Iterable[Violation]:
    """A bound that can never hold, or would let bad values pass."""
    if not _usable(text):
        return
    bound, bad_news = Bound.parse(text), path[-1] in ("fail", "warn")
    if (bound.sign[0] == better) == bad_news:
        remedy = f"Of this metric {'higher' if better == '>' else 'lower'} values are better."
        yield Violation(path, f"{text!r} points the wrong way", remedy)
    if fraction and not -1 <= bound.limit <= 1:
        yield Violation(path, f"{text!r} is out of range", "This metric is a fraction: 5 % is 0.05.")


def _usable(text: Any) -> bool:
    return isinstance(text, str) and is_bound(text)


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
        limits = Gate(fail=f"{worse} {limit}", passes=f"{fine} {limit}")
        bounds = {"fail": limits.fail, "passes": limits.passes, "excellent": None, "warn": None}
        changed[metric.name] = gates.get(metric.name, limits).model_copy(update=bounds)
    if wrong:
        raise BadInput(wrong)
    return changed
