"""`engines.yaml`: which engines there are, and which one a run uses."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from functools import cache, lru_cache
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, Any

from pydantic import create_model

from eval_pipeline.engines.interface import Engine
from eval_pipeline.engines.journal import JUDGE
from eval_pipeline.engines.kinds import EngineEntry, MeteredEntry, Use, any_entry, kinds
from eval_pipeline.files import Violation
from eval_pipeline.files.models import Model, field_at, read_model
from eval_pipeline.files.words import did_you_mean
from eval_pipeline.problems import Problems, bad_value, without_problems
from eval_pipeline.project import Project
from eval_pipeline.prompts import Prompt, versions_in
from eval_pipeline.suite import Suite
from eval_pipeline.workers import Shards, ShardsSetting

if TYPE_CHECKING:
    from eval_pipeline.engines.metered import MeteredEngine


class EnginesFile(Model):
    """The content of `engines.yaml`."""

    default: str
    """The engine of all prompt versions that name none."""
    engines: dict[str, EngineEntry]
    """The engines by name. A prompt version may name one of these, and nothing else."""
    shards: ShardsSetting = None
    """Where the shards of large golden sets are worked on: none, processes of this machine, or a cluster."""


def engines_model() -> type[EnginesFile]:
    """The content of `engines.yaml`, with the kinds that are registered."""
    return _model_of(tuple(kinds().items()))


@cache  # pydantic searches the whole stack of calls for each model that is made
def _model_of(known: tuple[tuple[str, type[EngineEntry]], ...]) -> type[EnginesFile]:
    entry = any_entry(dict(known))
    engines: Any = (dict[str, entry], ...)  # type: ignore[valid-type]
    return create_model("EnginesFile", __base__=EnginesFile, __doc__=EnginesFile.__doc__, engines=engines)


def read_engines(path: Path, problems: Problems) -> EnginesFile | None:
    """The engines of a project, or None where the file has problems."""
    file = read_model(path, engines_model(), problems, _unknown_default)
    if file is None:
        return None
    return EnginesFile.model_construct(default=file.default, engines=file.engines, shards=file.shards)


def _unknown_default(file: Any) -> Iterator[Violation]:
    default, engines = field_at(file, "default"), field_at(file, "engines")
    if isinstance(default, str) and isinstance(engines, dict) and default not in engines:
        names = [str(name) for name in engines]
        remedy = f"{did_you_mean(default, names)}Engines: {', '.join(names)}."
        yield Violation(("default",), f"{default!r} is not an engine", remedy)


def changed_engines(before: Path, after: Path) -> list[str]:
    """What a file of engines says otherwise than another one; engines that were added change nothing."""
    was, now = read_engines(before, Problems()), read_engines(after, Problems())
    if was is None or now is None:
        return [after.name]
    default = [] if was.default == now.default else ["default"]
    return [*default, *(name for name, entry in was.engines.items() if now.engines.get(name) != entry)]


def open_engine(
    project: Project, suite: Suite, prompt: Prompt, chosen: str | None, resources: Any, sample: str
) -> Engine:
    """The engine that a run uses: the one chosen, else the prompt's, else the default."""
    file = _engines(project)
    name = chosen or prompt.front.engine or file.default
    _stop_unless_served(project, suite, file, name)
    return file.engines[name].open(name, Use(project, suite, prompt, resources, sample))


def _stop_unless_served(project: Project, suite: Suite, file: EnginesFile, name: str) -> None:
    if name not in file.engines:
        remedy = f"Engines of {project.engines_file.name}: {', '.join(file.engines)}."
        raise bad_value("engine", f"{name!r} is not an engine", remedy)
    if not file.engines[name].serves(suite):
        able = [each for each, entry in file.engines.items() if entry.serves(suite)]
        remedy = f"Engines of {project.engines_file.name} to choose from: {', '.join(able) or 'none'}."
        raise bad_value("engine", f"the suite {suite.name} has no {name} engine", remedy)


def check_engine(project: Project, suite: Suite, name: str) -> None:
    """Refuse a name that is not an engine of the project for the suite."""
    _stop_unless_served(project, suite, _engines(project), name)


def default_engine(project: Project) -> str:
    """The engine of all prompt versions that name none; blank where the file has problems."""
    file = read_engines(project.engines_file, Problems())
    return file.default if file else ""


def engines_for(project: Project, suite: Suite) -> dict[str, str]:
    """The engines that can answer for a suite, each with what it is."""
    engines = _engines(project).engines
    return {name: getattr(entry, "description", "") for name, entry in engines.items() if entry.serves(suite)}


def shards_of(project: Project) -> Shards | None:
    """How the project wants large golden sets to be cut; None where it does not."""
    shards = _engines(project).shards
    return shards if isinstance(shards, Shards) else None


def answered_from(project: Project, files: Collection[PurePosixPath], suite: str) -> set[str]:
    """The versions of a suite whose answers may come from some files of the project, by any engine."""
    content = read_engines(project.engines_file, Problems())
    return {
        version
        for version in versions_in(project.prompts(suite))
        for engine in (content.engines.values() if content else ())
        if any(engine.reads(file, suite, version) for file in files)
    }


def open_judge(project: Project, suite: Suite, name: str, schema: dict[str, Any]) -> MeteredEngine:
    """The engine of that name, to be asked for verdicts: one that reads what it is asked, and is metered."""
    engines = _engines(project).engines
    able = {each: entry for each, entry in engines.items() if isinstance(entry, MeteredEntry)}
    if name not in able:
        remedy = f"Engines of {project.engines_file.name} that can: {', '.join(able) or 'none'}."
        raise bad_value("judge", f"{name!r} is not an engine that can judge", remedy)
    return able[name].open_for(name, project, suite, schema, JUDGE, JUDGE)


def _engines(project: Project) -> EnginesFile:
    file = project.engines_file
    if not file.is_file():
        return without_problems(lambda problems: read_engines(file, problems))
    status = file.stat()
    return _unchanged_engines(file, (status.st_ino, status.st_mtime_ns, status.st_size), engines_model())


@lru_cache(maxsize=1)  # every suite of a code location asks for them
def _unchanged_engines(file: Path, _state: tuple[int, ...], _model: type[EnginesFile]) -> EnginesFile:
    return without_problems(lambda problems: read_engines(file, problems))
