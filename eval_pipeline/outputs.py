"""Asking an engine for every case and trial, and keeping what it answers."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import AsyncIterator, Coroutine, Iterator
from contextlib import aclosing
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

import msgspec
from msgspec.structs import replace

from eval_pipeline.answers import MISSING, Answer, without_own
from eval_pipeline.engines import Engine, Request
from eval_pipeline.evaluation import OutputsIdentity
from eval_pipeline.progress import Progress
from eval_pipeline.prompt import Prompt
from eval_pipeline.rendering import Renderer
from eval_pipeline.store.tables import AnswerTable, GoldenTable
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

    async def requests(self, engine: Engine, trials: int) -> AsyncIterator[Request]:
        """Every case in every trial, in order.

        The template is rendered for each case where the engine reads it, and for the first one
        in any case, so that a broken template never goes unnoticed.
        """
        with Renderer(self._prompt) as renderer:
            for trial in range(1, trials + 1):
                batches = self._batches(renderer, engine.reads_prompt)
                following = asyncio.ensure_future(asyncio.to_thread(next, batches, None))
                try:
                    while batch := await following:
                        # The next ones are rendered while these are being asked.
                        following = asyncio.ensure_future(asyncio.to_thread(next, batches, None))
                        for case_id, input_hash, prepared, text in batch:
                            self.asked.append(_Asked(case_id, trial, input_hash, self._carried(prepared)))
                            yield Request(case_id, trial, prepared, text)
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


def collect_outputs(
    questions: Questions, engine: Engine, identity: OutputsIdentity, path: Path, progress: Progress
) -> AnswerTable:
    """Ask the engine everything and write its answers in the order of the questions."""
    progress.start(f"{identity.version} on {engine.name}", questions.cases * identity.trials)

    def carrying(answer: Answer, carried: msgspec.Raw) -> Answer:
        kept = without_own(carried, answer) if engine.prepared_elsewhere else carried
        return replace(answer, carried=kept)

    async def ask() -> None:
        ready: dict[tuple[str, int], Answer] = {}
        asking = engine.answer(questions.requests(engine, identity.trials))
        async with aclosing(asking) as answers:
            with AnswerTable.writing(path, identity) as add:
                async for answer in answers:
                    ready[answer.case_id, answer.trial] = answer
                    progress.advance(answer)
                    while questions.asked and (key := questions.asked[0][:2]) in ready:
                        asked = questions.asked.popleft()
                        add(carrying(ready.pop(key), asked.carried), asked.input_hash)
                for asked in questions.asked:
                    answer = ready.get(asked[:2]) or Answer(
                        asked.case_id, asked.trial, error=MISSING, detail="the engine gave no answer"
                    )
                    add(carrying(answer, asked.carried), asked.input_hash)

    run(ask())
    return AnswerTable.open(path)


def run(work: Coroutine[Any, Any, T]) -> T:
    """Run asynchronous work to its end, on the faster loop where there is one."""
    try:
        import uvloop
    except ImportError:
        return asyncio.run(work)
    return uvloop.run(work)
