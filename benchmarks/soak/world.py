"""What lies around the pipeline: a project, a model with moods, and targets of alerts."""

from __future__ import annotations

import json
import shutil
import threading
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, Literal

import yaml

from eval_pipeline_tests.cli import recorded_toy
from eval_pipeline_tests.conftest import REPOSITORY

TOY, SHIPPED = "toy", "heritage_typing"
ACTIVE, CANDIDATE = "guess-v1.0", "guess-v1.1"
CASES = 30
MISTAKEN = 2
"""So many of the cases are beyond the model on its best days."""

Mood = Literal["well", "ill", "down", "busy"]
"""It answers rightly or wrongly, fails, or sends everybody away for a day."""
RIGHT = dict(recorded_toy.SOUNDS)
OTHER = dict(zip(RIGHT.values(), reversed(RIGHT.values()), strict=True))


class Model:
    """A model on loopback."""

    def __init__(self) -> None:
        self.mood: Mood = "well"
        self.calls = 0
        self._asked: Counter[str] = Counter()

    def answer(self, body: Any) -> tuple[int, dict[str, str], Any]:
        """Status, headers and body."""
        self.calls += 1
        if self.mood in ("down", "busy"):
            headers = {"Retry-After": "86400"} if self.mood == "busy" else {}
            return 429 if headers else 503, headers, {"error": {"message": "not now"}}
        prompt = str(body["messages"][-1]["content"])
        self._asked[prompt] += 1
        animal = next(animal for sound, animal in RIGHT.items() if sound in prompt)
        if self.mood == "ill" or self._asked[prompt] % (CASES // 2) < MISTAKEN // 2:
            animal = OTHER[animal]
        message = {"content": json.dumps({"animal": animal, "hints": [animal]})}
        usage = {"prompt_tokens": 9, "completion_tokens": 7}
        return 200, {}, {"choices": [{"message": message, "finish_reason": "stop"}], "usage": usage}


class Target:
    """Where alerts go."""

    def __init__(self) -> None:
        self.down = False
        self.titles: Counter[str] = Counter()
        self.refused = 0

    def answer(self, body: Any) -> tuple[int, dict[str, str], Any]:
        """Status, headers and body."""
        if self.down:
            self.refused += 1
            return 503, {}, {}
        self.titles[body["title"]] += 1
        return 200, {}, {}


@contextmanager
def serving(answer: Callable[[Any], tuple[int, dict[str, str], Any]]) -> Iterator[str]:
    """A server on loopback: host and port."""

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            status, headers, said = answer(body)
            text = json.dumps(said).encode()
            self.send_response(status)
            for name, value in {**headers, "Content-Length": str(len(text))}.items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(text)

        def log_message(self, format: str, *args: Any) -> None:  # noqa: A002
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    try:
        yield f"127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


class World:
    """A project with the toy on the model and a shipped suite on its embedded engine, and who is told."""

    def __init__(self, root: Path, model: Model, targets: list[Target], places: list[str]) -> None:
        self.model, self.targets = model, targets
        self.project = recorded_toy.make_project(root)
        address, *told = places
        self.alerts = " ".join(f"json://{place}/" for place in told)
        self._write(f"http://{address}/v1")

    def _write(self, url: str) -> None:
        project = self.project
        cases = recorded_toy.cases_file(project)
        cases.write_text("".join(cases.read_text().splitlines(keepends=True)[:CASES]))
        shutil.copy(REPOSITORY / "automation.yaml", project.root)
        for name in ("golden", "prompts"):
            shutil.copytree(REPOSITORY / name / SHIPPED, project.root / name / SHIPPED)
        limits = {"concurrency": 4, "requests_per_minute": 30_000, "attempts": 1, "trials": 1}
        model = {"kind": "endpoint", "url": url, "model": "moody", **limits}
        engines = {"embedded": {"kind": "embedded"}, "model": model}
        project.engines_file.write_text(yaml.safe_dump({"default": "embedded", "engines": engines}))
        self.edit(ACTIVE, "active", 0)
        self.edit(CANDIDATE, "candidate", 0)

    def edit(self, version: str, status: str, number: int) -> None:
        """Save a version with another word in it."""
        body = f"{recorded_toy.BODY}Take your time ({number}).\n"
        recorded_toy.write_prompt(self.project, version, f"status: {status}", "engine: model", body=body)

    def touch_gates(self, number: int) -> None:
        """Save the gates with another remark."""
        file = self.project.golden(TOY) / "gates.yaml"
        kept = file.read_text().partition("# seen")[0]
        file.write_text(f"{kept}# seen {number}\n")


@contextmanager
def world(root: Path) -> Iterator[World]:
    """Such a world, with its servers running."""
    model, targets = Model(), [Target(), Target()]
    with ExitStack() as stack:
        answers = [model.answer, *(target.answer for target in targets)]
        places = [stack.enter_context(serving(answer)) for answer in answers]
        yield World(root, model, targets, places)
