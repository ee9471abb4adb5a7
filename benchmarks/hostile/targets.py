"""Every kind of file that people or commands write, with the commands that read it."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Literal, NamedTuple

from benchmarks.hostile.projects import AFTER, LOWER, REVIEWED
from eval_pipeline.project import Project

PRUNE = ("prune", "--dry-run")

Command = tuple[str, ...]
Rule = Literal["signed", "same", "outputs", "free"]


class Target(NamedTuple):
    """Files of a kind, what reads them, and what may follow from a change that is accepted."""

    kind: str
    suite: str
    files: tuple[Path, ...]
    commands: tuple[Command, ...]
    rule: Rule = "free"
    """signed: what the first command does not notice changes no number; same: nothing changes any number;
    outputs: the numbers change only with the errors where a key is there twice; free: no number is meant."""


def score(project: Project, suite: str, outputs: Path) -> Command:
    """The command that scores a file."""
    return ("score", suite, "--golden", str(project.golden(suite)), "--outputs", str(outputs), "--json")


def of_shipped(project: Project) -> Iterator[Target]:
    """The files of all suites, in all their formats."""
    for golden in sorted((project.root / "golden").iterdir()):
        yield from of_suite(project, golden)
    review = ("review", "status", REVIEWED)
    ledger = project.golden("review") / "references"
    yield Target("ledger", "review", tuple(sorted(ledger.iterdir())), (review,), "same")
    yield Target("automation", "-", (project.root / "automation.yaml",), (("automation",),))


def of_suite(project: Project, golden: Path) -> Iterator[Target]:
    """The files of one suite."""
    suite = golden.name
    (outputs,) = (golden / "baseline").glob("*.outputs.jsonl")
    check, scored = ("golden", "check", suite), score(project, suite, outputs)
    by_suffix: dict[str, list[Path]] = {}
    for file in sorted((golden / "cases").rglob("*.*")):
        by_suffix.setdefault(file.suffix, []).append(file)
    for suffix, files in by_suffix.items():
        yield Target(f"cases {suffix}", suite, tuple(files), (check, scored), "signed")
    if suite != "review":  # the ledger is one of its own
        yield from _if_any("references", suite, golden.glob("references/**/*.*"), (check, scored), "signed")
    yield from _if_any("resources", suite, golden.glob("resources/*"), (check, scored))
    yield from _if_any("settings", suite, golden.glob("settings.yaml"), (check, scored))
    yield from _if_any("readings", suite, golden.glob("*_reading.json"), (check, scored))
    yield from _if_any("judge", suite, golden.glob("judge.jsonl"), (check, scored))
    yield Target("gates", suite, (golden / "gates.yaml",), (check, scored), "same")
    yield Target("sign-off", suite, (golden / "signoff.json",), (check,))
    baselines = tuple((golden / "baseline").glob("*.json"))
    yield Target("baseline", suite, baselines, (("baseline", "show", suite, "--json"),), "same")
    yield Target("outputs", suite, (outputs,), (scored,), "outputs")
    prompts = tuple(sorted(project.prompts(suite).glob("*-v*.md")))
    dry = ("run", suite, "--prompt", "all", "--dry-run")
    yield Target("front matter, template", suite, prompts, (dry,))


def _if_any(
    kind: str, suite: str, files: Iterator[Path], commands: tuple[Command, ...], rule: Rule = "free"
) -> Iterator[Target]:
    if found := tuple(sorted(files)):
        yield Target(kind, suite, found, commands, rule)


def of_toy(project: Project) -> Iterator[Target]:
    """The files of the toy, and all of its state."""
    golden, state = project.golden("toy"), project.state
    compare, approved = (("compare", "toy", "--prompt", each, "--json") for each in (LOWER, AFTER))
    approve = ("approve", "toy", LOWER, "--metric", "accuracy", "--reason", "r", "--by", "Ada")
    run = ("run", "toy", "--prompt", AFTER)
    listed, history = ("approve", "toy", "--list", "--json"), ("history", "toy", "--json")
    prompt = (project.prompts("toy") / f"{AFTER}.md",)
    outputs = (project.root / "recorded" / "toy" / f"{AFTER}.jsonl",)
    yield Target("engines", "toy", (project.engines_file,), (run,))
    yield Target("cases, in a run", "toy", tuple((golden / "cases").iterdir()), (run,))
    yield Target("gates, in a run", "toy", (golden / "gates.yaml",), (run,))
    yield Target("template, in a run", "toy", prompt, (run,))
    yield Target("outputs, in a run", "toy", outputs, (run,))
    yield Target("approvals", "toy", tuple((golden / "approvals").iterdir()), (listed, approved), "same")
    yield Target("baseline", "toy", tuple((golden / "baseline").glob("*.json")), (compare,), "same")
    kept = tuple((golden / "baseline").glob("*.outputs.jsonl"))
    yield Target("baseline's outputs", "toy", kept, (compare,), "same")
    files = [path for path in sorted(state.rglob("*")) if path.is_file() and not path.is_symlink()]
    ours = [path for path in files if LOWER in path.parts or path.relative_to(state).parts[0] == "golden"]
    for suffix in sorted({path.suffix for path in ours}):
        chosen = tuple(path for path in ours if path.suffix == suffix)
        kind = f"state {suffix or 'latest'}"
        rule: Rule = "free" if suffix == ".md" else "same"
        yield Target(kind, "toy", chosen, (compare, history, PRUNE, approve), rule)
    databases = tuple(path for path in files if _is_database(path))
    yield Target("state sqlite", "toy", databases, (history, ("journal", "stats"), approve))


def _is_database(path: Path) -> bool:
    return path.read_bytes()[:15] == b"SQLite format 3"


def close_databases(project: Project) -> None:
    """Bring what is beside a database into it, so that each is one file."""
    for path in project.state.rglob("*"):
        if path.is_file() and _is_database(path):
            with closing(sqlite3.connect(path)) as connection:
                connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
