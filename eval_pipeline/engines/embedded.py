"""The embedded engine: the suite's own deterministic system, steered by the prompt's parameters."""

from __future__ import annotations

import ast
import importlib.util
import time
from collections.abc import AsyncGenerator, AsyncIterator, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

import msgspec

from eval_pipeline.answers import Answer
from eval_pipeline.engines.interface import Request
from eval_pipeline.files import content_hash
from eval_pipeline.scoring import SHARED_PACKAGES
from eval_pipeline.suite import PACKAGE, Suite

_SHARED = tuple(f"eval_pipeline.{name}" for name in SHARED_PACKAGES)


def code_behind(roots: Iterable[str], packages: Sequence[str]) -> dict[str, str]:
    """The hash of every module that some modules are or import, directly or not, within some packages.

    Imports are read from the source, those inside of functions included, so that it does not matter
    what this process happens to have loaded.
    """
    waiting = [name for root in roots for name in (root, *_siblings(root))]
    found: dict[str, str] = {}
    while waiting:
        name = waiting.pop()
        file = _file(name) if name not in found else None
        if file is not None:
            source = file.read_bytes()
            found[name] = content_hash(source)
            waiting += [
                each
                for each in _imports(source)
                if any(each == package or each.startswith(f"{package}.") for package in packages)
            ]
    return found


def _siblings(name: str) -> list[str]:
    """The modules of an engine that is a package, or of a suite in one file."""
    file = _file(name)
    if file is None or file.name != "__init__.py":
        return []
    return [f"{name}.{each.stem}" for each in sorted(file.parent.glob("*.py")) if each != file]


def _imports(source: bytes) -> Iterator[str]:
    """What a module imports by absolute name: modules, and names that may be modules."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            yield from (each.name for each in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            yield node.module
            yield from (f"{node.module}.{each.name}" for each in node.names)


def _file(name: str) -> Path | None:
    """The source of a module; none for what is no module."""
    try:
        spec = importlib.util.find_spec(name)
    except ModuleNotFoundError:  # a name inside a module
        return None
    return Path(spec.origin) if spec and spec.origin else None


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
        suite = self._suite
        roots = [each.__module__ for each in (self._embedded, suite.prepare) if each]
        packages = (*_SHARED, f"{PACKAGE}.{suite.name}")
        return f"{suite.name}-{content_hash(code_behind(roots, packages))[:8]}"

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
            except Exception as failure:  # the answer carries the failure of this one case
                error, detail = "engine", f"{type(failure).__name__}: {failure}"
            elapsed = round((time.perf_counter() - started) * 1000, 3)
            yield Answer(request.case_id, request.trial, text, error, detail, elapsed, 0.0)
