"""Where the answers of what is replaced come from: the store, the journal, an engine, a file, or nowhere."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from unittest import mock

import msgspec
import pytest

from eval_pipeline import stages
from eval_pipeline.asking import Silence
from eval_pipeline.project import Project
from eval_pipeline.store import Compared
from eval_pipeline_tests.cli.recorded_toy import make_project, record, write_prompt
from eval_pipeline_tests.engines.fault_server import FaultServer, fault_server
from eval_pipeline_tests.guessing import CANDIDATE, CASES, VERSION, answering, ask, freeze, furnish, toy_suite
from eval_pipeline_tests.prompts.test_replaced import commit, git


@pytest.fixture
def server(toy: Project) -> Iterator[FaultServer]:
    """An endpoint that is right with the candidate, and wrong in some cases with the version in use."""
    with fault_server() as running:
        furnish(toy, running, trials=1)
        answering(running, lambda prompt, number, times: VERSION not in prompt or number < 12)
        yield running


def compared(project: Project, version: str, *, asking: bool = True) -> Compared:
    """A version as it is evaluated and compared within one run."""
    bench = stages.Workbench(project, toy_suite(project))
    golden = stages.load_golden(bench).table
    answers = stages.answer_cases(bench, golden, version)
    scored = stages.score_answers(bench, golden, answers)
    progress = Silence() if asking else None
    return stages.compare_evaluation(bench, golden, answers, scored, progress=progress)


def sides(found: Compared) -> list[tuple[str, str, float | None]]:
    """Every comparison: the role of the side before, its label, and its accuracy."""
    return [
        (
            each.role,
            each.before,
            next(metric.before for metric in each.metrics if metric.metric == "accuracy"),
        )
        for each in found.comparisons
    ]


def test_what_is_replaced_is_asked_once_in_the_same_sample(toy: Project, server: FaultServer) -> None:
    unknown = compared(toy, CANDIDATE, asking=False)
    assert unknown.missing.startswith(f"{CANDIDATE}: was not compared with {VERSION} (in use) yet. Run: ")
    assert server.calls == CASES
    in_use = ("replaced", f"{VERSION} (in use)", 0.6)
    for _ in range(2):
        found = compared(toy, CANDIDATE)
        assert sides(found) == [in_use]
        assert server.calls == 2 * CASES
    assert sides(compared(toy, CANDIDATE, asking=False)) == [in_use]
    ask(toy, VERSION)  # known from the journal
    assert server.calls == 2 * CASES


def test_a_baseline_with_the_very_answers_stands_for_what_is_replaced(
    toy: Project, server: FaultServer
) -> None:
    freeze(toy, ask(toy, VERSION))
    assert sides(compared(toy, CANDIDATE)) == [("baseline", f"baseline {VERSION} (in use)", 0.6)]
    freeze(toy, ask(toy, VERSION, sample="old"))
    assert sides(compared(toy, CANDIDATE)) == [
        ("baseline", f"baseline {VERSION}", 0.6),
        ("replaced", f"{VERSION} (in use)", 0.6),
    ]


def test_the_estimate_and_the_budget_are_for_both(toy: Project, server: FaultServer) -> None:
    bench = stages.Workbench(toy, toy_suite(toy))
    golden = stages.load_golden(bench).table
    asking = stages.prepare_asking(bench, CANDIDATE)
    found = stages.estimate_replaced(bench, golden, asking, stages.DEFAULT_SAMPLE)
    assert found is not None
    assert (found[0], found[1].calls) == (f"{VERSION} (in use)", CASES)
    front = asking.prompt.front.model_copy(update={"status": "archived"})
    archived = replace(asking, prompt=msgspec.structs.replace(asking.prompt, front=front))
    assert stages.estimate_replaced(bench, golden, archived, stages.DEFAULT_SAMPLE) is None
    furnish(toy, server, trials=1, budget={"calls": CASES + 5})
    compared(toy, CANDIDATE)
    assert server.calls == CASES + 5


def test_what_a_run_has_scored_is_not_scored_again(toy: Project, server: FaultServer) -> None:
    """Unless the golden set has changed since, or how it is scored."""
    bench = stages.Workbench(toy, toy_suite(toy))
    golden = stages.load_golden(bench).table
    before, after = ask(toy, VERSION), ask(toy, CANDIDATE)
    scored = [stages.score_answers(bench, golden, each) for each in (before, after)]
    fresh = stages.compare_versions(bench, golden, before, after)
    for each in scored:
        bench.store.keep_scores(each)
    again = AssertionError("scored again")
    with mock.patch.object(sys.modules["eval_pipeline.comparison.compare"], "score_cases", side_effect=again):
        assert stages.compare_versions(bench, golden, before, after) == fresh
        other = replace(bench.context, hash="others")
        with mock.patch.object(bench, "context", other), pytest.raises(AssertionError, match="scored again"):
            stages.compare_versions(bench, golden, before, after)


@pytest.mark.parametrize("tracked", [True, False])
def test_recorded_outputs_of_a_file_before_its_edit(tmp_path: Path, tracked: bool) -> None:
    """What is recorded now is not what the older text brought."""
    project = make_project(tmp_path / "toy")
    write_prompt(project, VERSION, "status: active", "engine: recorded")
    record(project, VERSION, 90)
    (project.root / ".gitignore").write_text(".eval/\n" if tracked else ".eval/\nrecorded/\n")
    git(project, "init", "--quiet")
    commit(project)
    write_prompt(project, VERSION, "status: active", "engine: recorded", body="{{ sound }}?\n")
    record(project, VERSION, 70)
    found = compared(project, VERSION)
    if tracked:
        assert sides(found) == [("replaced", f"{VERSION} (in use, as of HEAD)", 0.9)]
    else:
        assert sides(found) == []
        assert f"{VERSION}.jsonl: is not in Git at " in found.missing
