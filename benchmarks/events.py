"""How fast events are taken in and summed up, beside one DuckDB query over the same file; and after kills.

    python -m benchmarks.events                  1,000,000 events without text, and 100,000 with 4 KB of it
    python -m benchmarks.events --full           ten times as many
    python -m benchmarks.events --kills 20       killed at random moments and begun again, then two at once

The query reads the file with declared columns and groups by hour, on as many threads. Ours does that, too,
masks, counts each event once, and keeps everything. It exits with 1 where a promise is broken. On a machine
that others use, seconds of the processor tell more than those of the clock.
"""

from __future__ import annotations

import argparse
import datetime
import json
import os
import random
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from eval_pipeline.monitoring import EventStore, event_schema, figures_of, open_ingest
from eval_pipeline.monitoring.databases import THREADS
from eval_pipeline.monitoring.flat import column_types
from eval_pipeline.project import ROOT_VARIABLE, STATE_VARIABLE, Project

SUITE = "review"
MONDAY = datetime.datetime(2026, 3, 2, tzinfo=datetime.UTC)
WEEK = datetime.timedelta(days=7)
MOST_MEMORY = 1.5e9
LEAST_SHARE = 1 / 3
PROSE = (
    "the of and to in is that it was for on are as with his they at be this from have or by one had not but "
    "what all were when we there can an your which their said if do will each about how up out them then she "
    "many some so these would other into has more her two like him see time could no make than first been"
)
WORDS = PROSE.split()
PERSONAL = " Mail jane.doe@example.com or call +31 20 123 4567."
LONGEST_WAIT = 8.0
"""Seconds before a process is killed, at first."""
ONE_IN = 50
"""So many texts there are for one with something personal in it."""


class Took(NamedTuple):
    """Seconds of the clock, and of the processor."""

    clock: float
    processor: float

    @classmethod
    def since(cls, start: Took) -> Took:
        """What passed since then."""
        now = cls.now()
        return cls(now.clock - start.clock, now.processor - start.processor)

    @classmethod
    def now(cls) -> Took:
        """What both clocks show."""
        return cls(time.perf_counter(), time.process_time())


class Speed(NamedTuple):
    """How long both took, and what ours needed."""

    reference: Took
    ours: Took
    memory: float

    @property
    def share(self) -> float:
        """Our speed as a share of the reference's."""
        return self.reference.clock / self.ours.clock

    @property
    def processor_share(self) -> float:
        """The same by the time of the processor."""
        return self.reference.processor / self.ours.processor


def write_events(path: Path, count: int, *, text: bool) -> None:
    """A week of events in our own format."""
    chance = random.Random(count)
    prose = [_prose(chance) for _ in range(500)]
    with path.open("w") as file:
        for number in range(count):
            at = MONDAY + WEEK * (number / count)
            event = {
                "request_id": f"{chance.getrandbits(64):016x}",
                "at": at.isoformat(),
                "suite": SUITE,
                "version": "review-code-v1.0",
                "model": "small",
                "latency_ms": round(chance.lognormvariate(7, 0.5), 1),
                "input_tokens": chance.randrange(2000),
                "output_tokens": chance.randrange(500),
                **({"error": "timeout"} if number % 100 == 0 else {}),
                **({"input": chance.choice(prose), "output": chance.choice(prose)} if text else {}),
            }
            file.write(json.dumps(event) + "\n")


def _prose(chance: random.Random) -> str:
    words = [
        str(chance.randrange(3000)) if chance.random() < 0.02 else chance.choice(WORDS) for _ in range(470)
    ]
    return " ".join(words) + (PERSONAL if chance.randrange(ONE_IN) == 0 else "")


def reference(path: Path) -> Took:
    """What DuckDB takes to read a file and to group it by hour, texts included."""
    import duckdb

    columns = ", ".join(f"\"{name}\": '{kind}'" for name, kind in column_types().items())
    query = (
        'SELECT epoch_us("at") // 3600000000, count(*), avg(latency_ms), quantile_cont(latency_ms, 0.95), '
        "sum(input_tokens), count(error), sum(length(input)), sum(length(output)) "
        f"FROM read_json('{path}', format='newline_delimited', columns={{{columns}}}) GROUP BY 1"
    )
    start = Took.now()
    with duckdb.connect(":memory:", config={"threads": THREADS}) as connection:
        connection.execute(query).fetchall()
    return Took.since(start)


def project_in(folder: Path) -> Project:
    """A project with this repository's suites."""
    repository = Path(__file__).resolve().parent.parent
    for name in ("golden", "prompts", "engines.yaml"):
        (folder / name).symlink_to(repository / name)
    (folder / "production" / "drop").mkdir(parents=True)
    return Project(folder, folder / ".eval")


def begin(project: Project) -> subprocess.Popen[bytes]:
    """Take everything in a process of its own, and sum it up."""
    environment = {**os.environ, ROOT_VARIABLE: str(project.root), STATE_VARIABLE: str(project.state)}
    return subprocess.Popen([sys.executable, "-m", "benchmarks.events", "--take"], env=environment)


def take() -> None:
    """Be that process: say when it begins, without the imports that every command needs."""
    with open_ingest(Project.find()) as taking:
        event_schema().empty_table()  # with its first array Arrow imports pandas
        start = Took.now()
        list(taking.files(now=True))
        figures_of(taking.store, SUITE, MONDAY, MONDAY + WEEK, 7, by=["hour"])
        took = Took.since(start)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
    (Project.find().state / "took.json").write_text(json.dumps([*took, peak]))


def measure(count: int, *, text: bool) -> Speed:
    """Both on the same file."""
    with tempfile.TemporaryDirectory() as folder:
        project = project_in(Path(folder))
        path = project.root / "production" / "drop" / "events.jsonl"
        write_events(path, count, text=text)
        theirs = reference(path)
        assert begin(project).wait() == 0
        *took, memory = json.loads((project.state / "took.json").read_text())
        assert counted(project) == count
        return Speed(theirs, Took(*took), memory)


def counted(project: Project) -> int:
    """How many events there are."""
    with EventStore.of(project) as store:
        return sum(each.requests for each in figures_of(store, SUITE, MONDAY, MONDAY + WEEK, 7))


def kill_and_count(kills: int, count: int) -> Iterator[str]:
    """Kill ingesting processes, let two go on at once, and count plainly."""
    chance = random.Random(kills)
    with tempfile.TemporaryDirectory() as folder:
        project = project_in(Path(folder))
        drop = project.root / "production" / "drop"
        write_events(drop / "0.jsonl", count, text=False)
        lines = (drop / "0.jsonl").read_text().splitlines(keepends=True)
        killed, delivered, longest = 0, 0, LONGEST_WAIT
        while killed < kills:
            # There is always something to take: whoever is done before dies of nothing.
            delivered += 1
            (drop / f"{delivered}.jsonl").write_text("".join(chance.sample(lines, count // 3)))
            process = begin(project)
            time.sleep(chance.uniform(0.1, longest))
            process.kill()
            if process.wait():
                killed += 1
                yield f"{killed}: killed"
            else:
                longest *= 0.8
        both = [begin(project) for _ in range(2)]
        assert [each.wait() for each in both] == [0, 0]
        assert counted(project) == len({json.loads(line)["request_id"] for line in lines})
        yield f"{count:,} events in {delivered + 1} files, each counted once"


def main() -> int:
    """Measure what is asked for."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--full", action="store_true")
    parser.add_argument("--kills", type=int, default=0)
    parser.add_argument("--take", action="store_true", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.take:
        take()
        return 0
    if arguments.kills:
        for line in kill_and_count(arguments.kills, 200_000):
            print(line, flush=True)
        return 0
    times = 10 if arguments.full else 1
    broken = 0
    for count, text in ((10**6 * times, False), (10**5 * times, True)):
        speed = measure(count, text=text)
        kept = speed.share >= LEAST_SHARE and speed.memory <= MOST_MEMORY
        broken += not kept
        what = "with 4 KB of text" if text else "without text"
        print(
            f"{count:,} events {what}: DuckDB {speed.reference.clock:.1f} s, ours {speed.ours.clock:.1f} s "
            f"({speed.share:.0%} of its speed, {speed.processor_share:.0%} by the processor's time; promised "
            f"{LEAST_SHARE:.0%}), {speed.memory / 1e6:,.0f} MB (promised {MOST_MEMORY / 1e6:,.0f})"
            f"{'' if kept else ': BROKEN'}",
            flush=True,
        )
    return 1 if broken else 0


if __name__ == "__main__":
    sys.exit(main())
