"""An evaluation in the course of time."""

from eval_pipeline.comparison import comparable, partition, step_between
from eval_pipeline.scoring import Evaluation, Point, Step
from eval_pipeline.stages.workbench import Workbench
from eval_pipeline.store import History, Scored, database_url, point_of


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
    with History(database_url(bench.project)) as history:
        before = comparable(history.points(suite, version), point_of(run, evaluation))
        alike = before and not evaluation.outage
        step = _step(bench, before[-1], scored, evaluation, varies) if alike else None
        point = history.append(run, evaluation, step)
        return point, comparable(history.points(suite, version), point)


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
