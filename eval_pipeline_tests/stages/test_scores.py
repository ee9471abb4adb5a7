"""What was scored once is not scored again."""

import os
import sys
from typing import Any

import pyarrow as pa
import pytest

from eval_pipeline import stages
from eval_pipeline.project import Project
from eval_pipeline.scoring import Scores
from eval_pipeline.stages import Workbench
from eval_pipeline.stages.scores import known_scores
from eval_pipeline.store import AnswerTable, Compared, GoldenTable, Scored
from eval_pipeline.suites import find_suite

VERSION = "guess-v1.0"


def evaluated(toy: Project) -> tuple[Workbench, GoldenTable, AnswerTable, Scored]:
    """A version that was scored; nothing of it is kept but its answers."""
    bench = Workbench(toy, find_suite(toy, "toy"))
    golden = stages.load_golden(bench).table
    answers = stages.answer_cases(bench, golden, VERSION)
    return bench, golden, answers, stages.score_answers(bench, golden, answers)


def test_scores_are_known_where_nothing_changed_since(toy: Project) -> None:
    bench, golden, answers, scored = evaluated(toy)
    assert known_scores(bench, golden, answers) is None
    bench.store.keep_scores(scored)
    known = known_scores(bench, golden, answers)
    assert known is not None
    assert known.counts.equals(scored.scores.counts)
    file = next(iter(toy.golden("toy").glob("cases/*.jsonl")))
    file.write_text("".join(file.read_text().splitlines(keepends=True)[1:]))
    assert known_scores(bench, stages.load_golden(bench).table, answers) is None


def test_what_is_damaged_is_scored_again(toy: Project) -> None:
    bench, golden, answers, scored = evaluated(toy)
    bench.store.keep_scores(scored)
    folder = bench.store.evaluations_folder("toy", VERSION) / scored.identity.id
    (folder / "counts.parquet").write_bytes(b"nothing")
    assert known_scores(bench, golden, answers) is None


def test_answers_that_were_written_since_are_scored_again(toy: Project) -> None:
    """A call that failed may have been made again: the answers are others, and their identity is the same."""
    bench, golden, answers, scored = evaluated(toy)
    bench.store.keep_scores(scored)
    kept = bench.store.evaluations_folder("toy", VERSION) / scored.identity.id / "identity.json"
    later = kept.stat().st_mtime_ns + 1
    os.utime(answers.path, ns=(later, later))
    assert known_scores(bench, golden, answers) is None


def test_errors_are_scored_again(toy: Project) -> None:
    bench, golden, answers, scored = evaluated(toy)
    counts = scored.scores.counts
    failed = pa.array(["timeout", *counts["error"].to_pylist()[1:]], pa.string())
    place = counts.column_names.index("error")
    broken = Scores(counts.set_column(place, "error", failed), scored.scores.keyed, scored.scores.diagnoses)
    bench.store.keep_scores(Scored(scored.identity, broken))
    assert known_scores(bench, golden, answers) is None


def test_comparisons_and_reports_take_what_is_known(toy: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    bench, golden, answers, scored = evaluated(toy)
    anew = stages.compare_versions(bench, golden, answers, answers)
    bench.store.keep_scores(scored)

    def nobody(*given: Any, **more: Any) -> None:
        raise AssertionError("it was scored again")

    for module in ("comparison.compare", "stages.exhibits"):
        monkeypatch.setattr(sys.modules[f"eval_pipeline.{module}"], "score_cases", nobody)
    assert stages.compare_versions(bench, golden, answers, answers) == anew
    shown = stages.exhibits_of(bench, golden, answers, scored, Compared(scored.identity, (anew,)))
    assert [each.scores.counts.num_rows for each in shown.all] == [golden.facts.cases] * 2
