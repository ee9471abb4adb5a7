"""Asking an engine for every case and trial, and keeping what it answers."""

from __future__ import annotations

import asyncio
import gc
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Coroutine, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import aclosing, asynccontextmanager
from pathlib import Path
from typing import Any, NamedTuple, Protocol, TypeVar

from msgspec.structs import replace

from eval_pipeline.answers import (
    MISSING,
    Answer,
    Failure,
    OutputsIdentity,
    Stopping,
    TrialRange,
    failure_of,
    without_own,
)
from eval_pipeline.asking.progress import Progress
from eval_pipeline.asking.questions import Questions
from eval_pipeline.engines import Engine, MeteredEngine
from eval_pipeline.secrets import masked
from eval_pipeline.store import AnswerTable, AnswerWriter

T = TypeVar("T")

LOOK_SECONDS = 1.0
YOUNG_OBJECTS = 100_000
"""So many new objects are there before garbage is looked for: more than hundreds of calls under way need, so
that it is not their objects that are looked through again and again. Hardly anything is ever found."""


class Looks(Protocol):
    """Decides after every trial whether another one is worth its calls."""

    @property
    def plan(self) -> TrialRange:
        """Between which numbers of trials it may decide."""

    def after(self, answers: TrialAnswers) -> Stopping | None:
        """Why to stop after these further answers; None to ask another trial."""


class Answered(NamedTuple):
    """An answer, to which input it was given, and why it cannot be used."""

    answer: Answer
    input_hash: str
    failure: Failure | None


class TrialAnswers:
    """The answers of some trials, as they came in."""

    def __init__(self, trials: Sequence[int]) -> None:
        self.trials = tuple(trials)
        self._answers: dict[tuple[str, int], Answer] = {}

    def add(self, answer: Answer) -> None:
        """Take in an answer."""
        self._answers[answer.case_id, answer.trial] = answer

    def get(self, case_id: str, trial: int, input_hash: str) -> Answer | None:
        """The answer for a case in a trial; they were all given to the inputs as they are."""
        return self._answers.get((case_id, trial))


def collect_outputs(
    questions: Questions,
    engine: Engine,
    identity: OutputsIdentity,
    folder: Path,
    progress: Progress,
    looks: Looks | None = None,
    subject: str = "",
) -> AnswerTable:
    """Ask the engine everything and write its answers in the order of the questions.

    With `looks`, trials are asked one by one until it says why to stop, and the identity says how many
    there are. `subject` is what those who watch read instead of the version.
    """
    title = f"{subject or identity.version} on {engine.name}"

    async def ask_all(writer: AnswerWriter) -> None:
        progress.start(title, questions.cases * identity.trials)
        asking = _answered(questions, engine, range(1, identity.trials + 1), progress)
        async with aclosing(asking) as answers:
            async for answered in answers:
                writer.add(*answered)
        writer.finish(identity, varies=engine.varies)

    async def ask_by_trial(writer: AnswerWriter, looks: Looks) -> None:
        stopping: Stopping | None = None
        following = range(1, looks.plan.min + 1)
        while stopping is None:
            trial_answers = TrialAnswers(following)
            progress.start(
                f"{title}, trial {following[-1]} of at most {looks.plan.max}",
                questions.cases * len(following),
            )
            async with aclosing(_answered(questions, engine, following, progress)) as answers:
                async for answered in answers:
                    writer.add(*answered)
                    trial_answers.add(answered.answer)
            stopping = looks.after(trial_answers)
            following = range(following.stop, following.stop + 1)
        final = replace(identity, trials=stopping.trials, plan=stopping.plan)
        writer.finish(final, stopping, varies=engine.varies)

    with AnswerTable.writing(folder) as writer:
        run(ask_all(writer) if looks is None else ask_by_trial(writer, looks))
    return AnswerTable.open(folder / f"{writer.identity.id}.parquet")


def collect_part(
    questions: Questions,
    engine: Engine,
    identity: OutputsIdentity,
    trial: int,
    path: Path,
    progress: Progress,
) -> None:
    """Ask the engine some cases in one trial, and write its answers to a table of their own."""

    async def ask(writer: AnswerWriter) -> None:
        async with aclosing(_answered(questions, engine, [trial], progress)) as answers:
            async for answered in answers:
                writer.add(*answered)
        writer.finish(identity, varies=engine.varies)

    with AnswerTable.writing(path.parent, path.stem) as writer:
        run(ask(writer))


async def _answered(
    questions: Questions, engine: Engine, trials: Sequence[int], progress: Progress
) -> AsyncGenerator[Answered, None]:
    """The answers to every question of some trials, in the order of the questions; each is parsed at once."""
    ready: dict[tuple[str, int], Answered] = {}
    asked = questions.asked

    def read(answer: Answer) -> Answered:
        input_hash, carried = asked[answer.case_id, answer.trial]
        kept = without_own(carried, answer) if engine.prepared_elsewhere else carried
        text = None if answer.text is None else masked(answer.text)
        carrying = replace(answer, carried=kept, text=text, detail=masked(answer.detail))
        return Answered(carrying, input_hash, failure_of(carrying, questions.output))

    with questions.renderer() as renderer:
        asking = aclosing(engine.answer(questions.requests(engine, trials, renderer)))
        async with _watching(engine, progress), asking as answers:
            async for answer in answers:
                key = answer.case_id, answer.trial
                if key not in asked:  # nobody asked, or it is answered already
                    continue
                ready[key] = read(answer)
                progress.advance(answer, ready[key].failure)
                while asked and (first := next(iter(asked))) in ready:
                    del asked[first]
                    yield ready.pop(first)
    while asked:
        first = next(iter(asked))
        missing = Answer(*first, error=MISSING, detail="the engine gave no answer")
        yield ready.get(first) or read(missing)
        del asked[first]


@asynccontextmanager
async def _watching(engine: Engine, progress: Progress) -> AsyncIterator[None]:
    """Tell those who watch what a metered engine waits for, while it does."""

    async def watch(metered: MeteredEngine) -> None:
        while True:
            await asyncio.sleep(LOOK_SECONDS)
            progress.wait(metered.waiting)

    task = asyncio.create_task(watch(engine)) if isinstance(engine, MeteredEngine) else None
    try:
        yield
    finally:
        if task is not None:
            task.cancel()
            await asyncio.gather(task, return_exceptions=True)


def run(work: Coroutine[Any, Any, T]) -> T:
    """Run asynchronous work to its end; where a loop is running already, in a thread of its own.

    What is in memory already stays there: to look for garbage in it, or in what calls under way need, would
    take longer than anything else that is done for a call.
    """
    thresholds = gc.get_threshold()
    gc.freeze()
    gc.set_threshold(max(YOUNG_OBJECTS, thresholds[0]), *thresholds[1:])
    try:
        if _in_a_loop():
            with ThreadPoolExecutor(1) as thread:
                return thread.submit(_loop_runner(), work).result()
        return _loop_runner()(work)
    finally:
        gc.set_threshold(*thresholds)
        gc.unfreeze()


def _in_a_loop() -> bool:
    """Whether somebody's loop is running here already, as in a cell of a notebook."""
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return False
    return True


def _loop_runner() -> Callable[[Coroutine[Any, Any, T]], T]:
    """What runs an event loop: uvloop where it is installed (the extra `fast`), else Python's own."""
    try:
        import uvloop
    except ImportError:
        return asyncio.run
    return uvloop.run
