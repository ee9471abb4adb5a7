"""A summary whose numbers rest on the cases that an engine did not learn from, the others beside them."""

from collections.abc import Mapping, Sequence

import numpy as np
from msgspec.structs import replace

from eval_pipeline.comparison.evidence import finite
from eval_pipeline.comparison.pairing import left_out
from eval_pipeline.gates import Gate, MeasuredModel
from eval_pipeline.scoring import ALL, HeldOut, Interval, Part, Scores, Summary, metric_means, summarize
from eval_pipeline.statistics.values import value_intervals
from eval_pipeline.suite import Metric, Suite, all_metrics, quantities


def summarize_held_out(
    suite: Suite,
    scores: Scores,
    held_out: tuple[str, str] | None,
    gates: Mapping[str, Gate],
    models: Sequence[MeasuredModel] = (),
) -> Summary:
    """The summary of an engine's scores: of the cases it did not learn from, where it learned from others.

    Where none of the cases is held out, the numbers rest on all of them, and the summary says so.
    """
    if held_out is None:
        return summarize(suite, scores, gates, models)
    attribute, value = held_out
    own = scores.having(attribute, value)
    if not own.counts.num_rows:
        problem = f"the engine learned from such cases, and none is held out (no {attribute} is {value})"
        summary = summarize(suite, scores, gates, models)
        return replace(summary, problems=(problem, *summary.problems))
    summary = summarize(suite, own, gates, models)
    held = HeldOut(
        attribute,
        value,
        summary.cases,
        metric_intervals(all_metrics(suite), own),
        _beside(suite, scores, held_out),
    )
    units = {name: each.unit for name, each in quantities(suite).items()}
    results = [
        replace(each, message=f"{each.message} {held.text(each.metric, each.value, units[each.metric])}.")
        if each.status != "not_applicable"
        else each
        for each in summary.gates
    ]
    return replace(summary, held_out=held, gates=tuple(results))


def metric_intervals(metrics: Sequence[Metric], scores: Scores) -> dict[str, Interval]:
    """Where metrics would lie on other cases of the kind."""
    fractions = np.array([metric.unit == "fraction" for metric in metrics])
    low, high, cases = value_intervals(left_out(metrics, scores), fractions)
    return {
        metric.name: Interval(int(cases[place]), finite(float(low[place])), finite(float(high[place])))
        for place, metric in enumerate(metrics)
    }


def _beside(suite: Suite, scores: Scores, held_out: tuple[str, str]) -> dict[str, Part]:
    attribute, value = held_out
    names, _ = scores.attribute(attribute)
    parts = {name or "others": scores.having(attribute, name) for name in names if name != value}
    results = {name: Part(part.case_count, metric_means(suite, part)) for name, part in parts.items()}
    largest_first = sorted(results.items(), key=lambda each: -each[1].cases)
    return {ALL: Part(scores.case_count, metric_means(suite, scores)), **dict(largest_first)}
