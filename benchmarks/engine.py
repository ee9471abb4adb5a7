"""1,000 calls of 100 ms at concurrency 50, every answer journaled, beside a bare client in the same run.

The floor is calls × delay ÷ concurrency. The bounds that the project holds itself to: the request phase
at most 1.25 × the floor (1.5 × at concurrency 500 with 10,000 calls), the whole command at most 8 s, and
an unchanged re-run at most 5 s with no call.
"""

from __future__ import annotations

import asyncio
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import yaml

from eval_pipeline import stages
from eval_pipeline.outputs import run
from eval_pipeline.project import ROOT_VARIABLE, STATE_VARIABLE, Project
from eval_pipeline.store import Store
from eval_pipeline.suites.decomposition import SUITE

DELAY = 0.1
VERSION = "echo-v1.0"
SERVER = """
import asyncio

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

asyncio.run(main())
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


def bare_client(url: str, calls: int, concurrency: int) -> float:
    """Seconds for aiohttp alone."""
    import aiohttp

    async def ask() -> float:
        connector = aiohttp.TCPConnector(limit=concurrency)
        async with aiohttp.ClientSession(connector=connector) as session:
            numbers = iter(range(calls))

            async def work() -> None:
                for number in numbers:
                    async with session.post(f"{url}/chat/completions", json={"n": number}) as response:
                        await response.read()

            started = time.perf_counter()
            await asyncio.gather(*(work() for _ in range(concurrency)))
            return time.perf_counter() - started

    return run(ask())


def request_phase(project: Project) -> float:
    """Seconds to ask everything, journal included."""
    store = Store(project.state)
    golden = stages.load_golden(project, store, SUITE).table
    started = time.perf_counter()
    answers = stages.answer_cases(project, store, SUITE, golden, VERSION)
    seconds = time.perf_counter() - started
    assert not any(answer.error for answer in answers)
    return seconds


def whole_command(project: Project) -> float:
    """Seconds for `eval-pipeline run` as a process."""
    environment = {**os.environ, ROOT_VARIABLE: str(project.root), STATE_VARIABLE: str(project.state)}
    started = time.perf_counter()
    subprocess.run(
        [sys.executable, "-m", "eval_pipeline", "run", SUITE.name],
        env=environment,
        check=False,
        capture_output=True,
    )
    return time.perf_counter() - started


def measure(url: str, calls: int, concurrency: int) -> None:
    """Print the request phase and the bare client as multiples of the floor."""
    floor = calls * DELAY / concurrency
    with tempfile.TemporaryDirectory() as small, tempfile.TemporaryDirectory() as folder:
        request_phase(write_project(Path(small), url, 10, 10))  # imports are not what is measured
        bare = bare_client(url, calls, concurrency)
        phase = request_phase(write_project(Path(folder), url, calls, concurrency))
    told = f"bare client {bare / floor:.2f} ×, journaled {phase / floor:.2f} × the floor of {floor:.1f} s"
    print(f"{calls:,} calls at concurrency {concurrency}: {told}")


def main() -> None:
    """Print what asking costs."""
    server = subprocess.Popen(
        [sys.executable, "-c", SERVER.format(delay=DELAY)], stdout=subprocess.PIPE, text=True
    )
    assert server.stdout is not None
    try:
        url = f"http://127.0.0.1:{server.stdout.readline().strip()}/v1"
        measure(url, 1_000, 50)
        measure(url, 10_000, 500)
        with tempfile.TemporaryDirectory() as folder:
            project = write_project(Path(folder), url, 1_000, 50)
            first, second = whole_command(project), whole_command(project)
        print(f"whole command on 1,000 cases: {first:.1f} s, unchanged re-run {second:.1f} s")
    finally:
        server.kill()
        server.communicate()


if __name__ == "__main__":
    main()
