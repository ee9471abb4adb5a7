"""A large golden set in shards: handed out, watched, and put together as if one process had done it all."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import msgspec
from msgspec.structs import replace

from eval_pipeline.answers import OutputsIdentity
from eval_pipeline.asking import Looks, Progress, Silence, SoFar, TrialAnswers, share_judge
from eval_pipeline.engines import Journal, shards_of
from eval_pipeline.files import content_hash, remove
from eval_pipeline.problems import BadInput
from eval_pipeline.project import HostedProject
from eval_pipeline.scoring import Identity, Scores, score_cases
from eval_pipeline.stages.shard_work import AskTask, ScoreTask, Shard, Worked, ask_shard, score_shard
from eval_pipeline.stages.workbench import Workbench
from eval_pipeline.store import (
    AnswerMerger,
    AnswerTable,
    GoldenTable,
    PieceOfScores,
    database_url,
    merged_scores,
)
from eval_pipeline.workers import Shards, Workers, WorkersLost, open_workers

LOOK_SECONDS = 0.5
MOST_TRIES = 3
"""So often a shard is handed out whose file is not there when it is done: another run may have cleaned up."""


@dataclass(frozen=True)
class Asked:
    """What is asked: the cases, what identifies their answers, and the commit of the prompt if it is old."""

    golden: GoldenTable
    identity: OutputsIdentity
    commit: str
    varies: bool


def shards_for(bench: Workbench, golden: GoldenTable, answers: AnswerTable | None = None) -> Shards | None:
    """How the project cuts a golden set; None where it does not, where it is small, or is a shard itself.

    Answers that are not in the store are nothing that a worker would find, nor is the suite of a host.
    """
    if bench.shared_run or isinstance(bench.project, HostedProject):
        return None
    shards = shards_of(bench.project)
    if shards is None or golden.facts.cases <= shards.cases:
        return None
    if answers is not None:
        folder = bench.store.outputs_folder(answers.identity.suite, answers.identity.version)
        if answers.path != folder / f"{answers.identity.id}.parquet":
            return None
    return shards


def cut(golden: GoldenTable, size: int) -> list[Shard]:
    """The shards of a golden set: so many cases each, in its order; the last one may have fewer."""
    shards: list[Shard] = []
    waiting: list[tuple[int, str, str]] = []

    def close() -> None:
        inputs = content_hash([[case_id, input_hash] for _, case_id, input_hash in waiting])
        number = len(shards)
        shards.append(Shard(number, waiting[0][0], waiting[-1][0] + 1, number * size, len(waiting), inputs))
        waiting.clear()

    for place in golden.places():
        waiting.append(place)
        if len(waiting) == size:
            close()
    if waiting:
        close()
    return shards


def collect_in_shards(
    bench: Workbench,
    setting: Shards,
    asked: Asked,
    progress: Progress,
    looks: Looks | None = None,
    subject: str = "",
) -> AnswerTable:
    """Ask every case in shards and write the answers in the order of the questions, as one process does.

    With `looks`, trials are asked one by one until it says why to stop.
    """
    identity, golden, facts = asked.identity, asked.golden, asked.golden.facts
    title = f"{subject or identity.version} on {identity.engine}"
    outputs = bench.store.outputs_folder(identity.suite, identity.version)
    left = bench.store.shards_folder(identity.suite, identity.version)
    shards = cut(golden, setting.cases)
    paths: list[Path] = []
    following = range(1, (looks.plan.min if looks else identity.trials) + 1)
    with Handing(bench, setting, progress, left) as handing, AnswerMerger.into(outputs) as merger:
        while True:
            trial = f", trial {following[-1]} of at most {looks.plan.max}" if looks else ""
            progress.start(f"{title}{trial}", facts.cases * len(following))
            tasks = [
                AskTask(
                    bench.project, bench.run, golden.facts.golden_hash, identity, asked.commit, each, number
                )
                for number in following
                for each in shards
            ]
            given = TrialAnswers(following)
            for worked in handing.results(ask_shard, tasks, ".parquet"):
                paths.append(left / f"{worked.name}.parquet")
                merger.add(paths[-1])
                for answer in AnswerTable.open(paths[-1]) if looks else ():
                    given.add(answer)
            stopping = looks.after(given) if looks else None
            if looks is None or stopping is not None:
                break
            following = range(following.stop, following.stop + 1)
        if stopping is not None:
            identity = replace(identity, trials=stopping.trials, plan=stopping.plan)
        name = merger.finish(identity, stopping, varies=asked.varies)
    table = AnswerTable.open(outputs / name)
    for path in paths:
        path.unlink(missing_ok=True)
    return table


def score_in_shards(
    bench: Workbench, setting: Shards, golden: GoldenTable, identity: Identity, answers: AnswerTable
) -> Scores:
    """Score answers in shards, and put the scores together."""
    left = bench.store.shards_folder(identity.outputs.suite, identity.outputs.version)
    share_judge(bench.context, bench.run)
    tasks = [ScoreTask(bench.project, bench.run, identity, each) for each in cut(golden, setting.cases)]
    with Handing(bench, setting, Silence(), left) as handing:
        for is_last in (False, True):
            pieces = [
                PieceOfScores(left / worked.name, *worked.ends)
                for worked in handing.results(score_shard, tasks)
                if worked.name
            ]
            if not pieces:  # says what is wrong
                return score_cases(bench.suite, (), answers, bench.context)
            try:
                scores = merged_scores(pieces, answers.trials, left)
                break
            except (BadInput, FileNotFoundError):  # a run of the same that ended meanwhile took some away
                if is_last or all(piece.folder.exists() for piece in pieces):
                    raise
    for piece in pieces:
        remove(piece.folder)
    return scores


class Handing:
    """Hands tasks out to workers, and tells those who watch how far they are."""

    def __init__(self, bench: Workbench, setting: Shards, progress: Progress, folder: Path) -> None:
        self._bench = bench
        self._setting = setting
        self._progress = progress
        self._folder = folder
        self._handed = 0
        self._done: set[str] = set()
        """What is done, of earlier trials too: their news stay on the board."""

    def __enter__(self) -> Self:
        self._journal = Journal.open(database_url(self._bench.project))
        try:
            self._journal.begin_run(self._bench.run)
            self._opened = open_workers(self._setting)
            self._workers: Workers = self._opened.__enter__()
        except BaseException:
            self._journal.__exit__()
            raise
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        try:
            self._opened.__exit__(kind, error, trace)
            self._journal.board.close(self._bench.run)
        finally:
            self._journal.__exit__()

    def results(
        self, function: Callable[[Any], Worked], tasks: Sequence[Any], suffix: str = ""
    ) -> Iterator[Worked]:
        """What became of tasks, in their order, each as soon as those before it are done."""
        first = self._handed
        self._handed += len(tasks)
        for number, task in enumerate(tasks):
            self._workers.submit(first + number, function, task)
        ready: dict[int, Worked] = {}
        tries: dict[int, int] = {}
        finished = SoFar()
        following = 0

        def is_gone(place: int) -> bool:
            name = ready[place].name
            return bool(name) and not (self._folder / f"{name}{suffix}").exists()

        def hand_out_again(place: int) -> None:
            del ready[place]
            tries[place] = tries.get(place, 1) + 1
            self._stop_if_unseen(tries[place])
            self._workers.submit(first + place, function, tasks[place])

        while following < len(tasks):
            for number, worked in self._workers.completed(LOOK_SECONDS):
                place = number - first
                if worked.problems:
                    raise BadInput(list(worked.problems))
                ready[place] = worked
                if is_gone(place):
                    hand_out_again(place)
                elif worked.name not in self._done:
                    finished += worked.so_far
                    self._done.add(worked.name)
            self._tell(finished)
            while following in ready:
                if is_gone(following):  # since it was done: a run of the same that ended took it away
                    hand_out_again(following)
                    break
                yield ready.pop(following)
                following += 1

    def _stop_if_unseen(self, tries: int) -> None:
        if tries > MOST_TRIES:
            message = f"what workers write to {self._folder} is not to be seen here"
            raise WorkersLost(message, "Let all of them, and who starts the run, share the state folder.")

    def _tell(self, finished: SoFar) -> None:
        if isinstance(self._progress, Silence):
            return
        news = self._journal.board.news(self._bench.run)
        for name, told in news.items():
            if name not in self._done:
                finished += msgspec.json.decode(told, type=SoFar)
        self._progress.catch_up(finished)
