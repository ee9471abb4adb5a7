"""By whose rules a change is judged: those of the revision it is compared with, never by its own."""

import collections
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path, PurePosixPath
from tempfile import TemporaryDirectory

from eval_pipeline.decisions.objections import FailedCheck
from eval_pipeline.decisions.touched import FOLDER, GOLDEN_SET, Change, Touched
from eval_pipeline.files import is_there
from eval_pipeline.gates import GATES_FILE
from eval_pipeline.golden import GoldenSet
from eval_pipeline.problems import Problems, tree_of
from eval_pipeline.project import MARKER, JudgedProject, Project
from eval_pipeline.revisions import SHORT_COMMIT, blob_at, checked_out, extract, files_at
from eval_pipeline.stages import Workbench

RULES = (GATES_FILE, "signoff.json", "approvals", "baseline")
"""What of a golden folder says how its suite is judged."""
MOST_NAMED = 10


@contextmanager
def rules_at(project: Project, commit: str) -> Iterator[Project]:
    """The project, judged by the rules of a commit and asking the engines of it.

    A suite that had no gates there is judged by its own.
    """
    with engines_at(project, commit) as judged:
        folder = judged.judged_by
        assert folder is not None
        for golden in files_at(project, commit, project.root / "golden"):
            known = {path.name for path in files_at(project, commit, golden)}
            if GATES_FILE in known:
                place = golden.relative_to(project.root)
                names = [str(place / name) for name in RULES if name in known]
                _extract_all(project, commit, folder, *names)
        yield judged


@contextmanager
def engines_at(project: Project, commit: str) -> Iterator[Project]:
    """The project, asking the engines of a commit: no change asks servers or functions that only it names."""
    with TemporaryDirectory() as temporary, tree_of(Path(temporary), commit[:SHORT_COMMIT]):
        if blob_at(project, commit, PurePosixPath(MARKER)):
            _extract_all(project, commit, Path(temporary), MARKER)
        yield JudgedProject(project.root, project.state, Path(temporary))


def _extract_all(project: Project, commit: str, folder: Path, *names: str) -> None:
    """Take out what has to be there: what Git holds back would leave a change to its own rules."""
    extract(project, commit, folder, *names)
    problems = Problems()
    for name in names:
        if not is_there(folder / name):
            remedy = "Let it be a plain file there, without export-ignore in .gitattributes."
            problems.add(f"{name} at {commit[:SHORT_COMMIT]}", "Git does not hand it out", remedy)
    problems.stop_if_any()


def touched_rules(project: Project, change: Change, suite: str) -> str:
    """What is said where a change touches the rules by which it is judged; blank where it does not."""
    golden = project.golden(suite).relative_to(project.root).parts
    touched = sorted(
        "/".join(file.parts[2:])
        for file in change.files
        if file.parts[:2] == golden and len(file.parts) > 2 and file.parts[2] in RULES
    )
    if not touched:
        return ""
    said = f"the change touches what it is judged by ({', '.join(touched)})"
    if project.judged_by is None:
        return f"{said}, and is judged by that"
    if project.rules(suite) == project.golden(suite):
        return f"{said}, and is judged by that: the base has no gates for {suite}"
    base = change.base[:SHORT_COMMIT]
    return f"{said}: it is judged as of {base}, until somebody with rights on the base branch accepts that"


def altered_cases(bench: Workbench, change: Change, touched: Touched) -> FailedCheck | None:
    """What differs of the base's cases, where nobody ever signed any off; further cases change nothing.

    The base's own cases are what somebody accepted: without a sign-off, they are what the change is held to.
    """
    folder = bench.golden_folder
    if not touched.reasons & {GOLDEN_SET, FOLDER}:
        return None
    with checked_out(bench.project, change.base) as tree:
        before = tree / folder.relative_to(bench.project.root)
        if not before.is_dir():
            return None
        problems = Problems()
        for place in (before, folder):
            golden = GoldenSet(bench.suite, place, problems)
            collections.deque(golden.read(), maxlen=0)
            if place == before:
                golden.sign_off("", "")
        changes = golden.unsigned_changes(before).changes
    altered = [each for each in changes if not each.startswith("added: ")]
    if len(problems):
        altered = [f"they cannot be read: {next(iter(problems))}"]
    base = change.base[:SHORT_COMMIT]
    text = f"What {base} has is not as it was, and nobody signed it off: {', '.join(altered[:MOST_NAMED])}"
    return FailedCheck("signed_off", text, blocking=True) if altered else None
