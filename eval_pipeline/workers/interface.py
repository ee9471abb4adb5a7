"""What works on shards: tasks in, results out as they complete."""

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from typing import Any, NamedTuple, Protocol, Self

from eval_pipeline.problems import BadInput, Problem
from eval_pipeline.workers.configuration import Shards


class WorkersLost(BadInput):
    """Workers that are not there, or die of whatever they are given."""

    def __init__(self, message: str, remedy: str) -> None:
        super().__init__([Problem("engines.yaml", 0, "shards", message, remedy)])


class Task(NamedTuple):
    """Something to be done: its number, a function of a module, and what it is called with."""

    number: int
    function: Callable[[Any], Any]
    argument: Any


class Done(NamedTuple):
    """A task that is done: its number, and what its function returned."""

    number: int
    result: Any


class Workers(Protocol):
    """Functions of modules in, results out. A task whose worker dies is given to another one.

    A task may thus run twice, in part or as a whole: it has to leave the same behind.
    """

    def __enter__(self) -> Self: ...

    def __exit__(self, *_: object) -> None: ...

    def submit(self, number: int, function: Callable[[Any], Any], task: Any) -> None:
        """Let a worker call the function with the task, both of which it can unpickle."""

    def completed(self, seconds: float) -> Iterator[Done]:
        """What is done and was not named before; it waits that long for the first."""


def open_workers(shards: Shards) -> AbstractContextManager[Workers]:
    """The workers that a project's setting names."""
    if shards.dask is not None:
        from eval_pipeline.workers.dask_cluster import DaskWorkers

        return DaskWorkers(shards.dask)
    from eval_pipeline.workers.own_processes import ProcessWorkers

    return ProcessWorkers(shards.processes or 1)
