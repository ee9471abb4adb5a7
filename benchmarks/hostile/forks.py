"""What a pull request may try on the gate: each attack is a change, which has to be stopped or shown."""

from __future__ import annotations

import re
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

from benchmarks.hostile.commands import attempt
from benchmarks.hostile.projects import BEFORE, LOWER, Pristine, done, toy
from benchmarks.hostile.tally import Tried, ended
from eval_pipeline.project import Project
from eval_pipeline_tests.cli import recorded_toy

BOT = "ask-v1.0"
"""A version that a function answers."""
RIGHT_BOT = "def answer(prompt, variables):\n    return {'animal': variables['hints'][0], 'hints': []}\n"
BY = ("--reason", "it is right", "--by", "Head of Quality")
GATE = ("gate", "toy", "--changed-since", "HEAD")
FAILS = "40.0 % is in the fail zone (< 50 %)"


def _git(project: Project, *arguments: str) -> None:
    identity = ("-c", "user.name=Ada", "-c", "user.email=ada@example.org", "-c", "core.hooksPath=/dev/null")
    subprocess.run(["git", *identity, *arguments], cwd=project.root, check=True, capture_output=True)


def repository(root: Path) -> Project:
    """The toy with a second prompt that a function answers, all of it signed off, promoted and committed."""
    project = toy(root)
    with project.engines_file.open("a") as file:
        file.write("  bot: {kind: callable, function: 'bot:answer', trials: 1}\n")
    (root / "bot.py").write_text(RIGHT_BOT)
    (root / ".gitignore").write_text(".eval/\n__pycache__/\n")
    for name in ("Makefile", "requirements.lock"):
        (root / name).write_text("# as it is\n")
    recorded_toy.write_prompt(project, BOT, "status: active", "engine: bot")
    done(attempt(project, "run", "toy", "--prompt", BOT), 0, 1)
    done(attempt(project, "baseline", "promote", "toy", BOT, *BY))
    _git(project, "init", "--quiet", "--initial-branch", "main")
    _git(project, "add", "--all")
    _git(project, "commit", "--quiet", "--message", "The beginning")
    return project


def _fail(project: Project) -> None:
    """A version that ought to be stopped."""
    recorded_toy.record(project, LOWER, 40)


def _gates(project: Project) -> Path:
    return project.golden("toy") / "gates.yaml"


def _lower_gates(project: Project) -> None:
    _fail(project)
    _gates(project).write_text(re.sub(r"(fail): .*", r"\1: '< 0.1'", _gates(project).read_text()))


def _no_gates(project: Project) -> None:
    _fail(project)
    _gates(project).unlink()


def _linked_gates(project: Project) -> None:
    _no_gates(project)
    _gates(project).symlink_to("/dev/null")


def _always_right(project: Project) -> None:
    _fail(project)
    code = project.own_suites / "toy" / "__init__.py"
    code.write_text(code.read_text().replace("float(gold == guess)", "1.0"))


def _attributes(project: Project) -> None:
    """Git is told to leave the rules out of what it hands out."""
    _lower_gates(project)
    (project.root / ".gitattributes").write_text("golden/** export-ignore\n")


def _own_sign_off(project: Project) -> None:
    cases = recorded_toy.cases_file(project)
    cases.write_text(cases.read_text().replace('"meow", "animal": "cat"', '"meow", "animal": "dog"', 1))
    done(attempt(project, "golden", "freeze", "toy", *BY))


def _own_approval(project: Project) -> None:
    recorded_toy.record(project, LOWER, 61)
    done(attempt(project, "run", "toy", "--prompt", LOWER), 1)
    done(attempt(project, "approve", "toy", LOWER, "--metric", "accuracy", *BY))


def _no_baseline(project: Project) -> None:
    recorded_toy.record(project, LOWER, 61)
    shutil.rmtree(project.golden("toy") / "baseline")


def _other_function(project: Project) -> None:
    (project.root / "bot.py").write_text(RIGHT_BOT.replace("variables['hints'][0]", "'dog'"))


def _other_engines(project: Project) -> None:
    """An engine of its own is committed; the workflow puts the base's file in its place."""
    kept = project.engines_file.read_text()
    project.engines_file.write_text(kept.replace("recorded/{suite}", "mine/{suite}"))
    _git(project, "commit", "--quiet", "--all", "--message", "Mine")
    project.engines_file.write_text(kept)


def _touched(name: str) -> Callable[[Project], None]:
    def change(project: Project) -> None:
        with (project.root / name).open("a") as file:
            file.write("# mine\n")

    return change


class Attack(NamedTuple):
    """A change, the exit code that it has to lead to, and what the gate has to say."""

    change: Callable[[Project], None]
    code: int
    said: str
    since: str = "HEAD"


ATTACKS = {
    "a lower gate": Attack(_lower_gates, 1, FAILS),
    "no gates": Attack(_no_gates, 2, FAILS),
    "a link in place of the gates": Attack(_linked_gates, 2, FAILS),
    "rules that Git leaves out": Attack(_attributes, 1, FAILS),
    "a scorer that is always right": Attack(_always_right, 1, FAILS),
    "its own sign-off": Attack(_own_sign_off, 1, "Changes that nobody signed off"),
    "its own approval": Attack(_own_approval, 1, "regressed; block"),
    "no baseline": Attack(_no_baseline, 1, "regressed; block"),
    "other recorded outputs": Attack(
        lambda project: recorded_toy.record(project, BEFORE, 60), 1, "(engine's files)"
    ),
    "another function": Attack(_other_function, 1, f"{BOT} (engine's files)"),
    "an engine of its own": Attack(_other_engines, 1, "whose change is not part of this evaluation", "HEAD~"),
    "another Makefile": Attack(_touched("Makefile"), 0, f"{BEFORE} (environment)"),
    "another lock": Attack(_touched("requirements.lock"), 0, f"{BEFORE} (environment)"),
    "another dagster.yaml": Attack(_touched("dagster.yaml"), 0, f"{BEFORE} (environment)"),
    "no active version": Attack(
        lambda project: recorded_toy.prompt_file(project, BEFORE).unlink(), 2, "no version of guess is active"
    ),
}


def attack(pristine: Pristine, names: tuple[str, ...] = tuple(ATTACKS)) -> list[Tried]:
    """Let the gate judge each of them."""
    tried = []
    for name in names:
        each = ATTACKS[name]
        each.change(pristine.project)
        result = attempt(pristine.project, *GATE[:-1], each.since)
        output = result.out + result.err
        trouble = result.trouble
        if not trouble and (result.code != each.code or each.said not in output):
            trouble = f"exit {result.code}: {output.strip()[:300]}"
        tried.append(ended("pull request", name, trouble, refused=result.code != 0))
        pristine.restore()
    return tried
