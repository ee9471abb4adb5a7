"""The embedded engine: the suite's own deterministic system, steered by the prompt's parameters."""

from __future__ import annotations

import sys
import time
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import msgspec

from eval_pipeline.answers import Answer
from eval_pipeline.content import files_hash
from eval_pipeline.engines import Request
from eval_pipeline.suite import Suite


class EmbeddedEngine:
    """Answers in this process, with no key and no network."""

    trials = 1
    varies = False
    reads_prompt = False

    def __init__(self, name: str, suite: Suite, parameters: Any, resources: Any) -> None:
        self.name = name
        self._suite = suite
        self._parameters = parameters
        self._resources = resources

    @property
    def model(self) -> str:
        """The suite and the hash of its engine's code: other code is another model."""
        file = Path(str(sys.modules[self._suite.embedded.__module__].__file__))
        files = file.parent.glob("*.py") if file.name == "__init__.py" else [file]
        return f"{self._suite.name}-{files_hash(files)[:8]}"

    async def answer(self, requests: AsyncIterator[Request]) -> AsyncIterator[Answer]:
        """Answer one request after the other. An engine that raises gives an error, not a crash."""
        async for request in requests:
            started = time.perf_counter()
            text, error, detail = None, None, ""
            try:
                output = self._suite.embedded(request.prepared, self._parameters, self._resources)
                text = msgspec.json.encode(output).decode()
            except Exception as failure:  # the answer carries the failure of this one case
                error, detail = "engine", f"{type(failure).__name__}: {failure}"
            elapsed = round((time.perf_counter() - started) * 1000, 3)
            yield Answer(request.case_id, request.trial, text, error, detail, elapsed, 0.0)
