"""Secrets that an endpoint echoes appear in no file and in no output."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from urllib.parse import quote

import yaml

from benchmarks.hostile.commands import attempt
from benchmarks.hostile.projects import BEFORE, Pristine
from benchmarks.hostile.tally import Tried, ended
from benchmarks.hostile.texts import GATE
from eval_pipeline.project import Project
from eval_pipeline.store.parquet import read_table
from eval_pipeline_tests.engines.fault_server import fault_server

KEY, HEADER = 'sk-Hostile/Key+7"42', "gateway-pass-8c1d"
ECHOES: dict[str, Callable[[str], str]] = {
    "as it is": lambda key: key,
    "in JSON": lambda key: json.dumps({"animal": key, "hints": [key]}),
    "in a URL": lambda key: quote(key, safe=""),
    "in JSON in JSON": lambda key: json.dumps({"animal": json.dumps(key), "hints": []}),
    "twice in a row": lambda key: key + key,
}
COMMANDS = (
    ("run", "toy", "--prompt", BEFORE),
    ("compare", "toy", "--prompt", BEFORE),
    ("journal", "stats"),
    GATE,
)


def echo(pristine: Pristine, names: tuple[str, ...] = tuple(ECHOES)) -> list[Tried]:
    """Run the toy on an endpoint that says what it was sent, in several forms, and with errors."""
    tried = []
    with _known(), fault_server() as server:
        for name in names:
            said = "".join(ECHOES[name](secret) for secret in (KEY, HEADER))
            server.answer = partial(_always, said)
            project = pristine.project
            _configure(project, server.url)
            trouble = ""
            for command in COMMANDS:
                result = attempt(project, *command)
                forms = [
                    form
                    for secret in (KEY, HEADER)
                    for form in _forms(secret)
                    if form in result.out + result.err
                ]
                trouble = trouble or result.trouble or ("a key is said" if forms else "")
            trouble = trouble or _in_files(project)
            assert server.calls, "nothing was asked"
            tried.append(ended("echoed key", name, trouble))
            pristine.restore()
    return tried


@contextmanager
def _known() -> Iterator[None]:
    os.environ |= {"HOSTILE_KEY": KEY, "HOSTILE_HEADER": HEADER}
    try:
        yield
    finally:
        del os.environ["HOSTILE_KEY"], os.environ["HOSTILE_HEADER"]


def _configure(project: Project, url: str) -> None:
    engine = {"kind": "endpoint", "url": url, "model": "m", "trials": 1, "attempts": 1}
    secrets = {"key_variable": "HOSTILE_KEY", "header_variables": {"X-Gateway": "HOSTILE_HEADER"}}
    project.engines_file.write_text(yaml.safe_dump({"default": "e", "engines": {"e": engine | secrets}}))
    for file in project.prompts("toy").glob("*.md"):
        file.write_text(file.read_text().replace("engine: recorded\n", "").replace("recorded", "e"))


def _always(said: str, prompt: str) -> str:
    return said


def _forms(secret: str) -> set[str]:
    once = json.dumps(secret)[1:-1]
    return {secret, once, json.dumps(once)[1:-1], quote(secret, safe="")}


def _in_files(project: Project) -> str:
    """The first file that holds one of the secrets; tables are read, as they are compressed."""
    for file in sorted(project.root.rglob("*")):
        if file.is_file():
            text = _text(file)
            if any(form in text for secret in (KEY, HEADER) for form in _forms(secret)):
                return f"a key is in {file.relative_to(project.root)}"
    return ""


def _text(file: Path) -> str:
    text = file.read_bytes().decode(errors="replace")
    return text + str(read_table(file).to_pylist()) if file.suffix == ".parquet" else text
