"""A journal on SQLite and on a real PostgreSQL, and processes that use it at once."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor

import pytest

from eval_pipeline.engines import Journal
from eval_pipeline_tests.engines.journals import Clock, keep_barriers
from eval_pipeline_tests.running import FORKING


@pytest.fixture
def clock() -> Clock:
    """A clock that a test sets."""
    return Clock()


@pytest.fixture
def journal(journal_url: str, clock: Clock) -> Iterator[Journal]:
    """An empty journal."""
    with Journal.open(journal_url, clock=clock) as opened:
        yield opened


@pytest.fixture(scope="module")
def processes() -> Iterator[ProcessPoolExecutor]:
    """Eight processes, for `at_once`."""
    barriers = {count: FORKING.Barrier(count) for count in (4, 8)}
    with ProcessPoolExecutor(max(barriers), FORKING, keep_barriers, (barriers,)) as pool:
        yield pool
