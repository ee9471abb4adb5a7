"""The cost of Dagster: the six-asset chain with its checks against the same functions called plainly.

The bound that the project holds itself to is 3 × the plain time + 3 s, run start to run end.
"""

from __future__ import annotations

import shutil
import tempfile
import time
from pathlib import Path

import dagster as dg

from eval_pipeline import stages
from eval_pipeline.decisions import objections_to, standings_of
from eval_pipeline.definitions import build_definitions
from eval_pipeline.orchestration import evaluation_job, partitions_of
from eval_pipeline.project import Project
from eval_pipeline.reports import report
from eval_pipeline.reports.page.findings import findings_of
from eval_pipeline.reports.page.report import report_page
from eval_pipeline.suites.decomposition import SUITE

VERSION = "decompose-concepts-v1.2"
ROUNDS = 3


def plainly(project: Project) -> float:
    """Seconds for the functions of the chain, without Dagster."""
    bench = stages.Workbench(project, SUITE)
    started = time.perf_counter()
    golden = stages.load_golden(bench).table
    answers = stages.answer_cases(bench, golden, VERSION)
    scored = stages.score_answers(bench, golden, answers)
    bench.store.keep_scores(scored)
    evaluation = stages.evaluate(bench, scored, answers.costs)
    compared = stages.compare_evaluation(bench, golden, answers, scored)
    standings = standings_of(bench.golden_folder, compared)
    against = objections_to(bench, evaluation, standings)
    text = report(SUITE, evaluation, scored.scores, standings, against)
    page = report_page(findings_of(bench, answers, scored, evaluation, compared))
    bench.store.keep_report(scored.identity, text, page)
    return time.perf_counter() - started


def in_dagster(project: Project, instance: dg.DagsterInstance) -> float:
    """Seconds from run start to run end."""
    job = build_definitions(project).resolve_job_def(evaluation_job(SUITE.name))
    result = job.execute_in_process(
        instance=instance,
        partition_key=VERSION,
        run_config={"loggers": {"console": {"config": {"log_level": "CRITICAL"}}}},
    )
    record = instance.get_run_record_by_id(result.run_id)
    assert record is not None
    assert record.start_time is not None
    assert record.end_time is not None
    return record.end_time - record.start_time


def main() -> None:
    """Print both, and the bound."""
    here = Project.find()
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        for name in ("golden", "prompts"):
            shutil.copytree(here.root / name, root / name)
        for name in ("engines.yaml", "dagster.yaml"):
            shutil.copy(here.root / name, root / name)
        project = Project(root, root / ".eval")
        project.state.mkdir()
        shutil.copy(root / "dagster.yaml", project.state)
        with dg.DagsterInstance.local_temp(str(project.state)) as instance:
            instance.add_dynamic_partitions(str(partitions_of(SUITE.name).name), [VERSION])
            plain = min(plainly(project) for _ in range(ROUNDS))
            chain = min(in_dagster(project, instance) for _ in range(ROUNDS))
    bound = 3 * plain + 3
    print(f"chain on {SUITE.name}: plain {plain:.2f} s, Dagster {chain:.2f} s, bound {bound:.2f} s")
    print(f"  {chain / bound:.0%} of the bound")


if __name__ == "__main__":
    main()
