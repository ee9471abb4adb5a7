"""From golden inputs to requests."""

import asyncio
from collections import OrderedDict
from collections.abc import AsyncIterator, Iterable, Iterator, Sequence, Set
from itertools import islice
from typing import Any, NamedTuple

import msgspec

from eval_pipeline.engines import Engine, Request
from eval_pipeline.prompts import LONGEST_PROMPT, Chat, Prompt, Renderer, as_text
from eval_pipeline.store import GoldenTable
from eval_pipeline.suite import TURNS, Suite, Turn, carries_turns, suite_code

FIRST_BATCH = 100
LARGEST_BATCH = 800


class Asked(NamedTuple):
    """A question that was put, and what its answer has to carry."""

    input_hash: str
    carried: msgspec.Raw


class _Rendered(NamedTuple):
    case_id: str
    input_hash: str
    prepared: Any
    prompt: str | Chat | None


class Questions:
    """Turns inputs into requests. It reads only the golden table's inputs: no expectation gets this far."""

    def __init__(self, suite: Suite, prompt: Prompt, golden: GoldenTable, resources: Any) -> None:
        self._suite = suite
        self._prompt = prompt
        self._golden = golden
        self._resources = resources
        self._layout = prompt.layout
        self._carries_turns = carries_turns(suite.input)
        self.cases = golden.facts.cases
        self.output = suite.output
        self.asked: OrderedDict[tuple[str, int], Asked] = OrderedDict()
        """What was asked and is not answered yet, by case and trial, oldest first."""

    def renderer(self) -> Renderer:
        """What renders the prompt; it gets ready while an engine does."""
        return Renderer(self._prompt)

    async def requests(
        self, engine: Engine, trials: Iterable[int], renderer: Renderer
    ) -> AsyncIterator[Request]:
        """Every case in every one of the trials, in order.

        The template is rendered for each case where the engine reads it, and for the first one
        in any case, so that a broken template never goes unnoticed.
        """
        for trial in trials:
            batches = self._batches(renderer, engine.reads_prompt)
            following = asyncio.ensure_future(asyncio.to_thread(next, batches, None))
            try:
                while batch := await following:
                    # The next ones are rendered while these are being asked.
                    following = asyncio.ensure_future(asyncio.to_thread(next, batches, None))
                    for case_id, input_hash, prepared, text in batch:
                        self.asked[case_id, trial] = Asked(input_hash, self._carried(prepared))
                        yield Request(case_id, trial, prepared, text)
            except BaseException:
                renderer.kill()  # nobody waits for a template any more
                raise
            finally:
                await asyncio.wait([following])

    def texts(self, only: Set[str] | None = None) -> Iterator[tuple[str, str]]:
        """Every case's id, or those of some, and the text that an engine reads of it, in their order."""
        with self.renderer() as renderer:
            for batch in self._batches(renderer, reads_prompt=True, only=only):
                yield from ((each.case_id, as_text(each.prompt or "")) for each in batch)

    def _batches(
        self, renderer: Renderer, reads_prompt: bool, only: Set[str] | None = None
    ) -> Iterator[list[_Rendered]]:
        inputs = self._golden.inputs(self._suite, only)
        size = FIRST_BATCH
        first = True
        while batch := list(islice(inputs, size)):
            size = min(2 * size, LARGEST_BATCH)
            prepared = [self._prepare(case_id, input_) for case_id, _, input_ in batch]
            rendered = renderer.render(prepared if reads_prompt else prepared[: int(first)])
            prompts: list[str | Chat | None] = [None] * len(batch)
            for index, (texts, (case_id, _, input_)) in enumerate(zip(rendered, batch, strict=False)):
                prompts[index] = self._prompted(renderer, case_id, texts, self._turns(input_))
            first = False
            yield [
                _Rendered(case_id, input_hash, each, prompt if reads_prompt else None)
                for (case_id, input_hash, _), each, prompt in zip(batch, prepared, prompts, strict=True)
            ]

    def _turns(self, input_: Any) -> Sequence[Turn]:
        return getattr(input_, TURNS) if self._carries_turns else ()

    def _prompted(
        self, renderer: Renderer, case_id: str, texts: Sequence[str], turns: Sequence[Turn]
    ) -> str | Chat:
        """What an engine reads; an endpoint would refuse an empty message, and so do we."""
        if self._layout.is_chat:
            for place, text in enumerate(texts):
                if not text.strip():
                    raise renderer.problem(f"renders to an empty message for the case {case_id!r}", place)
        if turns and sum(map(len, texts)) + sum(len(turn.content) for turn in turns) > LONGEST_PROMPT:
            longest = f"has more than {LONGEST_PROMPT:,} characters"
            raise renderer.problem(f"{longest} with the earlier turns of the case {case_id!r}")
        return self._layout.messages(texts, turns)

    def _prepare(self, case_id: str, input_: Any) -> Any:
        if self._suite.prepare is None:
            return input_
        with suite_code(self._suite.name, "prepare", case_id):
            return self._suite.prepare(input_, self._prompt.parameters, self._resources)

    def _carried(self, prepared: Any) -> msgspec.Raw:
        if not self._suite.carried:
            return msgspec.Raw(b"null")
        return msgspec.Raw(
            msgspec.json.encode({name: getattr(prepared, name) for name in self._suite.carried})
        )
