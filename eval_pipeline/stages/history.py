"""An evaluation in the course of time."""

from eval_pipeline.comparison import comparable, metric_intervals, partition, step_between
from eval_pipeline.problems import BadInput
from eval_pipeline.project import namespace_of
from eval_pipeline.scoring import Evaluation, Point, Step
from eval_pipeline.stages.workbench import Workbench
from eval_pipeline.store import History, Scored, database_url, point_of
from eval_pipeline.suite import suite_code


def add_to_history(
    bench: Workbench, run: str, scored: Scored, evaluation: Evaluation, *, varies: bool
) -> tuple[Point, list[Point]]:
    """Add an evaluation that a run made: its point, and all that can be compared with it, oldest first.

    `varies` says whether its engine may answer the same question in another way. One on a sample of cases
    is not added, and no trend knows of it.
    """
    if evaluation.identity.outputs.case_sample:
        return point_of(run, evaluation), []
    suite, version = bench.suite.name, evaluation.identity.outputs.version
    with History(database_url(bench.project), namespace_of(bench.project)) as history:
        before = comparable(history.points(suite, version), point_of(run, evaluation))
        alike = before and not evaluation.outage
        step = _step(bench, before[-1], scored, evaluation, varies) if alike else None
        point = history.append(run, evaluation, step, _intervals(bench, scored, evaluation))
        return point, comparable(history.points(suite, version), point)


def _intervals(bench: Workbench, scored: Scored, evaluation: Evaluation) -> dict[str, tuple[float, float]]:
    """The intervals of gated metrics, as far as there are enough cases for one."""
    metrics, _ = partition(bench.suite, bench.gates)
    held_out = evaluation.summary.held_out
    if evaluation.outage or not metrics:
        return {}
    try:
        with suite_code(bench.suite.name, "formulas"):
            known = held_out.intervals if held_out else metric_intervals(metrics, scored.scores)
    except BadInput:  # a formula that cannot do without a case: comparisons tell
        return {}
    return {
        name: (each.low, each.high)
        for name, each in known.items()
        if name in bench.gates and each.low is not None and each.high is not None
    }


def _step(
    bench: Workbench, before: Point, scored: Scored, evaluation: Evaluation, varies: bool
) -> Step | None:
    """The noise since the evaluation before: none where answers do not vary, unknown where it is gone."""
    metrics, _ = partition(bench.suite, bench.gates)
    if not varies:
        nothing = {metric.name: 0.0 for metric in metrics}
        return Step(before.run, nothing, nothing)
    earlier = bench.store.scored(before.suite, before.version, before.evaluation)
    if earlier is None or earlier.identity == scored.identity:
        return None
    rests_on = evaluation.summary.rests_on
    return step_between(before.run, rests_on(earlier.scores), rests_on(scored.scores), metrics)
