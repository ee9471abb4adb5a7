"""A project whose suite is a file, with a scorer of its own, for changes that touch their own measure."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any

import yaml

from eval_pipeline.project import Project
from eval_pipeline_tests.declaring import CLASSIFIER, NAME, declare

CASES = 60
ACTIVE, CANDIDATE = "classify-v1.0", "classify-v1.1"
LABELS = ("billing", "bug", "other")
ROWS = [
    {"id": f"case-{number:02}", "text": f"Ticket {number}", "language": "en", "label": LABELS[number % 3]}
    for number in range(CASES)
]
SUITE: dict[str, Any] = {
    **CLASSIFIER,
    "scores": [{"equals": "{{ label }}"}, {"python": "lib.checks:fine", "columns": ["label"]}],
}
CHECKS = "from lib.helper import same\n\n\ndef fine(answer, case):\n    return same(answer, case['label'])\n"
HELPER = "def same(one, other):\n    return one == other\n"
BOT = "def answer(prompt, variables):\n    return 'bug'\n"
ENGINES = """default: recorded
engines:
  recorded: {kind: recorded, path: "recorded/{suite}/{version}.jsonl"}
  bot: {kind: callable, function: "bot:answer"}
  llm: {kind: endpoint, url: "http://127.0.0.1:9/v1", model: small, budget: {tokens: 1000}}
"""
GATES = """metrics:
  accuracy:
    fail: "< 0.6"
    pass: ">= 0.8"
    regression: {investigate: 0.01, block: 0.05}
"""


def make_project(root: Path) -> Project:
    """The project; nothing of it was evaluated."""
    project = declare(root, SUITE, ROWS)
    project.engines_file.write_text(ENGINES)
    for name, text in (("lib/checks.py", CHECKS), ("lib/helper.py", HELPER), ("bot.py", BOT)):
        write(project, name, text)
    write(project, f"golden/{NAME}/gates.yaml", GATES)
    write(project, ".gitignore", ".eval/\n__pycache__/\nindex.bin\n")
    prompt(project, ACTIVE, "active")
    record(project, ACTIVE, CASES * 9 // 10)
    return project


def write(project: Project, name: str, text: str) -> None:
    """Write a file of the project."""
    path = project.root / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)


def prompt(project: Project, version: str, status: str, suite: str = NAME) -> None:
    """Write a version of the prompt."""
    front = f"---\nsuite: {suite}\nstatus: {status}\n---\n"
    write(project, f"prompts/{suite}/{version}.md", f"{front}Which kind is {{{{ text }}}}?\n")


def record(project: Project, version: str, right: int, suite: str = NAME) -> None:
    """Outputs of another system: the first so many are right."""
    answers = (
        {"case_id": row["id"], "output": LABELS[(number + (number >= right)) % 3]}
        for number, row in enumerate(ROWS)
    )
    lines = "".join(json.dumps(answer) + "\n" for answer in answers)
    write(project, f"recorded/{suite}/{version}.jsonl", lines)


def declare_anew(project: Project, **fields: Any) -> None:
    """Change fields of the suite.yaml."""
    text = yaml.safe_dump({**SUITE, **fields}, sort_keys=False)
    write(project, f"golden/{NAME}/suite.yaml", text)


def edit(project: Project, name: str, old: str, new: str) -> None:
    """Replace a part of a file."""
    text = (project.root / name).read_text()
    assert old in text, name
    (project.root / name).write_text(text.replace(old, new))


def git(project: Project, *arguments: str) -> str:
    """Run Git as somebody."""
    identity = ("-c", "user.name=Ada", "-c", "user.email=ada@example.org", "-c", "core.hooksPath=/dev/null")
    done = subprocess.run(
        ["git", *identity, *arguments], cwd=project.root, capture_output=True, text=True, check=True
    )
    return done.stdout.strip()


def commit(project: Project, message: str = "A change") -> str:
    """Commit everything; the commit."""
    git(project, "add", "--all")
    git(project, "commit", "--quiet", "--message", message)
    return git(project, "rev-parse", "HEAD")


def begin(project: Project) -> str:
    """Make a repository of it; its first commit."""
    git(project, "init", "--quiet", "--initial-branch", "main")
    return commit(project, "The beginning")
