"""What a person sees: versions side by side, and nothing that was scored under other conditions."""

from __future__ import annotations

from msgspec.structs import replace

from eval_pipeline import stages
from eval_pipeline.decisions import Standings, objections
from eval_pipeline.project import Project
from eval_pipeline.reports import report, suite_tables
from eval_pipeline.scoring import Evaluation
from eval_pipeline.store import Scored, Store
from eval_pipeline.suites.review import SUITE

OLD, NEW = "review-document-v1.0", "review-document-v1.1"


def evaluated(project: Project, store: Store, version: str) -> tuple[Evaluation, Scored]:
    """A version on the embedded engine, without Dagster."""
    bench = stages.Workbench(project, SUITE)
    golden = stages.load_golden(bench).table
    answers = stages.answer_cases(bench, golden, version)
    scored = stages.score_answers(bench, golden, answers)
    return stages.evaluate(bench, scored, answers.costs), scored


def test_versions_stand_side_by_side_in_the_report(whole_project: Project) -> None:
    store = Store(whole_project.state)
    before, scored = evaluated(whole_project, store, OLD)
    store.keep_scores(scored)
    store.keep_evaluation(before)
    after, scored = evaluated(whole_project, store, NEW)
    beside = stages.evaluations_beside(stages.Workbench(whole_project, SUITE), after)
    assert list(beside) == [OLD, NEW]
    text = report(SUITE, after, scored.scores, Standings(), objections(after, []), beside=beside)
    assert "## Versions side by side" in text
    assert "| 001 | review-document-v1.0 | all 10 tasks | 1 |" in text
    assert "| 004 | review-document-v1.1 | appointment-reminders-design | 1 |" in text
    assert "| Workflow | SCOPE | ASSUME |" in text
    assert "✗ below 50 %: rarely, a blind spot" in text
    other = replace(after, identity=replace(after.identity, golden_hash="another"))
    assert list(stages.evaluations_beside(stages.Workbench(whole_project, SUITE), other)) == [NEW]


def test_the_active_version_passes_its_critical_gates_and_says_what_waits(whole_project: Project) -> None:
    evaluation, _ = evaluated(whole_project, Store(whole_project.state), NEW)
    assert evaluation.summary.passed
    told = {gate.metric: gate.text for gate in evaluation.summary.gates if gate.status == "warn"}
    assert "eval-pipeline review findings VERSION" in told["pending_rate"]
    tables = {each.title: each for each in suite_tables(SUITE, evaluation.summary)}
    assert {"severities", "categories", "concerns", "experiment"} <= set(tables)
    assert tables["severities"].rows[0] == ["CRITICAL", "8", "24", "25.0 %"]
    units = {row[0]: row[1] for row in tables["experiment"].rows}
    assert (units["DR"], units["TE"], units["OES"]) == ("51.0 %", "1.382", "66.6 points")
    assert "1 run of 10 tasks: no assessment" in " ".join(evaluation.summary.problems)
