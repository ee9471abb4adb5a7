"""Kinds of engines: what `engines.yaml` says of one, and how it is opened. Each registers itself."""

from __future__ import annotations

import importlib
from abc import abstractmethod
from collections.abc import Iterable, Mapping
from functools import reduce
from operator import or_
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

import msgspec

from eval_pipeline.answers import Trials
from eval_pipeline.engines.interface import Engine
from eval_pipeline.files import Violation
from eval_pipeline.project import Project
from eval_pipeline.prompts import Prompt
from eval_pipeline.store import database_url
from eval_pipeline.suite import Suite

if TYPE_CHECKING:
    from eval_pipeline.engines.calls import Client
    from eval_pipeline.engines.metered import Limits, MeteredEngine

MODULES = ("embedded", "recorded", "callable", "endpoint", "local")
"""The modules of this package that register a kind."""


class Use(NamedTuple):
    """What an engine is opened for."""

    project: Project
    suite: Suite
    prompt: Prompt
    resources: Any
    sample: str


class EngineEntry(msgspec.Struct, frozen=True, forbid_unknown_fields=True, tag_field="kind"):
    """An engine of `engines.yaml`. A subclass is a kind; its tag is what `kind` says."""

    def violations(self) -> Iterable[Violation]:
        """What is wrong with the entry beyond the types of its fields."""
        return ()

    def serves(self, suite: Suite) -> bool:
        """Whether it can answer the cases of a suite."""
        return True

    def reads(self, file: PurePosixPath, suite: str, version: str) -> bool:
        """Whether its answers for a version may come from a file of the project, by its path there."""
        return False

    @abstractmethod
    def open(self, name: str, use: Use) -> Engine:
        """The engine of that name."""


class Metered(NamedTuple):
    """A metered engine before it is opened: what answers, how it is asked, and within which limits."""

    model: str
    client: Client
    limits: Limits
    trials: Trials


class MeteredEntry(EngineEntry, frozen=True):
    """An engine that reads what it is asked, and whose calls are journaled and limited."""

    @abstractmethod
    def metered(self, name: str, project: Project, suite: Suite, schema: dict[str, Any] | None) -> Metered:
        """What to ask for outputs of that schema; None for plain text."""

    def open(self, name: str, use: Use) -> MeteredEngine:
        """The engine of that name."""
        schema = output_schema(use.suite)
        return self.open_for(name, use.project, use.suite, schema, use.prompt.version, use.sample)

    def open_for(
        self,
        name: str,
        project: Project,
        suite: Suite,
        schema: dict[str, Any] | None,
        version: str,
        sample: str,
    ) -> MeteredEngine:
        """The engine of that name; the journal keeps its calls under a version and a sample."""
        from eval_pipeline.engines.metered import MeteredEngine

        model, client, limits, trials = self.metered(name, project, suite, schema)
        return MeteredEngine(
            name,
            model,
            client,
            limits,
            database_url(project),
            suite=suite.name,
            version=version,
            sample=sample,
            trials=trials,
        )


_registered: dict[str, type[EngineEntry]] = {}
Entry = TypeVar("Entry", bound=type[EngineEntry])


def register(entry: Entry) -> Entry:
    """Make a kind known by its tag."""
    _registered[str(entry.__struct_config__.tag)] = entry
    return entry


def kinds() -> Mapping[str, type[EngineEntry]]:
    """Every kind by its tag, in the order of their tags."""
    for module in MODULES:
        importlib.import_module(f"eval_pipeline.engines.{module}")
    return dict(sorted(_registered.items()))


def any_entry() -> Any:
    """The type of an entry of any kind."""
    return reduce(or_, kinds().values())


def output_schema(suite: Suite) -> dict[str, Any] | None:
    """The JSON schema of a suite's output, without what `prepare` contributes to it; None for plain text."""
    if suite.output is str:
        return None
    schema = msgspec.json.schema(suite.output)
    definition = schema.get("$defs", {}).get(suite.output.__name__, schema)
    for name in suite.carried:
        definition.get("properties", {}).pop(name, None)
        if name in definition.get("required", []):
            definition["required"].remove(name)
    return schema
