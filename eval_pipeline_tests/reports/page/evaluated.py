"""What a run of the chain leaves in the store, without Dagster, and the page that is made of it."""

from __future__ import annotations

from typing import Any

from eval_pipeline import stages
from eval_pipeline.asking import Silence
from eval_pipeline.project import Project
from eval_pipeline.reports.page.findings import Findings, latest_findings
from eval_pipeline.suites import find_suite


def evaluated(project: Project, suite: str, version: str, **asking: Any) -> Findings:
    """Evaluate a version, compare it, keep all of it, and say what is found in the store."""
    bench = stages.Workbench(project, find_suite(project, suite))
    golden = stages.load_golden(bench).table
    answers = stages.answer_cases(bench, golden, version, **asking)
    scored = stages.score_answers(bench, golden, answers)
    evaluation = stages.evaluate(bench, scored, answers.costs)
    bench.store.keep_golden(suite, golden)
    bench.store.keep_outputs(answers)
    bench.store.keep_scores(scored)
    bench.store.keep_evaluation(evaluation)
    bench.store.keep_compared(stages.compare_evaluation(bench, golden, answers, scored, progress=Silence()))
    stages.add_to_history(bench, f"run of {version}", scored, evaluation, varies=answers.varies)
    return latest_findings(bench, version)
