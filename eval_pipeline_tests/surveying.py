"""A toy that was evaluated as the chain does it, without Dagster: cheap, and all that a survey reads."""

from __future__ import annotations

from typing import Any

from msgspec.structs import replace

from eval_pipeline import stages
from eval_pipeline.decisions import promote, propose, standings_of
from eval_pipeline.decisions.results import Result
from eval_pipeline.project import Project
from eval_pipeline.scoring import Point
from eval_pipeline.suites import find_suite

SUITE, VERSION = "toy", "guess-v1.0"


def evaluate(project: Project, version: str = VERSION, run: str = "run-1", **options: Any) -> Result:
    """Ask, score, compare and keep: what a run of the chain leaves."""
    bench = stages.Workbench(project, find_suite(project, SUITE))
    golden = stages.load_golden(bench)
    answers = stages.answer_cases(bench, golden.table, version, **options)
    bench.store.keep_outputs(answers)
    scored = stages.score_answers(bench, golden.table, answers)
    bench.store.keep_scores(scored)
    evaluation = stages.evaluate(bench, scored, answers.costs)
    bench.store.keep_evaluation(evaluation)
    stages.add_to_history(bench, run, scored, evaluation, varies=answers.varies)
    compared = stages.compare_evaluation(bench, golden.table, answers, scored)
    standings = standings_of(bench.rules_folder, compared)
    bench.store.keep_compared(replace(compared, proposal=propose(evaluation, standings)))
    bench.store.keep_report(evaluation.identity, "# The report\n")
    return Result(bench, golden, answers, scored, evaluation)


def freeze(result: Result) -> None:
    """Make it the baseline."""
    promote(result, result.standings(), "Ada", "the first")


def point(place: int, value: float | None, **changes: Any) -> Point:
    """An evaluation of the toy on a day of January 2026."""
    known = Point(
        run=f"run-{place}",
        evaluation=f"evaluation-{place}",
        suite=SUITE,
        version=VERSION,
        outputs=f"outputs-{place}",
        prompt_hash="p",
        golden_hash="g",
        engine="embedded",
        model="m",
        sample=f"nightly-{place}",
        trials=1,
        cases=4,
        errors=0,
        passed=True,
        metrics={"accuracy": value, "error_rate": 0.0},
        evaluated_at=f"2026-01-{place + 1:02}T02:00:00+00:00",
        replay=False,
        scoring="s",
    )
    return replace(known, **changes)
