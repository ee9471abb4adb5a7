"""Asking an engine for every case and trial, and keeping what it answers."""

from __future__ import annotations

import asyncio
import gc
from collections import deque
from collections.abc import AsyncGenerator, AsyncIterator, Coroutine, Iterable, Iterator, Sequence
from contextlib import aclosing
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple, Protocol, TypeVar

import msgspec
from msgspec.structs import replace

from eval_pipeline.answers.recorded import MISSING, Answer, without_own
from eval_pipeline.answers.trials import Stopping, TrialRange
from eval_pipeline.asking.progress import Progress
from eval_pipeline.engines import Engine, Request
from eval_pipeline.evaluation import OutputsIdentity
from eval_pipeline.prompts.rendering import Renderer
from eval_pipeline.prompts.versions import Prompt
from eval_pipeline.store.tables import AnswerTable, AnswerWriter, GoldenTable
from eval_pipeline.suite import Suite

T = TypeVar("T")

BATCH = 100


class _Asked(NamedTuple):
    case_id: str
    trial: int
    input_hash: str
    carried: msgspec.Raw


class _Rendered(NamedTuple):
    case_id: str
    input_hash: str
    prepared: Any
    prompt: str | None


class Questions:
    """Turns inputs into requests. It reads only the golden table's inputs: no expectation gets this far."""

    def __init__(self, suite: Suite, prompt: Prompt, golden: GoldenTable, resources: Any) -> None:
        self._suite = suite
        self._prompt = prompt
        self._golden = golden
        self._resources = resources
        self.cases = golden.facts.cases
        self.asked: deque[_Asked] = deque()

    async def requests(self, engine: Engine, trials: Iterable[int]) -> AsyncIterator[Request]:
        """Every case in every one of the trials, in order.

        The template is rendered for each case where the engine reads it, and for the first one
        in any case, so that a broken template never goes unnoticed.
        """
        with Renderer(self._prompt) as renderer:
            for trial in trials:
                batches = self._batches(renderer, engine.reads_prompt)
                following = asyncio.ensure_future(asyncio.to_thread(next, batches, None))
                try:
                    while batch := await following:
                        # The next ones are rendered while these are being asked.
                        following = asyncio.ensure_future(asyncio.to_thread(next, batches, None))
                        for case_id, input_hash, prepared, text in batch:
                            self.asked.append(_Asked(case_id, trial, input_hash, self._carried(prepared)))
                            yield Request(case_id, trial, prepared, text)
                except BaseException:
                    renderer.kill()  # nobody waits for a template any more
                    raise
                finally:
                    await asyncio.wait([following])

    def _batches(self, renderer: Renderer, reads_prompt: bool) -> Iterator[list[_Rendered]]:
        inputs = self._golden.inputs(self._suite)
        first = True
        while batch := list(islice(inputs, BATCH)):
            prepared = [self._prepare(input_) for _, _, input_ in batch]
            texts = renderer.render(prepared if reads_prompt else prepared[: int(first)])
            first = False
            yield [
                _Rendered(case_id, input_hash, each, texts[index] if reads_prompt else None)
                for index, ((case_id, input_hash, _), each) in enumerate(zip(batch, prepared, strict=True))
            ]

    def _prepare(self, input_: Any) -> Any:
        if self._suite.prepare is None:
            return input_
        return self._suite.prepare(input_, self._prompt.parameters, self._resources)

    def _carried(self, prepared: Any) -> msgspec.Raw:
        if not self._suite.carried:
            return msgspec.Raw(b"null")
        return msgspec.Raw(
            msgspec.json.encode({name: getattr(prepared, name) for name in self._suite.carried})
        )


class Looks(Protocol):
    """Decides after every trial whether another one is worth its calls."""

    @property
    def plan(self) -> TrialRange:
        """Between which numbers of trials it may decide."""

    def after(self, answers: TrialAnswers) -> Stopping | None:
        """Why to stop after these further answers; None to ask another trial."""


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
) -> AnswerTable:
    """Ask the engine everything and write its answers in the order of the questions.

    With `looks`, trials are asked one by one until it says why to stop, and the identity says how many
    there are.
    """
    title = f"{identity.version} on {engine.name}"

    async def ask_all(writer: AnswerWriter) -> None:
        progress.start(title, questions.cases * identity.trials)
        asking = _answered(questions, engine, range(1, identity.trials + 1), progress)
        async with aclosing(asking) as answers:
            async for asked, answer in answers:
                writer.add(answer, asked.input_hash)
        writer.finish(identity)

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
                async for asked, answer in answers:
                    writer.add(answer, asked.input_hash)
                    trial_answers.add(answer)
            stopping = looks.after(trial_answers)
            following = range(following.stop, following.stop + 1)
        writer.finish(replace(identity, trials=stopping.trials, plan=stopping.plan), stopping)

    with AnswerTable.writing(folder) as writer:
        run(ask_all(writer) if looks is None else ask_by_trial(writer, looks))
    return AnswerTable.open(folder / f"{writer.identity.id}.parquet")


async def _answered(
    questions: Questions, engine: Engine, trials: Sequence[int], progress: Progress
) -> AsyncGenerator[tuple[_Asked, Answer], None]:
    """Every question of some trials with its answer, in the order of the questions."""
    ready: dict[tuple[str, int], Answer] = {}

    def carrying(answer: Answer, carried: msgspec.Raw) -> Answer:
        kept = without_own(carried, answer) if engine.prepared_elsewhere else carried
        return replace(answer, carried=kept)

    async with aclosing(engine.answer(questions.requests(engine, trials))) as answers:
        async for answer in answers:
            ready[answer.case_id, answer.trial] = answer
            progress.advance(answer)
            while questions.asked and (key := questions.asked[0][:2]) in ready:
                asked = questions.asked.popleft()
                yield asked, carrying(ready.pop(key), asked.carried)
    while questions.asked:
        asked = questions.asked.popleft()
        answer = ready.get(asked[:2]) or Answer(
            asked.case_id, asked.trial, error=MISSING, detail="the engine gave no answer"
        )
        yield asked, carrying(answer, asked.carried)


def run(work: Coroutine[Any, Any, T]) -> T:
    """Run asynchronous work to its end.

    What is in memory already stays there: to look for garbage in it again and again would take longer than
    anything else that is done for a call.
    """
    import uvloop

    gc.freeze()
    try:
        return uvloop.run(work)
    finally:
        gc.unfreeze()
