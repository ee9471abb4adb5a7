"""Tables for people: by severity, category and concern, what a sample may claim, and what hides in it."""

import math
from collections.abc import Mapping, Sequence

from eval_pipeline.numbers import counted, number
from eval_pipeline.statistics.variation import LEAST_TRIALS, stability_label
from eval_pipeline.suite import KeyedSums, Rows, Sums, Unit, Values, defined
from eval_pipeline.suites.review import scoring
from eval_pipeline.suites.review.cases import CATEGORIES, SEVERITIES
from eval_pipeline.suites.review.experiments import (
    EXPERIMENT_TABLE,
    EXPERIMENT_UNITS,
    HEATMAP_TABLE,
    TASK_METRICS,
)

CONSISTENTLY, SOMETIMES = 0.75, 0.5
HIGH_DISCOVERY = 0.2
TASKS_TO_GENERALISE = 5
TASKS_FOR_BLIND_SPOT = 3
SIGNS = {"consistently": "✓", "sometimes": "~", "rarely": "✗"}


def category_sign(rate: float | None) -> str:
    """✓ above 75 %, ~ from 50 to 75 %, ✗ below: a blind spot; blank where there is nothing to detect."""
    if rate is None:
        return ""
    if rate > CONSISTENTLY + 1e-9:
        return SIGNS["consistently"]
    return SIGNS["rarely"] if rate < SOMETIMES - 1e-9 else SIGNS["sometimes"]


def _rates(table: KeyedSums, names: Sequence[str]) -> dict[str, tuple[float, float]]:
    """Expected and detected, by row key."""
    places = {key: index for index, key in enumerate(table.row_keys)}
    expected, detected = (table.column(name)[0] for name in ("expected", "detected"))
    return {
        name: (float(expected[at]), float(detected[at]))
        for name in names
        if (at := places.get(name, -1)) >= 0
    }


def severities(table: KeyedSums) -> Rows:
    """Detected and missed errors by severity."""
    return [
        {"severity": name, "detected": each, "missed": wanted - each, "rate": each / wanted}
        for name, (wanted, each) in _rates(table, SEVERITIES).items()
    ]


def categories(table: KeyedSums) -> Rows:
    """Detected and missed errors by category, in how many tasks, and the heatmap's sign."""
    columns = [index for index, key in enumerate(table.column_keys) if key.startswith(scoring.TASK)]
    tasks = {key: int((table.values[0, row, columns] > 0).sum()) for row, key in enumerate(table.row_keys)}
    return [
        {
            "category": name,
            "detected": each,
            "missed": wanted - each,
            "rate": each / wanted,
            "tasks": tasks[name],
            "sign": category_sign(each / wanted),
        }
        for name, (wanted, each) in _rates(table, CATEGORIES).items()
    ]


def concerns(table: KeyedSums) -> Rows:
    """Points, methods and concern efficiency by concern; one whose methods found nothing is among them."""
    points, methods, findings = (table.column(name)[0] for name in ("points", "methods", "findings"))
    return [
        {
            "concern": name,
            "findings": int(findings[row]),
            "points": float(points[row]),
            "methods": int(methods[row]),
            "efficiency": float(points[row] / methods[row]) if methods[row] else None,
        }
        for row, name in enumerate(table.row_keys)
    ]


def sample(table: KeyedSums) -> Rows:
    """How many tasks and runs there are, and which claims they are too few for."""
    tasks = len(table.row_keys)
    per_task = table.values[0].sum(axis=1)
    runs = int(per_task.min()) if tasks else 0
    return [{"tasks": tasks, "runs": runs, "claims": claims(tasks, runs)}]


def claims(tasks: int, runs: int) -> str:
    """What a sample of that size does not allow to say."""
    missing = []
    if runs < LEAST_TRIALS:
        missing.append(f"no assessment of a workflow and no comparison ({LEAST_TRIALS} runs needed)")
    if runs < LEAST_TRIALS or tasks < TASKS_TO_GENERALISE:
        missing.append("no generalisation claim")
    size = f"{counted(runs, 'run')} of {counted(tasks, 'task')}"
    return f"{size}: {', '.join(missing) or 'enough to generalise'}"


def proposed_additions(table: KeyedSums) -> Rows:
    """Bonus findings: real errors that the ground truth does not have yet."""
    return _runs_of(table)


def findings(table: KeyedSums) -> Rows:
    """Every finding with the number of runs it appears in, those that appear most often first."""
    return sorted(_runs_of(table), key=lambda row: -row["runs"])


def _runs_of(table: KeyedSums) -> Rows:
    runs = table.column("runs")[0]
    return [{"finding": name, "runs": int(runs[row])} for row, name in enumerate(table.row_keys)]


def tasks(table: KeyedSums) -> Rows:
    """Every run of every task, by the metrics' own formulas; runs of a task that failed come last."""
    runs = {key.partition(" ")[0] for key in table.column_keys}
    rows: Rows = []
    for place, task in enumerate(table.row_keys):
        for run in sorted(runs, key=lambda name: (name == scoring.FAILED_RUN, len(name), name)):
            counts = {name: table.column(f"{run} {name}")[:, place] for name in scoring.TASK_COUNTS}
            times = int(counts[defined("token_efficiency")][0])
            values = {name: _value(metric, counts) for name, metric in TASK_METRICS.items()}
            rows += [{"task": task, "run": run, **values}] * times
    return rows


def _value(metric: str, counts: Mapping[str, Values]) -> float | None:
    formula = next(each.formula for each in scoring.METRICS if each.name == metric)
    value = float(formula(Sums(counts, {}))[0])
    return None if math.isnan(value) else value


TABLES = {
    scoring.SEVERITY_TABLE: severities,
    scoring.CATEGORY_TABLE: categories,
    scoring.CONCERN_TABLE: concerns,
    scoring.SAMPLE_TABLE: sample,
    scoring.BONUS_TABLE: proposed_additions,
    scoring.FOUND_TABLE: findings,
    scoring.TASK_TABLE: tasks,
}
LEGENDS = dict.fromkeys(
    (scoring.CATEGORY_TABLE, HEATMAP_TABLE),
    "✓ above 75 %: consistently detected · ~ 50 to 75 %: sometimes · ✗ below 50 %: rarely, a blind spot · "
    "blank: nothing to detect",
)
TABLE_UNITS: Mapping[str, Unit] = {"rate": "fraction", "RS": "number", **EXPERIMENT_UNITS}


def problems(tables: Mapping[str, Rows]) -> list[str]:
    """What the headline hides: blind spots, instability, claims that the sample is too small for."""
    result = _blind_spots(tables[scoring.CATEGORY_TABLE])
    lines = {row["metric"]: row for row in tables[EXPERIMENT_TABLE]}
    result += [row["line"] for name, row in lines.items() if name != "overall" and _shaky(row)]
    result += [row["claims"] for row in tables[scoring.SAMPLE_TABLE] if "no " in row["claims"]]
    discovery = lines.get("DIS", {}).get("mean")
    if discovery is not None and discovery > HIGH_DISCOVERY:
        count = counted(len(tables[scoring.BONUS_TABLE]), "confirmed finding")
        result.append(f"discovery rate {number(discovery)}: the ground truth is incomplete, add the {count}")
    return result


def _shaky(row: Mapping[str, object]) -> bool:
    stability = row.get("RS")
    return isinstance(stability, float) and stability_label(stability) != "STABLE"


def _blind_spots(rows: Rows) -> list[str]:
    blind = sorted((row for row in rows if row["sign"] == SIGNS["rarely"]), key=lambda row: row["rate"])
    return [
        f"blind spot {row['category']} ({number(row['rate'])} in {counted(row['tasks'], 'task')})"
        if row["tasks"] >= TASKS_FOR_BLIND_SPOT
        else f"{row['category']} {number(row['rate'])}, in too few tasks to call it a blind spot"
        for row in blind
    ]
