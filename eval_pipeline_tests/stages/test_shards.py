"""A golden set in shards: the same numbers wherever they are worked out, and nothing done twice."""

from __future__ import annotations

import dataclasses
import multiprocessing
import pickle
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import msgspec
import pytest
from msgspec.structs import replace

from eval_pipeline import stages
from eval_pipeline.asking import SoFar
from eval_pipeline.engines import Journal
from eval_pipeline.engines.health import FAILURES_IN_A_ROW
from eval_pipeline.files import remove
from eval_pipeline.loading import find_suite, shipped_names
from eval_pipeline.problems import BadInput
from eval_pipeline.project import Project
from eval_pipeline.prompts import active_versions
from eval_pipeline.stages import shards
from eval_pipeline.stages.opening import identity_of
from eval_pipeline.stages.shard_work import AskTask, Worked, ask_shard
from eval_pipeline.store import AnswerTable, database_url, merged_scores
from eval_pipeline.suites.decomposition import SUITE
from eval_pipeline.workers import Shards
from eval_pipeline_tests.conftest import copy_project
from eval_pipeline_tests.engines.fault_server import FaultServer, fault_server
from eval_pipeline_tests.engines.test_metered import PROMPT, configure, write_cases
from eval_pipeline_tests.sharding import (
    Here,
    answered,
    assert_same,
    assert_same_scores,
    cut,
    dask_cluster,
    evaluate,
)

VERSION = "decompose-concepts-v1.2"
SOME = 11
"""So many cases of every suite: three shards of three, and one of two. `benchmarks.shards` takes them all."""


@pytest.fixture
def here(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let this process do what workers would."""
    monkeypatch.setattr("eval_pipeline.stages.shards.open_workers", Here)


def left_over(project: Project) -> list[Path]:
    return [path for path in (project.state / "shards").rglob("*") if path.is_file()]


@pytest.mark.rehearsal
@pytest.mark.usefixtures("here")
@pytest.mark.parametrize("name", shipped_names())
def test_every_suite_gives_the_same_numbers_in_shards_of_three(tmp_path: Path, name: str) -> None:
    project = copy_project(tmp_path / "project", name)
    suite = find_suite(project, name)
    (version, *_) = active_versions(suite, project.prompts(name))
    whole = evaluate(project, suite, version, SOME)
    cut(project, processes=1, cases=3)
    assert_same(evaluate(project, suite, version, SOME), whole)
    assert not left_over(project)


@pytest.mark.parametrize("name", ["decomposition", "heritage_typing"])
def test_processes_give_the_same_numbers(tmp_path: Path, name: str) -> None:
    project = copy_project(tmp_path / "project", name)
    suite = find_suite(project, name)
    (version, *_) = active_versions(suite, project.prompts(name))
    whole = evaluate(project, suite, version, SOME)
    cut(project, processes=2, cases=3)
    assert_same(evaluate(project, suite, version, SOME), whole)


def test_a_cluster_gives_the_same_numbers(project: Project, tmp_path: Path) -> None:
    whole = evaluate(project, SUITE, VERSION)
    with dask_cluster(2, tmp_path / "cluster") as cluster:
        cut(project, dask=cluster.address, cases=3)
        assert_same(evaluate(project, SUITE, VERSION), whole)


@pytest.mark.usefixtures("here")
def test_cases_in_any_order_and_in_several_trials_come_out_as_they_do_in_one_piece(toy: Project) -> None:
    suite = find_suite(toy, "toy")
    cases = toy.golden("toy") / "cases" / "sounds.jsonl"
    lines = [f'{{"id": "c{number * 7 % 10}", "sound": "meow", "animal": "cat"}}\n' for number in range(10)]
    cases.write_text("".join(lines))
    recorded = toy.root / "recorded" / "toy" / "guess-v1.0.jsonl"
    recorded.parent.mkdir(parents=True)
    recorded.write_text(
        "".join(
            f'{{"case_id": "c{number}", "trial": {trial}, "output": {{"animal": "{animal}", "hints": []}}}}\n'
            for number in range(9)
            for trial, animal in ((1, "cat"), (2, "dog"))
        )
    )
    whole = evaluate(toy, suite, "guess-v1.0", engine="recorded")
    assert whole.answers.identity.trials == 2
    assert whole.answers.costs.errors == {"missing": 2}
    cut(toy, processes=1, cases=3)
    assert_same(evaluate(toy, suite, "guess-v1.0", engine="recorded"), whole)


@pytest.mark.usefixtures("here")
def test_a_sample_is_cut_like_a_whole(project: Project) -> None:
    bench = stages.Workbench(project, SUITE)
    drawn = stages.draw_cases(stages.load_golden(bench).table, 10)
    whole = stages.answer_cases(bench, drawn, VERSION)
    scored = stages.score_answers(bench, drawn, whole)
    cut(project, processes=1, cases=3)
    in_shards = stages.answer_cases(stages.Workbench(project, SUITE), drawn, VERSION)
    assert answered(in_shards) == answered(whole)
    again = stages.score_answers(stages.Workbench(project, SUITE), drawn, in_shards)
    assert_same_scores(again.scores, scored.scores)


@pytest.mark.usefixtures("here")
def test_a_small_golden_set_is_not_cut(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("eval_pipeline.stages.shards.open_workers", None)
    cut(project, processes=1, cases=1000)
    evaluate(project, SUITE, VERSION)


def test_shards_hold_every_case_once_and_say_where_it_stands(project: Project) -> None:
    golden = stages.load_golden(stages.Workbench(project, SUITE)).table
    pieces = shards.cut(golden, 4)
    found = [
        case_id
        for each in pieces
        for case_id, _, _ in golden.part(each.start, each.stop, each.cases).inputs(SUITE)
    ]
    assert found == [case_id for _, case_id, _ in golden.places()]
    assert [each.cases for each in pieces[:-1]] == [4] * (len(pieces) - 1)
    assert [each.first for each in pieces] == list(range(0, golden.facts.cases, 4))


class Dying(Here):
    """Workers that do some tasks, and then take the driver down with them."""

    def completed(self, seconds: float) -> Any:
        for number, done in enumerate(super().completed(seconds)):
            if number == 3:
                raise KeyboardInterrupt
            yield done


def test_what_a_run_left_is_not_done_again(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    whole = evaluate(project, SUITE, VERSION)
    cut(project, processes=1, cases=3)
    monkeypatch.setattr("eval_pipeline.stages.shards.open_workers", Dying)
    with pytest.raises(KeyboardInterrupt):
        evaluate(project, SUITE, VERSION)
    kept = left_over(project)
    assert len(kept) == 4
    before = {path: path.stat().st_mtime_ns for path in kept}
    untouched: list[Path] = []

    class Looking(Here):
        def __exit__(self, *_: object) -> None:
            untouched.extend(path for path in kept if path.stat().st_mtime_ns == before[path])

    monkeypatch.setattr("eval_pipeline.stages.shards.open_workers", Looking)
    bench = stages.Workbench(project, SUITE)
    golden = stages.load_golden(bench).table
    stages.answer_cases(bench, golden, VERSION)
    assert untouched == kept
    monkeypatch.setattr("eval_pipeline.stages.shards.open_workers", Here)
    assert_same(evaluate(project, SUITE, VERSION), whole)


@pytest.mark.parametrize("rules", [False, True])
def test_scores_that_a_run_left_are_taken_unless_a_judge_rules(
    project: Project, monkeypatch: pytest.MonkeyPatch, rules: bool
) -> None:
    cut(project, processes=1, cases=3)
    monkeypatch.setattr("eval_pipeline.stages.shards.open_workers", Here)
    bench = stages.Workbench(project, SUITE)
    golden = stages.load_golden(bench).table
    answers = stages.answer_cases(bench, golden, VERSION)
    judge: Any = SimpleNamespace(verdicts=lambda asked: {})
    context = dataclasses.replace(bench.context, judge=judge if rules else None)
    monkeypatch.setattr("eval_pipeline.stages.workbench.judged_context", lambda *_: context)
    monkeypatch.setattr("eval_pipeline.stages.shards.open_workers", Dying)
    with pytest.raises(KeyboardInterrupt):
        stages.score_answers(stages.Workbench(project, SUITE), golden, answers)
    kept = {path: path.stat().st_mtime_ns for path in left_over(project)}
    assert kept
    untouched: list[Path] = []

    class Looking(Here):
        def completed(self, seconds: float) -> Any:
            yield from super().completed(seconds)
            untouched.extend(path for path in kept if path.stat().st_mtime_ns == kept[path])

    monkeypatch.setattr("eval_pipeline.stages.shards.open_workers", Looking)
    stages.score_answers(stages.Workbench(project, SUITE), golden, answers)
    assert set(untouched) == (set() if rules else set(kept))


def with_another_resource(project: Project, suite: str) -> None:
    """Change a byte of a golden set's resources that no number rests on."""
    (resource, *_) = sorted((project.golden(suite) / "resources").glob("*.jsonl"))
    resource.write_text(resource.read_text() + "\n")


def test_what_a_run_left_is_not_taken_once_a_resource_is_another(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    project = copy_project(tmp_path / "project", "grounded_qa")
    suite = find_suite(project, "grounded_qa")
    (version, *_) = active_versions(suite, project.prompts("grounded_qa"))
    cut(project, processes=1, cases=3)
    monkeypatch.setattr("eval_pipeline.stages.shards.open_workers", Dying)
    with pytest.raises(KeyboardInterrupt):
        evaluate(project, suite, version, SOME)
    kept = left_over(project)
    assert kept
    with_another_resource(project, "grounded_qa")
    monkeypatch.setattr("eval_pipeline.stages.shards.open_workers", Here)
    evaluate(project, suite, version, SOME)
    assert left_over(project) == kept  # what is put together is deleted


def test_a_worker_with_other_resources_is_refused(tmp_path: Path) -> None:
    project = copy_project(tmp_path / "project", "grounded_qa")
    suite = find_suite(project, "grounded_qa")
    (version, *_) = active_versions(suite, project.prompts("grounded_qa"))
    bench = stages.Workbench(project, suite)
    golden = stages.load_golden(bench).table
    (first, *_) = shards.cut(golden, 3)
    identity = identity_of(bench, golden, stages.prepare_asking(bench, version), "default")
    with_another_resource(project, "grounded_qa")
    with Journal.open(database_url(project)) as journal:
        journal.begin_run("run")
        task = AskTask(project, "run", golden.facts.golden_hash, identity, "", first, 1)
        (problem,) = ask_shard(task).problems
    assert "a worker has another golden set's resources" in str(problem)


@pytest.mark.usefixtures("here")
def test_a_worker_with_another_prompt_golden_set_or_engine_is_refused(project: Project) -> None:
    bench = stages.Workbench(project, SUITE)
    golden = stages.load_golden(bench).table
    cut(project, processes=1, cases=3)
    (first, *_) = shards.cut(golden, 3)
    asking = stages.prepare_asking(bench, VERSION)
    identity = identity_of(bench, golden, asking, "default")
    other = replace(identity, prompt_hash="0" * 32)
    with Journal.open(database_url(project)) as journal:
        journal.begin_run("run")
        task = AskTask(project, "run", golden.facts.golden_hash, other, "", first, 1)
        (problem,) = ask_shard(task).problems
        assert "a worker has another prompt" in str(problem)
        assert not ask_shard(dataclasses.replace(task, identity=identity)).problems
    (problem,) = ask_shard(dataclasses.replace(task, run="unknown")).problems
    assert "does not see the journal" in str(problem)


class Unreadable(Exception):
    """Pickle writes it, and cannot read it."""

    def __init__(self, one: str, other: str) -> None:
        super().__init__(f"{one} and {other}")


def test_whatever_goes_wrong_in_a_worker_can_be_told(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(task: AskTask) -> Worked:
        raise Unreadable("this", "that")

    monkeypatch.setattr("eval_pipeline.stages.shard_work._ask", fail)
    with pytest.raises(RuntimeError) as caught:
        ask_shard(cast("AskTask", None))
    told = str(pickle.loads(pickle.dumps(caught.value)))  # noqa: S301
    assert "this and that" in told
    assert "Traceback" in told


@pytest.mark.usefixtures("here")
def test_a_suite_that_fails_to_select_is_bad_input(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object) -> bool:
        raise ZeroDivisionError("nothing to divide")

    failing = dataclasses.replace(SUITE, selects=fail)
    monkeypatch.setattr("eval_pipeline.stages.shard_work._suite", lambda *_: failing)
    cut(project, processes=1, cases=3)
    with pytest.raises(BadInput, match="nothing to divide"):
        evaluate(project, SUITE, VERSION)


def test_workers_whose_files_nobody_sees_are_named(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    class Elsewhere(Here):
        def completed(self, seconds: float) -> Any:
            for done in super().completed(seconds):
                for path in left_over(project):
                    path.unlink()
                yield done

    monkeypatch.setattr("eval_pipeline.stages.shards.open_workers", Elsewhere)
    cut(project, processes=1, cases=3)
    with pytest.raises(BadInput, match="share the state folder"):
        evaluate(project, SUITE, VERSION)


def test_what_another_run_took_away_before_the_merge_is_done_again(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = evaluate(project, SUITE, VERSION)
    taken: list[Path] = []

    class Beside(Here):
        """Another run of the same ends, and cleans up, when this one has done all of its tasks but one."""

        def completed(self, seconds: float) -> Any:
            for done in super().completed(seconds):
                if done.number == 0 and len(taken) < 3:
                    (piece, *_) = [path for path in left_over(project) if done.result.name not in str(path)]
                    taken.append(piece)
                    remove(piece.parent if piece.parent.name.startswith("scores-") else piece)
                yield done

    monkeypatch.setattr("eval_pipeline.stages.shards.open_workers", Beside)
    cut(project, processes=1, cases=3)
    assert_same(evaluate(project, SUITE, VERSION), whole)
    assert len(taken) == 2  # of the answers, and of the scores
    assert not left_over(project)


def test_scores_that_are_taken_away_during_the_merge_are_made_again(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = evaluate(project, SUITE, VERSION)
    merges: list[int] = []

    def merged_late(pieces: Any, *others: Any) -> Any:
        if not merges:
            remove(pieces[1].folder)
        merges.append(len(pieces))
        return merged_scores(pieces, *others)

    monkeypatch.setattr("eval_pipeline.stages.shards.open_workers", Here)
    monkeypatch.setattr("eval_pipeline.stages.shards.merged_scores", merged_late)
    cut(project, processes=1, cases=3)
    assert_same(evaluate(project, SUITE, VERSION), whole)
    assert len(merges) == 2


class Told:
    """Keeps what those who watch are told."""

    def __init__(self) -> None:
        self.told: list[SoFar] = []
        self.total = 0

    def announce(self, plan: str) -> None: ...

    def start(self, title: str, total: int) -> None:
        self.total = total

    def advance(self, answer: Any, failure: Any) -> None: ...

    def wait(self, reason: str) -> None: ...

    def catch_up(self, so_far: SoFar) -> None:
        self.told.append(so_far)


@pytest.mark.usefixtures("here")
def test_those_who_watch_see_how_far_all_workers_are(toy: Project) -> None:
    suite = find_suite(toy, "toy")
    cut(toy, processes=1, cases=1)
    told = Told()
    bench = stages.Workbench(toy, suite)
    golden = stages.load_golden(bench).table
    answers = stages.answer_cases(bench, golden, "guess-v1.0", progress=told)
    assert told.total == told.told[-1].done == len(answers)
    assert told.told[-1].errors == answers.costs.errors


@pytest.mark.usefixtures("here")
def test_those_who_watch_a_further_trial_are_not_told_of_the_one_before(
    project: Project, tmp_path: Path
) -> None:
    bench, told = stages.Workbench(project, SUITE), Told()
    with Journal.open(database_url(project)) as journal:

        def work(name: str) -> Worked:
            journal.board.post(bench.run, name, msgspec.json.encode(SoFar(2)))
            (tmp_path / name).touch()
            return Worked(name, SoFar(3))

        with shards.Handing(bench, Shards(processes=1), told, tmp_path) as handing:
            for trial in ("first", "second"):
                assert [each.name for each in handing.results(work, [trial])] == [trial]
                assert told.told[-1].done == 3


ECHO = "echo-v1.0"
CONCURRENCY = 4


@pytest.fixture
def server(project: Project) -> Iterator[FaultServer]:
    """A project of 48 cases, in shards of six for two processes, whose engine is a server on loopback."""
    (project.prompts("decomposition") / f"{ECHO}.md").write_text(PROMPT)
    write_cases(project, {f"case-{number:02}": f"Text {number}." for number in range(48)})
    with fault_server() as running:
        configure(project, running.url, attempts=1, concurrency=CONCURRENCY)
        cut(project, processes=2, cases=6)
        yield running


def ask(project: Project, **options: Any) -> AnswerTable:
    bench = stages.Workbench(project, SUITE)
    return stages.answer_cases(bench, stages.load_golden(bench).table, ECHO, **options)


def test_no_call_is_made_twice_and_calls_at_once_are_as_many_as_allowed(
    project: Project, server: FaultServer
) -> None:
    server.delay = 0.05
    told = Told()
    answers = ask(project, progress=told)
    assert server.calls == len(server.asked) == len(answers) == told.told[-1].done == 48
    assert server.most_in_flight <= CONCURRENCY
    assert [each.case_id for each in answers] == [f"case-{number:02}" for number in range(48)]
    cut(project)
    whole = ask(project)
    assert server.calls == 48
    assert (answered(whole), whole.costs) == (answered(answers), answers.costs)


def test_a_budget_holds_over_all_processes_and_the_next_run_goes_on(
    project: Project, server: FaultServer
) -> None:
    configure(project, server.url, concurrency=CONCURRENCY, budget={"calls": 20})
    cut(project, processes=2, cases=6)
    assert ask(project).costs.errors == {"budget": 28}
    assert server.calls == 20
    cut(project)
    assert ask(project).costs.errors == {"budget": 8}
    assert server.calls == len(server.asked) == 40


def test_a_dead_endpoint_is_given_up_by_all_processes_together(project: Project, server: FaultServer) -> None:
    write_cases(project, {f"case-{number:02}": f"FAULT:500 {number}." for number in range(48)})
    costs = ask(project).costs
    assert costs.errors == {"server": 48}
    assert FAILURES_IN_A_ROW <= server.calls <= FAILURES_IN_A_ROW + 2 * CONCURRENCY


def test_a_worker_that_is_killed_asks_again_what_was_under_way_at_most(
    project: Project, server: FaultServer
) -> None:
    server.delay = 0.1

    def kill() -> None:
        while server.calls < 12:
            time.sleep(0.01)
        multiprocessing.active_children()[0].kill()

    thread = threading.Thread(target=kill)
    thread.start()
    answers = ask(project)
    thread.join()
    assert not answers.costs.errors
    assert len(server.asked) == len(answers) == 48
    assert server.calls <= 48 + CONCURRENCY
