"""What a worker does for one shard: it asks its cases, or scores them.

A task says all that decides on its result, a file that is named by it: who does a task twice leaves the same
behind, and what is there is not done again.
"""

from __future__ import annotations

import threading
import time
import traceback
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from functools import lru_cache
from typing import TypeVar

import msgspec
from msgspec.structs import replace

from eval_pipeline.answers import Answer, CaseSample, Costs, Failure, OutputsIdentity
from eval_pipeline.asking import Questions, SoFar, Tally, collect_part
from eval_pipeline.engines import Journal
from eval_pipeline.files import content_hash
from eval_pipeline.golden import golden_hash, resources_folder
from eval_pipeline.loading import find_suite
from eval_pipeline.problems import BadInput, Problem, bad_value
from eval_pipeline.project import Project
from eval_pipeline.prompts import Prompt, prompt_at, prompt_file
from eval_pipeline.revisions import text_at
from eval_pipeline.scoring import Identity, score_cases, scorer_version
from eval_pipeline.stages.opening import Asking, identity_of, open_asking, usable_prompt
from eval_pipeline.stages.samples import sampled
from eval_pipeline.stages.workbench import Workbench
from eval_pipeline.store import (
    AnswerTable,
    GoldenTable,
    database_url,
    keep_piece,
    kept_piece,
    part_of_answers,
    usable_answers,
)
from eval_pipeline.suite import Suite, suite_code

NEWS_SECONDS = 1.0
_SAME = "Let workers have the same project, code and packages as whoever hands out shards, and restart them."
_one_at_a_time = threading.Lock()
"""A worker may have several threads; work that waits for Python anyway is not done in more than one."""

T = TypeVar("T")


class Shard(msgspec.Struct, frozen=True):
    """Some cases that follow each other in a golden table."""

    number: int
    start: int
    stop: int
    """The rows of the table: from one to before the other."""
    first: int
    """How many cases are asked before these."""
    cases: int
    inputs: str
    """What identifies the cases and their inputs."""


@dataclass(frozen=True)
class AskTask:
    """A shard that is to be asked in one trial."""

    project: Project
    run: str
    golden_hash: str
    identity: OutputsIdentity
    commit: str
    """The commit at which the prompt was as it is to be asked; blank for the file as it is."""
    shard: Shard
    trial: int

    @property
    def name(self) -> str:
        """What its answers are called."""
        inputs = content_hash(
            [self.identity.inputs_hash, self.shard.inputs]
        )  # resources are among the former
        asked = replace(self.identity, trials=1, inputs_hash=inputs)
        return f"answers-{content_hash([asked, self.trial])}"


@dataclass(frozen=True)
class ScoreTask:
    """A shard whose answers are to be scored."""

    project: Project
    run: str
    identity: Identity
    shard: Shard


class Worked(msgspec.Struct, frozen=True):
    """What became of a task."""

    name: str = ""
    """What its file or folder is called; blank where there is nothing to keep."""
    so_far: SoFar = SoFar()
    ends: tuple[str, str] = ("", "")
    """The first and the last case id among its scores."""
    problems: tuple[Problem, ...] = ()


def ask_shard(task: AskTask) -> Worked:
    """Ask the cases of a shard, unless their answers are there."""
    return _worked(_ask, task)


def score_shard(task: ScoreTask) -> Worked:
    """Score the answers of a shard, unless their scores are there."""
    return _worked(_score, task)


def _worked(work: Callable[[T], Worked], task: T) -> Worked:
    with _one_at_a_time:
        try:
            return work(task)
        except BadInput as bad:
            return Worked(problems=tuple(bad.problems))
        except Exception:  # not every one survives the way back, and a pool that cannot read it breaks
            raise RuntimeError(traceback.format_exc()) from None


def _ask(task: AskTask) -> Worked:
    identity = task.identity
    bench = _bench(task.project, identity.suite, task.run)
    path = bench.store.shards_folder(identity.suite, identity.version) / f"{task.name}.parquet"
    known = usable_answers(path)
    if known is None:
        golden = _golden(task.project, identity.suite, task.run, task.golden_hash, identity.case_sample)
        asking = _asking(task.project, task.run, identity, task.commit)
        here = replace(identity_of(bench, golden, asking, identity.sample), trials=identity.trials)
        _stop_unless_same("prompt, golden set and engine", here == identity)
        part = golden.part(task.shard.start, task.shard.stop, task.shard.cases)
        questions = Questions(bench.suite, asking.prompt, part, asking.resources)
        with _News(task) as news:
            collect_part(questions, asking.engine, identity, task.trial, path, news)
        known = AnswerTable.open(path)
    return Worked(task.name, so_far_of(known.costs))


def _score(task: ScoreTask) -> Worked:
    identity, outputs = task.identity, task.identity.outputs
    bench = _bench(task.project, outputs.suite, task.run)
    suite, context = bench.suite, bench.context
    same = (scorer_version(suite), context.hash) == (identity.scorer, identity.context)
    _stop_unless_same("scoring code, settings and resources", same)
    golden = _golden(task.project, suite.name, task.run, identity.golden_hash, outputs.case_sample)
    cases = list(golden.part(task.shard.start, task.shard.stop, task.shard.cases).cases(suite))
    table = bench.store.answers(outputs)
    if table is None:
        raise _unshared("the answers")
    answers = part_of_answers(table, task.shard.first, [each.case.id for each in cases])
    if suite.selects:
        with suite_code(suite.name, "selects"):
            cases = [each for each in cases if suite.selects(each.case, context.settings)]
        if not cases:
            return Worked()
    hashes = [each.case_hash for each in cases]
    rests_on = [identity.golden_hash, hashes, answers.hash, identity.scorer, identity.context]
    name = f"scores-{content_hash(rests_on)}"
    folder = bench.store.shards_folder(suite.name, outputs.version) / name
    piece = None if context.judge else kept_piece(folder)  # verdicts that a judge owed may be there now
    if piece is None:
        piece = keep_piece(folder, score_cases(suite, cases, answers, context))
    return Worked(name, ends=(piece.first, piece.last))


def so_far_of(costs: Costs) -> SoFar:
    """Answers that are there, for those who watch."""
    is_known = costs.tokens is None or costs.cost_usd is not None
    return SoFar(costs.answers, costs.errors, costs.cost_usd or 0.0, is_known)


@lru_cache(maxsize=4)  # what was imported stays what it was; its identity tells whether that is still right
def _suite(project: Project, name: str) -> Suite:
    return find_suite(project, name)


@lru_cache(maxsize=2)
def _bench(project: Project, suite: str, run: str) -> Workbench:
    with Journal.open(database_url(project)) as journal:
        if not journal.board.is_open(run):
            raise _unshared("the journal")
    return Workbench(project, _suite(project, suite), run)


@lru_cache(maxsize=2)
def _golden(
    project: Project, suite: str, run: str, identified_by: str, sample: CaseSample | None
) -> GoldenTable:
    bench = _bench(project, suite, run)
    table = bench.store.golden(suite, identified_by)
    if table is None:
        raise _unshared("the golden set")
    here = golden_hash(table.hashes("case_hash").values(), resources_folder(bench.cases_folder))
    _stop_unless_same("golden set's resources", here == identified_by)
    return sampled(table, sample)


@lru_cache(maxsize=2)
def _asking(project: Project, run: str, identity: OutputsIdentity, commit: str) -> Asking:
    bench = _bench(project, identity.suite, run)
    prompt = _prompt(bench, identity.version, commit)
    return open_asking(bench, prompt, identity.engine, identity.trials, identity.sample)


def _prompt(bench: Workbench, version: str, commit: str) -> Prompt:
    if not commit:
        return usable_prompt(bench, version)
    path = prompt_file(bench.project.prompts(bench.suite.name), version)
    return prompt_at(bench.suite, path, text_at(bench.project, commit, path) or "", commit)


def _stop_unless_same(what: str, is_same: bool) -> None:
    if not is_same:
        raise bad_value("shards", f"a worker has another {what}", _SAME)


def _unshared(what: str) -> BadInput:
    remedy = "Let all workers see the state folder, and name one database with EVAL_PIPELINE_JOURNAL."
    return bad_value("shards", f"a worker does not see {what} of this run", remedy)


class _News:
    """Progress of a shard, put on the board of its run now and then."""

    def __init__(self, task: AskTask) -> None:
        self._task = task
        self._tally = Tally(task.shard.cases)
        self._waiting = ""
        self._next = time.monotonic() + NEWS_SECONDS

    def __enter__(self) -> _News:
        self._journal: Journal | None = None
        return self

    def __exit__(self, *_: object) -> None:
        if self._journal is not None:
            self._journal.__exit__()

    def announce(self, plan: str) -> None:
        """Whoever hands out shards said so."""

    def start(self, title: str, total: int) -> None:
        """Whoever hands out shards said so."""

    def advance(self, answer: Answer, failure: Failure | None) -> None:
        """One more is there."""
        self._tally.add(answer, failure)
        self._post()

    def catch_up(self, so_far: SoFar) -> None:
        """So many are there that others got."""
        self._tally.catch_up(so_far)

    def wait(self, reason: str) -> None:
        """What is being waited for."""
        self._waiting = reason
        self._post()

    def _post(self) -> None:
        if time.monotonic() < self._next:
            return
        self._next = time.monotonic() + NEWS_SECONDS
        news = msgspec.json.encode(replace(self._tally.so_far, waiting=self._waiting))
        with suppress(BadInput):  # a database that is busy may do the next time
            if self._journal is None:
                self._journal = Journal.open(database_url(self._task.project))
            self._journal.board.post(self._task.run, self._task.name, news)
