"""What a change touches: which suites and prompt versions have to be evaluated because of it."""

from __future__ import annotations

import subprocess
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath

from eval_pipeline.problems import Problems, bad_value
from eval_pipeline.project import Project
from eval_pipeline.prompt import Prompt, load_prompt_text
from eval_pipeline.suite import Suite

PACKAGE = "eval_pipeline"
NOT_SCORING = ("cli", "automation", "reports", "store")
"""Parts of the package that decide no number."""
GOLDEN_REASONS = {"gates.yaml": "gates", "approvals": "approvals", "baseline": "baseline"}
"""What a file of a golden folder is called, where it is not the golden set itself."""


@dataclass
class Touched:
    """What a change touches of one suite."""

    prompts: set[str] = field(default_factory=set)
    """Versions whose file changed."""
    reasons: set[str] = field(default_factory=set)
    """What else changed that decides its numbers."""


def changed_files(project: Project, revision: str) -> list[PurePosixPath]:
    """Files that differ from a revision of Git, in the project: committed, uncommitted and new ones."""
    _git(project.root, "rev-parse", "--verify", "--quiet", f"{revision}^{{commit}}", revision=revision)
    base = _git(project.root, "merge-base", revision, "HEAD", revision=revision).strip() or revision
    listed = _git(project.root, "diff", "--name-only", "--relative", "-z", base, "--", ".")
    new = _git(project.root, "ls-files", "--others", "--exclude-standard", "-z")
    return sorted({PurePosixPath(name) for name in (listed + new).split("\0") if name})


def text_at(project: Project, revision: str, file: Path) -> str | None:
    """What a file held at a revision; None where it was not there."""
    base = _git(project.root, "merge-base", revision, "HEAD", revision=revision).strip() or revision
    inside = file.relative_to(project.root).as_posix()
    done = _run(project.root, "show", f"{base}:./{inside}")
    return done.stdout if done.returncode == 0 else None


def touched_suites(files: Iterable[PurePosixPath], suites: Iterable[str]) -> dict[str, Touched]:
    """Which suites changed files touch, and how."""
    found = {suite: Touched() for suite in suites}
    for file in files:
        parts = file.parts
        if parts[0] == "prompts" and len(parts) == 3 and parts[1] in found and file.suffix == ".md":
            found[parts[1]].prompts.add(file.stem)
        elif parts[0] == "golden" and len(parts) > 2 and parts[1] in found:
            found[parts[1]].reasons.add(GOLDEN_REASONS.get(parts[2], "golden set"))
        elif len(parts) > 2 and parts[-3:-1] and _suite_of(parts) in found:
            found[_suite_of(parts)].reasons.add("scoring code")
        elif str(file) == "engines.yaml":
            for touched in found.values():
                touched.reasons.add("engines")
        elif parts[0] == PACKAGE and file.suffix == ".py" and parts[1] not in NOT_SCORING:
            for touched in found.values():
                touched.reasons.add("scoring code")
    return {suite: touched for suite, touched in found.items() if touched.prompts or touched.reasons}


def _suite_of(parts: tuple[str, ...]) -> str:
    """The suite that a file of code belongs to: `eval_pipeline/suites/<suite>/…` or `suites/<suite>/…`."""
    inside = parts[1:] if parts[0] == PACKAGE else parts
    return inside[1] if len(inside) > 2 and inside[0] == "suites" else ""


def only_unread_text_changed(
    project: Project, suite: Suite, prompt: Prompt, revision: str | None, engine_reads_prompt: bool
) -> bool:
    """Whether all that changed is text that the evaluating engine never looks at.

    A version is compared with itself at the revision, or with its predecessor where it is new.
    """
    if engine_reads_prompt:
        return False
    before = text_at(project, revision, prompt.path) if revision else None
    if before is None and prompt.front.predecessor:
        file = prompt.path.with_name(f"{prompt.front.predecessor}.md")
        before = file.read_text(encoding="utf-8-sig") if file.is_file() else None
    if before is None:
        return False
    old = load_prompt_text(suite, prompt.path, before, Problems())
    return old is not None and old.body != prompt.body and old.parameters == prompt.parameters


def _git(folder: Path, *arguments: str, revision: str = "") -> str:
    done = _run(folder, *arguments)
    if done.returncode != 0:
        if revision:
            raise bad_value("--changed-since", f"{revision!r} is not a revision of this repository")
        raise bad_value("--changed-since", f"Git says: {done.stderr.strip().partition(chr(10))[0]}")
    return done.stdout


def _run(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    try:
        return subprocess.run(
            ["git", *arguments], cwd=folder, capture_output=True, text=True, errors="replace", check=False
        )
    except OSError:
        raise bad_value(
            "--changed-since", "Git is not installed", "Install it, or name the suites."
        ) from None
