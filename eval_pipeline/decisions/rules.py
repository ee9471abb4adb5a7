"""By whose rules a change is judged: those of the revision it is compared with, never by its own."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory

from eval_pipeline.decisions.touched import Change
from eval_pipeline.gates import GATES_FILE
from eval_pipeline.problems import tree_of
from eval_pipeline.project import Project
from eval_pipeline.revisions import SHORT_COMMIT, extract, files_at

RULES = (GATES_FILE, "signoff.json", "approvals", "baseline")
"""What of a golden folder says how its suite is judged."""


@contextmanager
def rules_at(project: Project, commit: str) -> Iterator[Project]:
    """The project, judged by the rules of a commit; a suite that had no gates there is judged by its own."""
    with TemporaryDirectory() as folder, tree_of(Path(folder), commit[:SHORT_COMMIT]):
        for golden in files_at(project, commit, project.root / "golden"):
            known = {path.name for path in files_at(project, commit, golden)}
            if GATES_FILE in known:
                place = golden.relative_to(project.root)
                names = [str(place / name) for name in RULES if name in known]
                extract(project, commit, Path(folder), *names)
        yield replace(project, judged_by=Path(folder))


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
