"""What a change touches: which suites and prompt versions have to be evaluated because of it."""

from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import PurePosixPath

import msgspec

from eval_pipeline.decisions.changed_code import changed_code, uses_own_code
from eval_pipeline.declarative import SUITE_FILE, files_of_cases
from eval_pipeline.engines import answered_from
from eval_pipeline.problems import BadInput
from eval_pipeline.project import MARKER, Project
from eval_pipeline.prompts import Prompt, as_written
from eval_pipeline.revisions import HEAD, base_commit, checked_git, text_at
from eval_pipeline.scoring import PACKAGE
from eval_pipeline.suite import Suite

ENGINES = "engines"
OTHER_ENGINES = f"{MARKER}, whose change is not part of this evaluation"
NOTES = ("README.md", "CHANGELOG.md")
COMPILED = "__pycache__"
SUITES = "suites"
HOLDING_CODE = (PACKAGE, SUITES)
ENVIRONMENT = frozenset(
    ("Makefile", "dagster.yaml", "pyproject.toml", "requirements.lock", "requirements.txt", "uv.lock")
)
"""Files at the project's root that decide what an evaluation runs on."""
ANSWERS = "engine's files"
GOLDEN_SET = "golden set"
FOLDER = "folder"
"""A folder of golden sets or prompts that is not a plain one, before or now."""
GOLDEN_REASONS = {
    "gates.yaml": "gates",
    "approvals": "approvals",
    "baseline": "baseline",
    SUITE_FILE: "suite",
}
"""What a file of a golden folder is called, where it is not the golden set itself."""


@dataclass
class Touched:
    """What a change touches of one suite."""

    prompts: set[str] = field(default_factory=set)
    """Versions whose file changed, appeared or vanished."""
    answers: set[str] = field(default_factory=set)
    """Versions whose answers come from a file that changed: recorded outputs, or a function's code."""
    reasons: set[str] = field(default_factory=set)
    """What else changed that decides its numbers."""


@dataclass(frozen=True)
class Change:
    """Everything that differs from a revision of Git."""

    base: str
    """The commit it is compared with: the last one that the revision and HEAD share."""
    files: frozenset[PurePosixPath]
    """Files of the project that differ now: committed, uncommitted and new ones."""
    undone: frozenset[PurePosixPath]
    """Files that a commit changed and that now are as they were: `engines.yaml` in CI."""


def change_since(project: Project, revision: str) -> Change:
    """What differs from a revision, in the project's folder."""
    base = base_commit(project, revision)
    listing = ("diff", "--name-only", "--no-renames", "--relative", "-z")
    now = _names(checked_git(project.root, *listing, base, "--", "."))
    committed = _names(checked_git(project.root, *listing, base, HEAD, "--", "."))
    new = _names(checked_git(project.root, "ls-files", "--others", "--exclude-standard", "-z"))
    return Change(base, now | new, committed - now - new)


def touched_suites(project: Project, change: Change, suites: Iterable[str]) -> dict[str, Touched]:
    """Which suites a change touches, and how."""
    touched = {suite: Touched() for suite in suites}
    everywhere: set[str] = set()
    code, own = False, uses_own_code(project, touched)
    for file in change.files:
        parts = file.parts
        if COMPILED in parts or (len(parts) <= 3 and file.name in NOTES):
            continue
        if parts[0] == "prompts" and len(parts) == 3 and file.suffix == ".md" and parts[1] in touched:
            touched[parts[1]].prompts.add(file.stem)
        elif parts[0] == "golden" and len(parts) > 2 and parts[1] in touched:
            touched[parts[1]].reasons.add(GOLDEN_REASONS.get(parts[2], GOLDEN_SET))
        elif parts in (("golden",), ("prompts",)):  # a link, or the root of another repository
            everywhere.add(FOLDER)
        elif parts[0] in ("golden", "prompts") and len(parts) == 2 and parts[1] in touched:
            touched[parts[1]].reasons.add(FOLDER)
        elif str(file) == MARKER:
            everywhere.add(ENGINES)
        elif str(file) in ENVIRONMENT:
            everywhere.add("environment")
        code = code or parts[0] in HOLDING_CODE or (own and may_be_code(project, file))
    if PurePosixPath(MARKER) in change.undone:
        everywhere.add(OTHER_ENGINES)
    changed = changed_code(project, change.base, touched) if code else {}
    for suite, each in touched.items():
        each.reasons |= everywhere | changed.get(suite, set())
        each.reasons |= {GOLDEN_SET} if _shared_cases(project, suite) & change.files else set()
        each.answers |= answered_from(project, change.files, suite)
    return {name: each for name, each in touched.items() if each.prompts or each.answers or each.reasons}


def may_be_code(project: Project, file: PurePosixPath) -> bool:
    """Whether a file may be code that a suite uses, data beside such code, or part of a declaration."""
    if file.parts[0] == "golden" and len(file.parts) > 2:
        return file.name == SUITE_FILE or (project.golden(file.parts[1]) / SUITE_FILE).is_file()
    if COMPILED in file.parts:
        return False
    return (
        file.suffix == ".py"
        or file.parts[0] in HOLDING_CODE
        or any(project.root.joinpath(file).parent.glob("*.py"))
    )


def _shared_cases(project: Project, suite: str) -> set[PurePosixPath]:
    """The files of cases of a declared suite, wherever in the project they are."""
    folder, root = project.golden(suite), project.root.resolve()
    try:
        files = files_of_cases(folder, folder) if (folder / SUITE_FILE).is_file() else set()
    except BadInput:  # loading the suite says what is wrong with it
        return set()
    return {PurePosixPath(file.resolve().relative_to(root)) for file in files}


def was_active(project: Project, suite: str, version: str, base: str) -> bool:
    """Whether a version was the active one at a commit."""
    before = text_at(project, base, project.prompts(suite) / f"{version}.md")
    written = as_written(before) if before is not None else None
    return written is not None and written.front.status == "active"


def only_unread_text_changed(
    project: Project, suite: Suite, prompt: Prompt, base: str, engine_reads_prompt: bool
) -> bool:
    """Whether all that changed is text that the evaluating engine never looks at.

    A version is compared with itself at a commit, or with its predecessor where it is new.
    """
    if engine_reads_prompt:
        return False
    before = text_at(project, base, prompt.path)
    if before is None and prompt.front.predecessor:
        file = prompt.path.with_name(f"{prompt.front.predecessor}.md")
        before = file.read_text(encoding="utf-8-sig", errors="replace") if file.is_file() else None
    old = as_written(before) if before is not None else None
    if old is None or old.body == prompt.body:
        return False
    try:
        return bool(msgspec.convert(old.front.parameters, suite.parameters) == prompt.parameters)
    except msgspec.ValidationError:
        return False


def _names(listed: str) -> frozenset[PurePosixPath]:
    return frozenset(PurePosixPath(name) for name in listed.split("\0") if name)
