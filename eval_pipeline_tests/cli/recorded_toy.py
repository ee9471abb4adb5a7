"""A toy project with a hundred cases, whose versions answer what a test records for them."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

from eval_pipeline.project import Project
from eval_pipeline_tests.conftest import REPOSITORY, TOY

CASES = 100
SOUNDS = (("woof", "dog"), ("meow", "cat"))
"""What is asked in turn, so that no constant answer passes."""
BODY = "Which animal says {{ sound }}? Perhaps {{ hints[0] }}.\n"


def make_project(root: Path) -> Project:
    """A project without a prompt version."""
    shutil.copytree(TOY, root, ignore=shutil.ignore_patterns("__pycache__", "*.md"))
    shutil.copy(REPOSITORY / "dagster.yaml", root / "dagster.yaml")
    project = Project(root, root / ".eval")
    asked = ((number, *SOUNDS[number % 2]) for number in range(CASES))
    cases = ({"id": f"case-{number:03}", "sound": sound, "animal": animal} for number, sound, animal in asked)
    cases_file(project).write_text("".join(json.dumps(case) + "\n" for case in cases))
    return project


def cases_file(project: Project) -> Path:
    """Where the cases are."""
    return project.golden("toy") / "cases" / "sounds.jsonl"


def prompt_file(project: Project, version: str) -> Path:
    """Where a version is."""
    return project.prompts("toy") / f"{version}.md"


def write_prompt(project: Project, version: str, *front: str, body: str = BODY) -> None:
    """Write a version with these lines of front matter."""
    prompt_file(project, version).parent.mkdir(parents=True, exist_ok=True)
    prompt_file(project, version).write_text("\n".join(("---", "suite: toy", *front, "---", body)))


def record(project: Project, version: str, right: int) -> None:
    """Outputs of another system for a version: the first so many are right."""
    file = project.root / "recorded" / "toy" / f"{version}.jsonl"
    file.parent.mkdir(parents=True, exist_ok=True)
    animals = (SOUNDS[(number + (number >= right)) % 2][1] for number in range(CASES))
    answers = (
        {"case_id": f"case-{number:03}", "output": {"animal": animal, "hints": []}}
        for number, animal in enumerate(animals)
    )
    file.write_text("".join(json.dumps(answer) + "\n" for answer in answers))
