"""What a shell completes: suites, versions, engines and metrics, as the project's files name them."""

from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import click
from click.shell_completion import CompletionItem

from eval_pipeline.files import LARGEST_YAML, file_bytes
from eval_pipeline.loading import suite_names
from eval_pipeline.project import Project
from eval_pipeline.prompts import prompt_name, versions_in
from eval_pipeline.suite import ERROR_RATE

Completer = Callable[[click.Context, click.Parameter, str], list[str]]
Names = Callable[[Project, click.Context], Iterable[str]]


def suites(*more: str) -> Completer:
    """The suites that are not typed yet, and what else may stand in their place."""

    def names(project: Project, context: click.Context) -> Iterator[str]:
        typed = context.params.get("suites") or ()
        yield from (name for name in suite_names(project) if name not in typed)
        yield from more

    return _completer(names)


def suites_or_files() -> Callable[[click.Context, click.Parameter, str], list[CompletionItem]]:
    """The suites that begin as typed; where none does, the shell offers files."""
    complete_suites = suites()

    def complete(context: click.Context, parameter: click.Parameter, incomplete: str) -> list[CompletionItem]:
        offered = [CompletionItem(name) for name in complete_suites(context, parameter, incomplete)]
        return offered or [CompletionItem(incomplete, type="file")]

    return complete


def versions(*more: str, suite: str = "") -> Completer:
    """The versions of the suite that is typed already, or of every one; and what else may be named."""

    def names(project: Project, context: click.Context) -> Iterator[str]:
        yield from _versions(project, suite or _typed_suite(project, context))
        yield from more

    return _completer(names)


def prompt_names() -> Completer:
    """The names of the prompts of the suite that is typed already."""
    return _completer(
        lambda project, context: dict.fromkeys(
            prompt_name(version) for version in _versions(project, _typed_suite(project, context))
        )
    )


def engines() -> Completer:
    """The engines of `engines.yaml`, also where one of them cannot be used."""
    return _completer(lambda project, _: _keys(project.engines_file, "engines"))


def metrics() -> Completer:
    """The gated metrics of the suite that is typed already."""

    def names(project: Project, context: click.Context) -> Iterator[str]:
        from eval_pipeline.gates import GATES_FILE

        yield ERROR_RATE.name
        yield from _keys(project.golden(_typed_suite(project, context)) / GATES_FILE, "metrics")

    return _completer(names)


def _typed_suite(project: Project, context: click.Context) -> str:
    """The suite that is typed already, or nothing; an option without its value leaves arguments unread."""
    typed = [context.params.get("suite"), *context.args]
    return next((name for name in suite_names(project) if name in typed), "")


def _versions(project: Project, suite: str) -> list[str]:
    chosen = [suite] if suite else suite_names(project)
    return [version for name in chosen for version in versions_in(project.prompts(name))]


def _keys(file: Path, field: str) -> list[str]:
    """The keys of a mapping in a YAML file."""
    import yaml

    content: Any = yaml.safe_load(file_bytes(file, LARGEST_YAML))
    return [str(key) for key in content[field]]


def _completer(names: Names) -> Completer:
    """Offers the names that begin as typed; whatever is wrong with a project, nothing is said of it here."""

    def complete(context: click.Context, _: click.Parameter, incomplete: str) -> list[str]:
        offered: list[str] = []
        with suppress(Exception):
            offered.extend(names(Project.find(), context))
        return [name for name in dict.fromkeys(offered) if name.startswith(incomplete)]

    return complete
