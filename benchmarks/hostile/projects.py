"""The projects that are attacked: the shipped golden sets, and a toy with baseline, approval and state."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

from benchmarks.hostile.commands import Outcome, attempt
from eval_pipeline import stages
from eval_pipeline.files import is_aside
from eval_pipeline.project import Project
from eval_pipeline.store import Store
from eval_pipeline.suites.review import SUITE as REVIEW
from eval_pipeline_tests.cli import recorded_toy
from eval_pipeline_tests.running import invoke

HERE = Path(__file__).resolve().parents[2]
REVIEWED, TASK = "review-document-v1.1", "rate-limiter-code"
BEFORE, AFTER, NEXT, LOWER = "guess-v1.0", "guess-v1.1", "guess-v1.2", "guess-v1.3"
RIGHT = {BEFORE: 90, AFTER: 70, NEXT: 92, LOWER: 60}
FILLED = {"category": "EDGE", "error": "x", "evidence": "y", "confidence": "LOW"}


def done(outcome: Outcome, *codes: int) -> Outcome:
    """A step of the preparation, which is not the attack: it has to work."""
    assert outcome.code in (codes or (0,)), outcome.out + outcome.err
    return outcome


def shipped(root: Path, *, reviewed: bool = True) -> Project:
    """A copy of what this repository ships, with answers and a ledger of the blind protocol."""
    for name in ("golden", "prompts"):
        shutil.copytree(HERE / name, root / name)
    for name in ("engines.yaml", "automation.yaml", "dagster.yaml", "workspace.yaml"):
        shutil.copy(HERE / name, root / name)
    project = Project(root, root / ".eval")
    if reviewed:
        _write_ledger(project)
    return project


def warm_up(project: Project) -> None:
    """Score every suite once in this process: its children have what was imported and embedded by then."""
    for golden in sorted((project.root / "golden").iterdir()):
        (outputs,) = (golden / "baseline").glob("*.outputs.jsonl")
        scored = invoke(project, "score", golden.name, "--golden", golden, "--outputs", outputs, "--json")
        assert scored.returncode in (0, 1), scored.stderr


def _write_ledger(project: Project) -> None:
    bench, store = stages.Workbench(project, REVIEW), Store(project.state)
    golden = stages.load_golden(bench).table
    store.keep_golden(REVIEW.name, golden)
    store.keep_outputs(stages.answer_cases(bench, golden, REVIEWED))
    sheet = project.root / "sheet.yaml"
    named = (REVIEWED, str(sheet), "--task", TASK, "--by", "Ada")
    done(attempt(project, "review", "export", "findings", *named))
    text = sheet.read_text()
    for name, answer in FILLED.items():
        text = text.replace(f'  {name}: ""', f'  {name}: "{answer}"')
    sheet.write_text(text)
    done(attempt(project, "review", "import", str(sheet), "--by", "Ada"))
    sheet.unlink()


def toy(root: Path, *, evaluated: bool = True) -> Project:
    """A project with a baseline, a version that fell and was approved, one as good, and one that fell."""
    project = recorded_toy.make_project(root)
    shutil.copy(HERE / "automation.yaml", root)
    for version, right in RIGHT.items():
        status = "active" if version == BEFORE else "candidate"
        recorded_toy.write_prompt(project, version, f"status: {status}", "engine: recorded")
        recorded_toy.record(project, version, right)
    by = ("--reason", "as it is", "--by", "Ada")
    done(attempt(project, "golden", "freeze", "toy", *by))
    if not evaluated:
        return project
    done(attempt(project, "run", "toy", "--prompt", BEFORE), 0, 1)
    done(attempt(project, "baseline", "promote", "toy", BEFORE, *by))
    for version in (AFTER, NEXT, LOWER):
        done(attempt(project, "run", "toy", "--prompt", version), 0, 1)
    done(attempt(project, "approve", "toy", AFTER, "--metric", "accuracy", *by))
    return project


class Pristine:
    """What a project was like, to see what a command did to it, and to have it so again."""

    def __init__(self, project: Project, copy: Path) -> None:
        self.project = project
        self._copy = copy
        shutil.copytree(project.root, copy, symlinks=True)
        self._stamps = self._look()

    def _look(self) -> dict[str, tuple[int, ...]]:
        found = {}
        for folder, folders, names in os.walk(self.project.root):
            for name in (*names, *folders):
                path = os.path.join(folder, name)  # noqa: PTH118 (many thousand times)
                about = os.lstat(path)
                changes = name in names or not os.path.isdir(path)  # noqa: PTH112
                facts = (about.st_mtime_ns, about.st_size, about.st_ino) if changes else ()
                found[os.path.relpath(path, self.project.root)] = (about.st_mode, *facts)
        return found

    def changed(self) -> set[str]:
        """Files that came, went or are others, but for leftovers and caches."""
        now = self._look()
        differing = {path for path in {*now, *self._stamps} if now.get(path) != self._stamps.get(path)}
        return {path for path in differing if not is_aside(Path(path)) and "__pycache__" not in path}

    def restore(self) -> None:
        """Let everything be as it was."""
        now = self._look()
        differing = sorted(path for path in {*now, *self._stamps} if now.get(path) != self._stamps.get(path))
        for path in differing:
            place, kept = self.project.root / path, self._copy / path
            if place.is_dir() and not place.is_symlink():
                if kept.is_dir() and not kept.is_symlink():
                    continue
                shutil.rmtree(place)
            elif place.parent.is_dir():  # and not a file again that had been a folder
                place.unlink(missing_ok=True)
            if kept.is_dir():
                place.mkdir(parents=True, exist_ok=True)
            elif kept.exists():
                place.parent.mkdir(parents=True, exist_ok=True)
                shutil.copy2(kept, place)
        if differing:
            self._stamps = self._look()
