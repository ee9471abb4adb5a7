"""Experiments: how numbers went from run to run, how stable they are, and versions side by side."""

import statistics
from collections.abc import Iterable, Mapping, Sequence

from eval_pipeline.numbers import NOTHING, change, counted, number
from eval_pipeline.statistics.variation import (
    LEAST_TRIALS,
    finding_consistency,
    overall_stability,
    pooled_sd_rule,
    recurrent_findings,
    run_stability,
    stability_label,
)
from eval_pipeline.suite import Experiment, KeyedCount, PerTrial, Reading, Rows, TrialMetric, TrialTable, Unit
from eval_pipeline.suites.review.cases import CATEGORIES
from eval_pipeline.suites.review.scoring import (
    CATEGORY_TABLE,
    CONCERN_TABLE,
    FOUND_TABLE,
    SEVERITY_TABLE,
    TASK_TABLE,
)

EXPERIMENT_TABLE = "experiment"
HEATMAP_TABLE = "category_heatmap"
LARGE_DELTA = 5.0
STABLE_METRICS = ("detection_rate", "weighted_detection_score", "precision", "depth_quality", "oes")
SHORT_NAMES = {
    "detection_rate": "DR",
    "detection_rate_critical": "DR_critical",
    "detection_rate_important": "DR_important",
    "weighted_detection_score": "WDS",
    "token_efficiency": "TE",
    "concern_efficiency_layer_A": "CE_layer_A",
    "concern_efficiency_layer_B": "CE_layer_B",
    "concern_efficiency_layer_C": "CE_layer_C",
    "precision": "P",
    "discovery_rate": "DIS",
    "depth_quality": "DQ",
    "category_coverage": "CC",
    "oes": "OES",
}
"""The rows of the per-experiment table, under the names of the document."""
TASK_METRICS = {
    short: metric for metric, short in SHORT_NAMES.items() if short in ("DR", "WDS", "TE", "P", "DQ", "OES")
}
"""What the cross-experiment table shows, by its name there."""
PERCENTAGES = ("DR", "DR_critical", "DR_important", "WDS", "P", "DIS", "CC", "FC")
EXPERIMENT_UNITS: Mapping[str, Unit] = {**dict.fromkeys(PERCENTAGES, "fraction"), "OES": "points"}
"""The units of the rows; the others are plain numbers."""


def stability_line(name: str, values: Sequence[float | None]) -> str:
    """`DR = 65% ± 8% (RS = 0.88) – STABLE`."""
    present = [value for value in values if value is not None]
    if len(present) != len(values) or not present:
        return f"{name} is undefined in {counted(len(values) - len(present), 'run')} of {len(values)}"
    size, sign = (100, "%") if name in PERCENTAGES else (1, "")
    digits = 0 if sign else 2
    mean = f"{name} = {statistics.fmean(present) * size:.{digits}f}{sign}"
    if len(present) < LEAST_TRIALS:
        return f"{mean} ({counted(len(present), 'run')}: stability needs {LEAST_TRIALS})"
    spread = f"{mean} ± {statistics.stdev(present) * size:.{digits}f}{sign}"
    stability = run_stability(values)
    if stability is None:
        return f"{spread} (RS undefined: the mean is 0)"
    return f"{spread} (RS = {stability:.2f}) – {stability_label(stability)}"


def experiment(
    per_trial: Mapping[str, Sequence[float | None]],
    over_trials: Mapping[str, float | None],
    tables: Mapping[str, Rows],
) -> Rows:
    """The per-experiment table: each run, mean, standard deviation and stability, and the overall one."""
    rows: Rows = []
    stabilities: list[float | None] = []
    runs = len(per_trial["detection_rate"])
    for metric, name in SHORT_NAMES.items():
        values = per_trial[metric]
        present = [value for value in values if value is not None]
        if not present:
            continue
        complete = len(present) == runs
        stabilities.append(run_stability(values))
        rows.append(
            {
                "metric": name,
                **{f"run {index}": value for index, value in enumerate(values, start=1)},
                "mean": statistics.fmean(present) if complete else None,
                "sd": statistics.stdev(present) if complete and runs > 1 else None,
                "RS": stabilities[-1],
                "line": stability_line(name, values),
            }
        )
    blank = dict.fromkeys([*(f"run {index}" for index in range(1, runs + 1)), "mean", "sd", "RS"], None)
    consistency = over_trials["finding_consistency"]
    recurrent = number(over_trials["finding_recurrence"])
    message = f"FC = {number(consistency)} over {counted(runs, 'run')}; {recurrent} of findings recur"
    rows.append({"metric": "FC", **blank, "mean": consistency, "line": message})
    overall = overall_stability(stabilities) or f"cannot be told ({LEAST_TRIALS} runs needed)"
    rows.append({"metric": "overall", **blank, "line": f"Stability: {overall}"})
    return rows


def recurrent(
    per_trial: Mapping[str, Sequence[float | None]],
    over_trials: Mapping[str, float | None],
    tables: Mapping[str, Rows],
) -> Rows:
    """Findings with the number of runs they appear in; above half they are confirmed. From three runs on."""
    runs = len(per_trial["detection_rate"])
    if runs < LEAST_TRIALS:
        return []
    return [
        {**row, "runs": f"{row['runs']} of {runs}", "confirmed": "✓" if row["runs"] > runs / 2 else ""}
        for row in tables[FOUND_TABLE]
    ]


def _per_run(name: str, columns: Sequence[str]) -> TrialTable:
    """A table of counts as a mean over runs, so that more trials do not look like more findings."""

    def build(
        per_trial: Mapping[str, Sequence[float | None]],
        over_trials: Mapping[str, float | None],
        tables: Mapping[str, Rows],
    ) -> Rows:
        runs = len(per_trial["detection_rate"])
        return [{**row, **{column: row[column] / runs for column in columns}} for row in tables[name]]

    return build


TRIAL_TABLES: Mapping[str, TrialTable] = {
    EXPERIMENT_TABLE: experiment,
    FOUND_TABLE: recurrent,
    SEVERITY_TABLE: _per_run(SEVERITY_TABLE, ("detected", "missed")),
    CATEGORY_TABLE: _per_run(CATEGORY_TABLE, ("detected", "missed")),
    CONCERN_TABLE: _per_run(CONCERN_TABLE, ("findings", "points", "methods")),
}


def _with_spread(name: str, values: Sequence[float | None]) -> str:
    """Mean ± standard deviation; the latter from three runs on."""
    mean = number(_mean(values), _unit(name))
    if mean == NOTHING or len(values) < LEAST_TRIALS:
        return mean
    return f"{mean} ± {number(statistics.stdev(value or 0.0 for value in values), _unit(name))}"


def _unit(name: str) -> Unit:
    return EXPERIMENT_UNITS.get(name, "number")


def _mean(values: Sequence[float | None]) -> float | None:
    """The mean over runs; None where one of them is undefined."""
    present = [value for value in values if value is not None]
    return statistics.fmean(present) if present and len(present) == len(values) else None


def cross_experiment(experiments: Mapping[str, Experiment]) -> Rows:
    """One row for each task and version, all tasks first: its numbers, and the improvement delta.

    The delta is against the first version on the same task. `Sig?` is the document's rule |ID| > 2 · pooled
    sd, for information; the verdict is the comparison's.
    """
    rows: Rows = []
    bases: dict[str, Sequence[float | None]] = {}
    by_version = {version: _by_task(each) for version, each in experiments.items()}
    for task in dict.fromkeys(task for tasks in by_version.values() for task in tasks):
        for version, tasks in by_version.items():
            if (values := tasks.get(task)) is None:
                continue
            rows.append(
                {
                    "Exp": f"{len(rows) + 1:03}",
                    "Workflow": version,
                    "Task": task,
                    "Runs": len(values["OES"]),
                    **{f"{name}±σ": _with_spread(name, values[name]) for name in ("DR", "WDS")},
                    **{name: number(_mean(values[name]), _unit(name)) for name in ("TE", "P", "DQ")},
                    "OES±σ": _with_spread("OES", values["OES"]),
                    **_delta(bases.get(task), values["OES"]),
                }
            )
            bases.setdefault(task, values["OES"])
    return rows


def _by_task(experiment_: Experiment) -> dict[str, dict[str, Sequence[float | None]]]:
    """The values of every run, over all tasks and for each of them."""
    rows: dict[str, Rows] = {}
    for row in experiment_.tables[TASK_TABLE]:
        rows.setdefault(row["task"], []).append(row)
    whole = {name: experiment_.per_trial[metric] for name, metric in TASK_METRICS.items()}
    return {
        f"all {counted(experiment_.cases, 'task')}": whole,
        **{task: {name: [row[name] for row in own] for name in TASK_METRICS} for task, own in rows.items()},
    }


def _delta(base: Sequence[float | None] | None, values: Sequence[float | None]) -> dict[str, str]:
    """Improvement delta, and whether the pooled-sd rule calls it significant."""
    if base is None:
        return {"ID": "base", "Sig?": NOTHING}
    delta, significant = improvement(base, values)
    if delta is None:
        return {"ID": NOTHING, "Sig?": NOTHING}
    message = {True: "Y", False: "N", None: f"needs {LEAST_TRIALS} runs"}[significant]
    return {"ID": change(delta, "points"), "Sig?": message}


def improvement(
    before: Sequence[float | None], after: Sequence[float | None]
) -> tuple[float | None, bool | None]:
    """The difference of means, and whether it exceeds 2 · pooled sd, which is unknown below three runs."""
    old, new = _mean(before), _mean(after)
    if old is None or new is None:
        return None, None
    enough = min(len(before), len(after)) >= LEAST_TRIALS
    runs = [[value for value in side if value is not None] for side in (before, after)]
    return new - old, pooled_sd_rule(*runs) if enough else None


def improvement_band(delta: float, significant: bool | None) -> tuple[str, str]:
    """The document's meaning and confidence.

    It is silent on a fall that is not significant, which here is the mirror of such a rise.
    """
    if delta > LARGE_DELTA:
        if significant:
            return "Major improvement", "high confidence"
        return "Possible improvement", "low confidence: more data is needed"
    if delta >= 0:
        return "Minor change", "it might be noise"
    if significant:
        return "Regression", "high confidence: revert"
    return "Possible regression", "low confidence: more data is needed"


def readings(before: PerTrial, after: PerTrial) -> list[Reading]:
    """The improvement delta of a comparison, with the document's rule and label."""
    delta, significant = improvement(before["oes"], after["oes"])
    old, new = _mean(before["oes"]), _mean(after["oes"])
    details = {"oes_before": old, "oes_after": new, "pooled_sd_rule": significant}
    if delta is None:
        text = "improvement_delta is undefined: oes has no value in a run of one side."
        return [Reading("improvement_delta", None, "undefined", text, details)]
    label, confidence = improvement_band(delta, significant)
    rule = {
        True: "beyond 2 pooled standard deviations",
        False: "within 2 pooled standard deviations",
        None: f"the pooled-sd rule needs {LEAST_TRIALS} runs of both sides",
    }[significant]
    sides = f"oes {number(old, 'points')} → {number(new, 'points')}"
    found = f"improvement_delta {change(delta, 'points')} ({sides}; {rule})"
    text = f"{found}: {label}, {confidence}. It informs; the verdict decides."
    return [Reading("improvement_delta", delta, label, text, details)]


def category_heatmap(experiments: Mapping[str, Experiment]) -> Rows:
    """Which version detects which category: ✓ above 75 %, ~ from 50 %, ✗ below (blind spot)."""
    rows: Rows = []
    for version, experiment_ in experiments.items():
        signs = {row["category"]: row["sign"] for row in experiment_.tables[CATEGORY_TABLE]}
        coverage = number(_mean(experiment_.per_trial["category_coverage"]))
        rows.append(
            {"Workflow": version, **{name: signs.get(name, "") for name in CATEGORIES}, "CC": coverage}
        )
    return rows


CROSS_TABLES = {"cross_experiment": cross_experiment, HEATMAP_TABLE: category_heatmap}


def _stability_of(metric: str) -> TrialMetric:
    return TrialMetric(
        f"run_stability_{metric}",
        f"1 − sd ÷ mean of {metric} over trials, sd with n − 1; it may be negative.",
        lambda values, keyed: run_stability(values[metric]),
        unit="number",
        minimum_trials=LEAST_TRIALS,
    )


def _found_by_trial(
    values: Mapping[str, Sequence[float | None]], keyed: Iterable[tuple[str, int, KeyedCount]]
) -> list[list[set[str]]]:
    """What was found in every trial of every task; nothing in a trial that failed."""
    trials = len(values["detection_rate"])
    results: dict[str, dict[int, set[str]]] = {}
    for case_id, trial, row in keyed:
        if row.table == FOUND_TABLE:
            results.setdefault(case_id, {}).setdefault(trial, set()).add(row.row_key)
    return [
        [*by_trial.values(), *(set() for _ in range(trials - len(by_trial)))] for by_trial in results.values()
    ]


def _consistency(
    values: Mapping[str, Sequence[float | None]], keyed: Iterable[tuple[str, int, KeyedCount]]
) -> float | None:
    """The mean over tasks of findings in all trials ÷ findings in any."""
    shares = [finding_consistency(trials).share for trials in _found_by_trial(values, keyed)]
    present = [share for share in shares if share is not None]
    return statistics.fmean(present) if present else None


def _recurrence(
    values: Mapping[str, Sequence[float | None]], keyed: Iterable[tuple[str, int, KeyedCount]]
) -> float | None:
    """The mean over tasks of findings in over half of the trials ÷ findings in any."""
    tasks = _found_by_trial(values, keyed)
    shares = [len(recurrent_findings(trials)) / len(set().union(*trials)) for trials in tasks]
    return statistics.fmean(shares) if shares else None


TRIAL_METRICS = (
    *map(_stability_of, STABLE_METRICS),
    TrialMetric(
        "finding_consistency",
        "Findings in all trials ÷ findings in any, mean over tasks; it shrinks with the number of trials.",
        _consistency,
        minimum_trials=LEAST_TRIALS,
    ),
    TrialMetric(
        "finding_recurrence",
        "Findings in over half of the trials ÷ findings in any, mean over tasks: those to report.",
        _recurrence,
        minimum_trials=LEAST_TRIALS,
    ),
)
