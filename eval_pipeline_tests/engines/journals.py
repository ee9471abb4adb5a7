"""Small parts for tests of the journal: a clock, calls and answers, work in several processes at once."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import ProcessPoolExecutor
from multiprocessing.synchronize import Barrier
from typing import Any

import msgspec

from eval_pipeline.engines import Journal
from eval_pipeline.engines.journal import Call, Record

BARRIERS: dict[int, Barrier] = {}  # a barrier reaches a process only as it starts
LEASE = 600.0


class Clock:
    """A clock that a test sets."""

    def __init__(self) -> None:
        self.now = 1_000_000.0

    def __call__(self) -> float:
        return self.now


def call(key: str, **changes: Any) -> Call:
    plain = Call(key, "fast", "model-1", "decomposition", "concepts-v1.0", f"case-{key}", 1, "")
    return msgspec.structs.replace(plain, **changes)


def record(
    key: str, text: str = "{}", answered_at: str = "2025-03-01T10:00:00+00:00", **changes: Any
) -> Record:
    return Record(call(key, **changes), text, "stop", 100, 20, 12.5, 0.25, 1, answered_at)


def claim(journal: Journal, keys: Sequence[str], owner: str = "a") -> dict[str, Record | bool]:
    return journal.claim([call(key) for key in keys], owner, LEASE)


def keep_barriers(barriers: dict[int, Barrier]) -> None:
    BARRIERS.update(barriers)


def work_when_all_are_ready(
    count: int, work: Callable[..., Any], url: str, owner: str, arguments: tuple[Any, ...]
) -> Any:
    BARRIERS[count].wait(timeout=60)
    return work(url, owner, *arguments)


def at_once(
    processes: ProcessPoolExecutor, count: int, work: Callable[..., Any], url: str, *arguments: Any
) -> list[Any]:
    """Do the same in as many processes, which start at the same moment."""
    started = [
        processes.submit(work_when_all_are_ready, count, work, url, f"process-{number}", arguments)
        for number in range(count)
    ]
    return [each.result() for each in started]
