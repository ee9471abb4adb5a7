"""The embedded engine: the suite's own deterministic system, steered by the prompt's parameters."""

from __future__ import annotations

import time
from collections.abc import AsyncGenerator, AsyncIterator
from typing import Any, Literal

import msgspec

from eval_pipeline.answers import Answer
from eval_pipeline.engines.interface import Request
from eval_pipeline.engines.kinds import EngineEntry, Use, register
from eval_pipeline.language.patterns import SlowPattern
from eval_pipeline.scoring import engine_version
from eval_pipeline.suite import Suite


@register
class EmbeddedEntry(EngineEntry):
    """The suite's own classical system."""

    kind: Literal["embedded"] = "embedded"
    description: str = ""

    def serves(self, suite: Suite) -> bool:
        """Whether the suite brings such a system along."""
        return suite.embedded is not None

    def open(self, name: str, use: Use) -> EmbeddedEngine:
        """The engine of that name."""
        return EmbeddedEngine(name, use.suite, use.prompt.parameters, use.resources)


class EmbeddedEngine:
    """Answers in this process, with no key and no network."""

    trials = 1
    varies = False
    reads_prompt = False
    prepared_elsewhere = False

    def __init__(self, name: str, suite: Suite, parameters: Any, resources: Any) -> None:
        assert suite.embedded is not None
        self.name = name
        self._embedded = suite.embedded
        self._suite = suite
        self._parameters = parameters
        self._resources = resources

    @property
    def model(self) -> str:
        """The suite and the hash of its engine's code: other code is another model."""
        return f"{self._suite.name}-{engine_version(self._suite)[:8]}"

    @property
    def held_out(self) -> tuple[str, str] | None:
        """The cases that the suite's system did not learn from."""
        return self._suite.held_out

    async def answer(self, requests: AsyncIterator[Request]) -> AsyncGenerator[Answer, None]:
        """Answer one request after the other. An engine that raises gives an error, not a crash."""
        async for request in requests:
            started = time.perf_counter()
            text, error, detail = None, None, ""
            try:
                output = self._embedded(request.prepared, self._parameters, self._resources)
                is_text = self._suite.output is str and isinstance(output, str)
                # Half a surrogate pair is no text, and would spoil the table it is kept in.
                text = (output.encode() if is_text else msgspec.json.encode(output)).decode()
            except SlowPattern as slow:  # no answer may depend on how fast this machine is
                raise slow.in_case(request.case_id) from None
            except Exception as failure:  # the answer carries the failure of this one case
                error, detail = "engine", f"{type(failure).__name__}: {failure}"
            elapsed = round((time.perf_counter() - started) * 1000, 3)
            yield Answer(request.case_id, request.trial, text, error, detail, elapsed, 0.0)
