"""A small version of what `python -m benchmarks.events --kills 20` does: kills, and two processes at once."""

from __future__ import annotations

import random
import time

from eval_pipeline.monitoring import EventStore, figures_of, open_ingest
from eval_pipeline.project import Project
from eval_pipeline_tests.monitoring.events_of import DAY, MONDAY, drop, flat
from eval_pipeline_tests.running import begin, ended

KILLS = 4
DELIVERIES = 5


def ingest() -> None:
    """Take everything, as a process of its own."""
    with open_ingest(Project.find()) as taking:
        list(taking.files(now=True))


def test_every_event_counts_once_whatever_is_killed_and_whoever_else_takes_it(toy: Project) -> None:
    chance = random.Random(5)
    rows = [flat(number, topic="x" * 100) for number in range(3000)]
    for number in range(DELIVERIES):
        # Every event comes in some delivery, and many come again.
        mine = [
            row for place, row in enumerate(rows) if place % DELIVERIES == number or chance.random() < 0.2
        ]
        drop(toy, f"{number}.jsonl", mine)
    killed, longest = 0, 1.0
    while killed < KILLS:
        process = begin(toy, ingest)
        time.sleep(chance.uniform(0.0, longest))
        process.kill()
        killed += ended(process) != 0
        longest *= 0.8  # sooner or later it is killed before it is done, however fast it is
        drop(toy, f"again-{killed}.jsonl", chance.sample(rows, 500))
    both = [begin(toy, ingest) for _ in range(2)]
    assert [ended(each) for each in both] == [0, 0]
    with EventStore.of(toy) as store:
        by_hour = figures_of(store, "toy", MONDAY, MONDAY + 7 * DAY, 7, by=["hour"])
        store.sweep()
        lying = {str(path.relative_to(store.folder)) for path in store.folder.glob("[!.]*/*/*.parquet")}
        listed = {segment.path for segment in store.ledger.segments("events")}
    assert sum(each.requests for each in by_hour) == len(rows)
    assert {each.requests for each in by_hour[:-1]} == {60}
    assert lying == listed
