"""1,000 calls of 100 ms at concurrency 50, every answer journaled, beside bare aiohttp in the same run.

The bounds that the project holds itself to: the request phase at most 1.15 × the same library bare, also
with 10,000 calls at concurrency 500, the whole command at most 8 s, and an unchanged re-run at most 5 s
with no call. The floor, which is shown beside both, is calls × delay ÷ concurrency.

With `--memory`, instead: the peak memory of a process that asks 100,000 cases, at most 1 GB.
"""

from __future__ import annotations

import argparse
import asyncio
import gc
import json
import multiprocessing
import os
import resource
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager
from pathlib import Path

import msgspec
import yaml

from eval_pipeline import stages
from eval_pipeline.engines import Journal
from eval_pipeline.project import ROOT_VARIABLE, STATE_VARIABLE, Project
from eval_pipeline.store import database_url
from eval_pipeline.suites.decomposition import SUITE

DELAY = 0.1
ROUNDS = 3
"""Of which the best counts: what a quiet machine would wait for."""
MOST = 1.15
VERSION = "echo-v1.0"
KILOBYTES_IN_A_MEGABYTE = 1024
SERVER = """
import asyncio

import uvloop

BODY = b'{{"choices": [{{"message": {{"content": "{{}}"}}, "finish_reason": "stop"}}], "usage": {{}}}}'
HEAD = b"HTTP/1.1 200 OK\\r\\nContent-Type: application/json\\r\\nContent-Length: %d\\r\\n\\r\\n"
ANSWER = HEAD % len(BODY) + BODY


class Server(asyncio.Protocol):
    # As little as possible, so that the client is what is measured: a request ends where the next begins.
    def connection_made(self, transport):
        self.transport, self.buffer = transport, b""

    def data_received(self, data):
        self.buffer += data
        head, found, rest = self.buffer.partition(b"\\r\\n\\r\\n")
        if not found:
            return
        length = int(head.lower().split(b"content-length:")[1].split(b"\\r\\n")[0])
        if len(rest) >= length:
            self.buffer = rest[length:]
            asyncio.get_running_loop().call_later({delay}, self.transport.write, ANSWER)


async def main():
    server = await asyncio.get_running_loop().create_server(Server, "127.0.0.1", 0, backlog=4096)
    print(server.sockets[0].getsockname()[1], flush=True)
    await asyncio.Event().wait()

uvloop.run(main())
"""


def write_project(root: Path, url: str, cases: int, concurrency: int) -> Project:
    """A project with that many small cases and one metered engine."""
    here = Project.find()
    golden = root / "golden" / SUITE.name
    (golden / "cases").mkdir(parents=True)
    shutil.copy(here.golden(SUITE.name) / "gates.yaml", golden)
    shutil.copy(here.root / "dagster.yaml", root)
    entry = {"domain": "social", "expectedConcepts": [{"label": "Text"}]}
    lines = (json.dumps({**entry, "id": f"c{n}", "sourceText": f"Text {n}."}) + "\n" for n in range(cases))
    (golden / "cases" / "cases.jsonl").write_text("".join(lines))
    prompts = root / "prompts" / SUITE.name
    prompts.mkdir(parents=True)
    front = f"---\nsuite: {SUITE.name}\nstatus: active\n---\n"
    (prompts / f"{VERSION}.md").write_text(front + "{{ source_text }}\n")
    engine = {"kind": "endpoint", "url": url, "model": "m", "trials": 1, "concurrency": concurrency}
    (root / "engines.yaml").write_text(yaml.safe_dump({"default": "e", "engines": {"e": engine}}))
    return Project(root, root / ".eval")


def bare_aiohttp(url: str, calls: int, concurrency: int) -> float:
    """Seconds for aiohttp alone to ask the same and read the answers, as anybody writes it.

    What this process has loaded is no part of it.
    """
    import aiohttp
    import uvloop

    form = {"name": SUITE.name, "schema": msgspec.json.schema(SUITE.output)}
    options = {"model": "m", "response_format": {"type": "json_schema", "json_schema": form}}

    async def ask() -> float:
        connector = aiohttp.TCPConnector(limit=concurrency)
        async with aiohttp.ClientSession(connector=connector) as session:
            numbers = iter(range(calls))

            async def work() -> None:
                for number in numbers:
                    asked = {"messages": [{"role": "user", "content": f"Text {number}."}], **options}
                    async with session.post(f"{url}/chat/completions", json=asked) as response:
                        answer = await response.json()
                        assert answer["choices"][0]["message"]["content"]

            started = time.perf_counter()
            await asyncio.gather(*(work() for _ in range(concurrency)))
            return time.perf_counter() - started

    gc.freeze()
    try:
        return uvloop.run(ask())
    finally:
        gc.unfreeze()


def request_phase(project: Project) -> float:
    """Seconds to ask everything, journal included."""
    golden = stages.load_golden(stages.Workbench(project, SUITE)).table
    started = time.perf_counter()
    answers = stages.answer_cases(stages.Workbench(project, SUITE), golden, VERSION)
    seconds = time.perf_counter() - started
    assert not any(answer.error for answer in answers)
    return seconds


def whole_command(project: Project) -> float:
    """Seconds for `eval-pipeline run` as a process."""
    environment = {**os.environ, ROOT_VARIABLE: str(project.root), STATE_VARIABLE: str(project.state)}
    started = time.perf_counter()
    done = subprocess.run(
        [sys.executable, "-m", "eval_pipeline", "run", SUITE.name],
        env=environment,
        check=False,
        capture_output=True,
    )
    seconds = time.perf_counter() - started
    assert done.returncode in (0, 1), done.stderr.decode()  # 1: its gates fail, as they should here
    return seconds


def sign(kept: bool) -> str:
    """Whether a promise was kept, at a glance."""
    return "✓" if kept else "✗"


def measure(url: str, calls: int, concurrency: int) -> None:
    """Print the request phase beside the bare client."""
    floor = calls * DELAY / concurrency
    with tempfile.TemporaryDirectory() as folder:
        request_phase(write_project(Path(folder, "small"), url, 10, 10))  # imports are not what is measured
        rounds = [
            (
                bare_aiohttp(url, calls, concurrency),
                request_phase(write_project(Path(folder, str(number)), url, calls, concurrency)),
            )
            for number in range(ROUNDS)
        ]
    bare, journaled = map(min, zip(*rounds, strict=True))
    ratio = journaled / bare
    told = f"journaled {ratio:.2f} × (promised: {MOST:.2f} ×) bare aiohttp"
    beside = f"{journaled / floor:.2f} × and {bare / floor:.2f} × the floor of {floor:.1f} s"
    print(f"{sign(ratio <= MOST)} {calls:,} calls at concurrency {concurrency}: {told}; {beside}")


def peak_memory(root: Path) -> int:
    """Megabytes that a process needs at most to load a project's golden set and ask everything."""
    request_phase(Project(root, root / ".eval"))
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // KILOBYTES_IN_A_MEGABYTE


def measure_memory(url: str, cases: int, concurrency: int) -> None:
    """Print the peak memory of asking very many cases, and of asking a tenth of them."""
    spawning = multiprocessing.get_context("spawn")
    for count in (cases // 10, cases):
        with (
            tempfile.TemporaryDirectory() as folder,
            ProcessPoolExecutor(1, mp_context=spawning) as process,
        ):
            project = write_project(Path(folder), url, count, concurrency)
            started = time.perf_counter()
            peak = process.submit(peak_memory, project.root).result()
            seconds = time.perf_counter() - started
        told = f"{peak:,} MB at most (promised: 1,000 MB), {seconds:.0f} s"
        print(f"{sign(peak < 1_000)} {count:,} cases at concurrency {concurrency}: {told}")


@contextmanager
def answering(delay: float) -> Iterator[str]:
    """The URL of a server that answers everything after a while."""
    server = subprocess.Popen(
        [sys.executable, "-c", SERVER.format(delay=delay)], stdout=subprocess.PIPE, text=True
    )
    assert server.stdout is not None
    try:
        yield f"http://127.0.0.1:{server.stdout.readline().strip()}/v1"
    finally:
        server.kill()
        server.communicate()


def main() -> None:
    """Print what asking costs."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--memory", action="store_true", help="measure memory instead of time")
    parser.add_argument("--cases", type=int, default=100_000, help="for the memory")
    given = parser.parse_args()
    if given.memory:
        with answering(0.0) as url:
            measure_memory(url, given.cases, 50)
        return
    with answering(DELAY) as url:
        measure(url, 1_000, 50)
        measure(url, 10_000, 500)
        with tempfile.TemporaryDirectory() as folder:
            project = write_project(Path(folder), url, 1_000, 50)
            first, second = whole_command(project), whole_command(project)
            with Journal.open(database_url(project)) as journal:
                asked_again = 1_000 - sum(usage.hits for usage in journal.stats())
        print(f"{sign(first <= 8)} whole command on 1,000 cases: {first:.1f} s (promised: 8 s)")
        told = f"{second:.1f} s (promised: 5 s), {asked_again} calls (promised: 0)"
        print(f"{sign(second <= 5 and not asked_again)} unchanged re-run: {told}")


if __name__ == "__main__":
    main()
