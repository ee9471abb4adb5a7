"""Kinds of engines: what `engines.yaml` says of one, and how it is opened. Each registers itself."""

from __future__ import annotations

import importlib
import pkgutil
import re
from abc import abstractmethod
from collections.abc import Mapping
from difflib import get_close_matches
from functools import cache, reduce
from operator import or_
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple, TypeVar

import msgspec
from pydantic import ConfigDict, Field, ValidatorFunctionWrapHandler, WrapValidator

from eval_pipeline.answers import Trials
from eval_pipeline.engines.interface import Engine
from eval_pipeline.files import Violation
from eval_pipeline.files.models import Model, refusal, violations_in
from eval_pipeline.files.violations import CLOSE
from eval_pipeline.files.words import not_a_choice
from eval_pipeline.project import Project
from eval_pipeline.prompts import Prompt, Sampling
from eval_pipeline.store import database_url
from eval_pipeline.suite import Suite

if TYPE_CHECKING:
    from eval_pipeline.engines.calls import Client
    from eval_pipeline.engines.metered import Limits, MeteredEngine

_REGISTERS = re.compile(r"^@register\b", re.MULTILINE)
"""The line by which a module of this package is known to hold a kind; the others are not imported for it."""


class Use(NamedTuple):
    """What an engine is opened for."""

    project: Project
    suite: Suite
    prompt: Prompt
    resources: Any
    sample: str


def _with_kind(schema: dict[str, Any]) -> None:
    """In a file the kind must be said."""
    if "kind" in schema["properties"]:
        schema["required"] = ["kind", *schema.get("required", [])]


class EngineEntry(Model):
    """An engine of `engines.yaml`. A subclass is a kind, and begins with `kind: Literal["name"] = "name"`."""

    model_config = ConfigDict(json_schema_extra=_with_kind)

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


class MeteredEntry(EngineEntry):
    """An engine that reads what it is asked, and whose calls are journaled and limited."""

    @abstractmethod
    def metered(
        self,
        name: str,
        project: Project,
        suite: Suite,
        schema: dict[str, Any] | None,
        sampling: Sampling | None = None,
    ) -> Metered:
        """What to ask for outputs of that schema; None for plain text. A prompt may sample in its own way."""

    def open(self, name: str, use: Use) -> MeteredEngine:
        """The engine of that name."""
        schema = output_schema(use.suite)
        sampling = use.prompt.front.sampling
        return self.open_for(name, use.project, use.suite, schema, use.prompt.version, use.sample, sampling)

    def open_for(
        self,
        name: str,
        project: Project,
        suite: Suite,
        schema: dict[str, Any] | None,
        version: str,
        sample: str,
        sampling: Sampling | None = None,
    ) -> MeteredEngine:
        """The engine of that name; the journal keeps its calls under a version and a sample."""
        from eval_pipeline.engines.metered import MeteredEngine

        model, client, limits, trials = self.metered(name, project, suite, schema, sampling)
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
    """Make a kind known by its name."""
    kind: type[EngineEntry] = entry
    _registered[kind.model_fields["kind"].default] = kind
    return entry


def kinds() -> Mapping[str, type[EngineEntry]]:
    """Every kind by its name, in the order of their names."""
    _import_kinds()
    return dict(sorted(_registered.items()))


@cache
def _import_kinds() -> None:
    for module in pkgutil.iter_modules([str(Path(__file__).parent)]):
        source = Path(__file__).with_name(f"{module.name}.py")
        if _REGISTERS.search(source.read_text(encoding="utf-8")):
            importlib.import_module(f"{__package__}.{module.name}")


def any_entry(known: Mapping[str, type[EngineEntry]]) -> Any:
    """The type of an entry of any of some kinds."""

    def of_its_kind(value: Any, other: ValidatorFunctionWrapHandler) -> EngineEntry:
        if not isinstance(value, dict):
            return next(iter(known.values())).model_validate(value)  # says what it is instead
        if "kind" not in value:
            raise refusal(*_without_kind(value, known))
        if not isinstance(value["kind"], str) or value["kind"] not in known:
            message, remedy = not_a_choice(value["kind"], known, "kind of engine", "Kinds")
            raise refusal(Violation(("kind",), message, remedy))
        return known[value["kind"]].model_validate(value)

    return Annotated[reduce(or_, known.values()), Field(discriminator="kind"), WrapValidator(of_its_kind)]


def _without_kind(value: dict[Any, Any], known: Mapping[str, type[EngineEntry]]) -> list[Violation]:
    """One problem where `kind` is missing or misspelt; with a usable value, those of other fields, too."""
    near = get_close_matches("kind", [name for name in value if isinstance(name, str)], 1, CLOSE)
    if not near:
        return [Violation(("kind",), "is missing", f"Add it: {', '.join(known)}.")]
    typo = Violation((near[0],), "is not a known field", "Did you mean kind?")
    if not isinstance(value[near[0]], str) or value[near[0]] not in known:
        return [typo]
    rest = {name: member for name, member in value.items() if name != near[0]}
    return [typo, *violations_in(rest, known[value[near[0]]])]


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
