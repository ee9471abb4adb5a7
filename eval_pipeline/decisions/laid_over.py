"""The base with what a change is about laid over it: prompts, cases, recorded outputs, the code that answers.

Everything else there is the base's: what is not named here cannot be brought in by a change.
"""

import os
import shutil
from collections.abc import Collection, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path, PurePosixPath

from eval_pipeline.decisions.changed_code import code_of_measure
from eval_pipeline.decisions.measure import PARTS, RULED
from eval_pipeline.decisions.touched import COMPILED, Change
from eval_pipeline.declarative import SUITE_FILE, files_of_cases
from eval_pipeline.engines import answered_from
from eval_pipeline.problems import BadInput
from eval_pipeline.project import Project
from eval_pipeline.revisions import checked_git, checked_out


@contextmanager
def measured_tree(
    project: Project, judged: Project, change: Change, suites: Iterable[str]
) -> Iterator[tuple[Path, frozenset[PurePosixPath]]]:
    """The base's files in a folder of their own with the subject of a change, and which files that are."""
    with checked_out(project, change.base) as tree:
        subject = _subject(project, judged, tree, change, list(suites))
        laid = frozenset(file for file in sorted(subject) if _lay(project.root, tree, file))
        _link_ignored(project, tree)
        yield tree, laid


def named_by_whose(text: str, laid: Iterable[str], revision: str) -> str:
    """What is said in such a tree, where files of the change are not taken for those of the revision."""
    for name in sorted(laid, key=len, reverse=True):
        text = text.replace(f"{name} at {revision}", name)
    return text


def _subject(
    project: Project, judged: Project, tree: Path, change: Change, suites: Collection[str]
) -> set[PurePosixPath]:
    """The changed files that are measured."""
    declared = {suite: _cases(project, tree, suite) for suite in suites}
    cases = {file for files in declared.values() for file in files or ()}
    measuring: set[PurePosixPath] | None = set()
    for place in (tree, project.root):
        of_tree = code_of_measure(project, place, suites)
        measuring = None if measuring is None or of_tree is None else measuring | of_tree

    def counts(file: PurePosixPath) -> bool:
        match file.parts:
            case ("golden", suite, name, *_):
                is_data = name not in PARTS and name not in RULED
                return is_data and (file in cases or declared.get(suite) is None)
            case ("golden", *_):
                return False
            case ("prompts", *_):
                return True
        if file.suffix == ".py" and (measuring is None or file in measuring):
            return False
        return file in cases or any(answered_from(judged, [file], suite) for suite in suites)

    return {file for file in change.files if COMPILED not in file.parts and counts(file)}


def _cases(project: Project, tree: Path, suite: str) -> set[PurePosixPath] | None:
    """The files of cases by the base's declaration; None for a suite that is not declared there."""
    folder = tree / project.golden(suite).relative_to(project.root)
    if not (folder / SUITE_FILE).is_file():
        return None
    found: set[PurePosixPath] = set()
    for root in (tree, project.root):
        try:
            files = files_of_cases(folder, root / folder.relative_to(tree))
        except BadInput:  # the evaluation says what is wrong with it
            continue
        found |= {PurePosixPath(os.path.normpath(file.relative_to(root))) for file in files}
    return found


def _lay(root: Path, tree: Path, file: PurePosixPath) -> bool:
    """Put a file of the change into the tree, or take one out; nothing is written through a link."""
    source, target = root / file, tree / file
    if any((place / parent).is_symlink() for place in (root, tree) for parent in file.parents):
        return False
    if target.is_dir() and not target.is_symlink():
        shutil.rmtree(target)
    else:
        target.unlink(missing_ok=True)
    if source.is_symlink() or source.is_file():
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(source, target, follow_symlinks=False)
    return True


def _link_ignored(project: Project, tree: Path) -> None:
    """Let what Git ignores, such as an index or a model, be found where it is: no change brings it."""
    listing = ("ls-files", "--others", "--ignored", "--exclude-standard", "--directory", "-z")
    for name in filter(None, checked_git(project.root, *listing).split("\0")):
        source, target = project.root / name, tree / name
        measured = PurePosixPath(name).parts[0] in ("golden", "prompts", project.own_suites.name)
        if measured or COMPILED in source.parts or project.state.is_relative_to(source):
            continue
        if target.parent.is_dir() and not target.exists() and not target.is_symlink():
            target.symlink_to(source)
