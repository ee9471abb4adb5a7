"""`engines.yaml`: which engines there are, and which one a run uses."""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any
from urllib.parse import urlsplit

import msgspec

from eval_pipeline.answers import TrialRange, Trials
from eval_pipeline.engines.calls import Client
from eval_pipeline.engines.endpoint import EndpointClient, EndpointEntry, SuiteLimits, endpoint_violations
from eval_pipeline.engines.interface import Engine
from eval_pipeline.engines.local import LocalClient, LocalEntry, weights
from eval_pipeline.files import Violation, content_hash, read_yaml
from eval_pipeline.problems import Problems, bad_value
from eval_pipeline.project import Project
from eval_pipeline.prompts import Prompt
from eval_pipeline.store import database_url
from eval_pipeline.suite import Suite

if TYPE_CHECKING:
    from eval_pipeline.engines.metered import Limits, MeteredEngine

JUDGE = "judge"
"""What the journal knows a judge's calls by, where it names a version and a sample."""


class EmbeddedEntry(
    msgspec.Struct, frozen=True, forbid_unknown_fields=True, tag_field="kind", tag="embedded"
):
    """The suite's own classical system."""

    description: str = ""


class RecordedEntry(
    msgspec.Struct, frozen=True, forbid_unknown_fields=True, tag_field="kind", tag="recorded"
):
    """A file of outputs; `{suite}` and `{version}` in its path are filled in."""

    path: str
    description: str = ""


class CallableEntry(
    msgspec.Struct, frozen=True, forbid_unknown_fields=True, tag_field="kind", tag="callable"
):
    """A Python function, `package.module:function`, sync or async."""

    function: str
    concurrency: Annotated[int, msgspec.Meta(ge=1)] = 8
    trials: Trials = 3
    description: str = ""


class EnginesFile(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The content of `engines.yaml`."""

    default: str
    engines: dict[str, EmbeddedEntry | RecordedEntry | CallableEntry | EndpointEntry | LocalEntry]


def read_engines(path: Path, problems: Problems) -> EnginesFile | None:
    """The engines of a project, or None where the file has problems."""

    def check(file: EnginesFile) -> Iterable[Violation]:
        for name, entry in file.engines.items():
            if isinstance(entry, RecordedEntry) and set("{}") & set(_filled(entry.path, "", "")):
                remedy = "Only {suite} and {version} are filled in."
                yield Violation(("engines", name, "path"), "has a placeholder that nobody fills in", remedy)
            elif isinstance(entry, EndpointEntry):
                for found in endpoint_violations(entry):
                    yield found._replace(path=("engines", name, *found.path))
            trials = getattr(entry, "trials", 1)
            if isinstance(trials, TrialRange) and trials.min > trials.max:
                remedy = "Let min be the smaller number."
                yield Violation(("engines", name, "trials", "max"), "is less than min", remedy)
        if file.default not in file.engines:
            remedy = f"Engines: {', '.join(file.engines)}."
            yield Violation(("default",), f"{file.default!r} is not an engine", remedy)

    return read_yaml(path, EnginesFile, problems, check)


def open_engine(
    project: Project, suite: Suite, prompt: Prompt, chosen: str | None, resources: Any, sample: str
) -> Engine:
    """The engine that a run uses: the one chosen, else the prompt's, else the default."""
    file = _engines(project)
    name = chosen or prompt.front.engine or file.default
    if name not in file.engines:
        remedy = f"Engines of {project.engines_file.name}: {', '.join(file.engines)}."
        raise bad_value("engine", f"{name!r} is not an engine", remedy)
    entry = file.engines[name]
    if isinstance(entry, EmbeddedEntry):
        from eval_pipeline.engines.embedded import EmbeddedEngine

        if suite.embedded is None:
            able = [each for each, other in file.engines.items() if not isinstance(other, EmbeddedEntry)]
            remedy = f"Engines of {project.engines_file.name} to choose from: {', '.join(able) or 'none'}."
            raise bad_value("engine", f"the suite {suite.name} has no embedded engine", remedy)
        return EmbeddedEngine(name, suite, prompt.parameters, resources)
    if isinstance(entry, RecordedEntry):
        from eval_pipeline.engines.recorded import RecordedEngine

        return RecordedEngine(name, suite, project.root / _filled(entry.path, suite.name, prompt.version))
    if isinstance(entry, CallableEntry):
        from eval_pipeline.engines.callable import CallableEngine

        return CallableEngine(name, entry.function, entry.concurrency, entry.trials)
    return _metered(project, suite, output_schema(suite), name, entry, prompt.version, sample)


def open_judge(project: Project, suite: Suite, name: str, schema: dict[str, Any]) -> MeteredEngine:
    """The engine of that name, to be asked for verdicts: one that reads what it is asked, and is metered."""
    engines = _engines(project).engines
    entry = engines.get(name)
    if not isinstance(entry, EndpointEntry | LocalEntry):
        able = [each for each, found in engines.items() if isinstance(found, EndpointEntry | LocalEntry)]
        remedy = f"Engines of {project.engines_file.name} that can: {', '.join(able) or 'none'}."
        raise bad_value("judge", f"{name!r} is not an engine that can judge", remedy)
    return _metered(project, suite, schema, name, entry, JUDGE, JUDGE)


def _engines(project: Project) -> EnginesFile:
    problems = Problems()
    file = read_engines(project.engines_file, problems)
    problems.stop_if_any()
    assert file is not None
    return file


def _metered(
    project: Project,
    suite: Suite,
    schema: dict[str, Any] | None,
    name: str,
    entry: EndpointEntry | LocalEntry,
    version: str,
    sample: str,
) -> MeteredEngine:
    from eval_pipeline.engines.metered import MeteredEngine

    if isinstance(entry, LocalEntry):
        model, client, limits = _local(project, suite, schema, name, entry)
    else:
        model, client, limits = _endpoint(suite, schema, name, entry)
    return MeteredEngine(
        name,
        model,
        client,
        limits,
        database_url(project),
        suite=suite.name,
        version=version,
        sample=sample,
        trials=entry.trials,
    )


def _local(
    project: Project, suite: Suite, schema: dict[str, Any] | None, name: str, entry: LocalEntry
) -> tuple[str, Client, Limits]:
    from eval_pipeline.engines.limits import Scope
    from eval_pipeline.engines.metered import Limits

    client = LocalClient(name, entry, weights(name, entry, project.root), suite.name, schema)
    options = [entry.temperature, entry.seed, entry.max_tokens, entry.structured_output, entry.context]
    model = f"{client.url.partition(':')[2]}-{content_hash(options)[:8]}"
    # Each run has a server of its own; more than one thread would not always give the same text.
    return model, client, Limits(1, (Scope(f"{name} {os.getpid()}", 1),), attempts=2)


def _endpoint(
    suite: Suite, schema: dict[str, Any] | None, name: str, entry: EndpointEntry
) -> tuple[str, Client, Limits]:
    from eval_pipeline.engines.limits import Scope
    from eval_pipeline.engines.metered import Limits

    key = os.environ.get(entry.key_variable, "").strip() if entry.key_variable else None
    if entry.key_variable and not key:
        remedy = f"Set the environment variable {entry.key_variable}."
        raise bad_value(f"engines.{name}.key_variable", f"{entry.key_variable} is not set", remedy)
    client = EndpointClient(entry, suite.name, schema, key)
    own = entry.suites.get(suite.name, SuiteLimits())
    scopes = (
        Scope(name, entry.concurrency, entry.requests_per_minute, entry.tokens_per_minute),
        Scope(
            f"{name} of {suite.name}",
            own.concurrency,
            own.requests_per_minute or suite.requests_per_minute,
            own.tokens_per_minute,
        ),
    )
    limits = Limits(
        concurrency=min(entry.concurrency, own.concurrency or entry.concurrency),
        scopes=scopes,
        attempts=entry.attempts,
        prices=entry.prices,
        budget=entry.budget,
    )
    # The query of a URL may choose a model; who asks there does not change the answer.
    address = urlsplit(entry.url)
    place = [address.netloc.rpartition("@")[2], address.path, address.query]
    options = [entry.temperature, entry.seed, entry.max_tokens, entry.structured_output, entry.extra_body]
    return f"{entry.model}-{content_hash([*place, *options])[:8]}", client, limits


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


def _filled(path: str, suite: str, version: str) -> str:
    return path.replace("{suite}", suite).replace("{version}", version)
