"""One stage of an evaluation in a process of its own: its processor seconds, and how much memory it takes.

`python -m benchmarks.growth.stages STAGE SMALL ROOT` prints both as JSON. What a stage needs of those before
it is read from the state folder, and what it makes is kept there, as in a chain. The stage runs on a small
project first, so that nothing is imported while the clock runs.
"""

from __future__ import annotations

import json
import resource
import sys
import time
from collections.abc import Callable
from pathlib import Path

from benchmarks.growth.project import AFTER, BEFORE, SUITE
from eval_pipeline import stages
from eval_pipeline.loading import find_suite
from eval_pipeline.orchestration.reporting import report_on
from eval_pipeline.project import Project
from eval_pipeline.stages import Workbench
from eval_pipeline.store import AnswerTable, Compared, GoldenTable, Scored


def _golden(bench: Workbench) -> GoldenTable:
    golden = bench.store.golden(SUITE)
    assert golden is not None
    return golden


def _answers(bench: Workbench, version: str) -> AnswerTable:
    answers = bench.store.outputs(SUITE, version)
    assert answers is not None
    return answers


def _scored(bench: Workbench) -> Scored:
    scored = bench.store.scored(SUITE, AFTER)
    assert scored is not None
    return scored


def read(bench: Workbench) -> None:
    """Read the golden set."""
    bench.store.keep_golden(SUITE, stages.load_golden(bench).table)


def ask(bench: Workbench) -> None:
    """Ask the embedded engine, the later version."""
    bench.store.keep_outputs(stages.answer_cases(bench, _golden(bench), AFTER))


def ask_before(bench: Workbench) -> None:
    """Ask the version that is compared with; not measured."""
    bench.store.keep_outputs(stages.answer_cases(bench, _golden(bench), BEFORE))


def score(bench: Workbench) -> None:
    """Score the answers."""
    bench.store.keep_scores(stages.score_answers(bench, _golden(bench), _answers(bench, AFTER)))


def metrics(bench: Workbench) -> None:
    """Sum up, and add to the history."""
    scored, answers = _scored(bench), _answers(bench, AFTER)
    evaluation = stages.evaluate(bench, scored, answers.costs)
    stages.add_to_history(bench, "run", scored, evaluation, varies=False)
    bench.store.keep_evaluation(evaluation)


def compare(bench: Workbench) -> None:
    """Compare with the version before, whose answers nobody has scored."""
    golden, scored = _golden(bench), _scored(bench)
    before, after = _answers(bench, BEFORE), _answers(bench, AFTER)
    comparison = stages.compare_versions(bench, golden, before, after, scored.scores)
    bench.store.keep_compared(Compared(scored.identity, (comparison,)))


def report(bench: Workbench) -> None:
    """Write the report, in Markdown and as a page."""
    evaluation, compared = bench.store.evaluation(SUITE, AFTER), bench.store.compared(SUITE, AFTER)
    assert evaluation is not None
    assert compared is not None
    made = report_on(bench, _answers(bench, AFTER), _scored(bench), evaluation, compared).report
    bench.store.keep_report(made.identity, made.text, made.page)


STAGES: dict[str, Callable[[Workbench], None]] = {
    each.__name__: each for each in (read, ask_before, ask, score, metrics, compare, report)
}


def main() -> None:
    """Run a stage, and print what it took."""
    stage = STAGES[sys.argv[1]]
    small, project = (Project(Path(root), Path(root) / ".eval") for root in sys.argv[2:4])
    suite = find_suite(project, SUITE)
    stage(Workbench(small, suite))
    at_first = int(Path("/proc/self/statm").read_text().split()[1]) * resource.getpagesize()
    started = time.process_time()
    stage(Workbench(project, suite))
    seconds = time.process_time() - started
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
    print(json.dumps({"seconds": seconds, "peak": peak, "grown": peak - at_first}))


if __name__ == "__main__":
    main()
