"""What Git knows of a project: its revisions, its files as they were, and who is at work."""

import getpass
import io
import os
import subprocess
import tarfile
import unicodedata
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path, PurePosixPath
from tempfile import TemporaryDirectory

from eval_pipeline.problems import bad_value
from eval_pipeline.project import Project

HEAD = "HEAD"
SHORT_COMMIT = 7
"""So many digits name a commit to a person."""
OPTION = "--changed-since"
"""Where people name a revision."""


def person(named: str | None = None) -> str:
    """Who says something: as they are named, else as Git or the system knows who is at the keyboard."""
    if name := one_spelling(named or ""):
        return name
    try:
        git = subprocess.run(["git", "config", "user.name"], capture_output=True, text=True, check=False)
        return one_spelling(git.stdout) or getpass.getuser()
    except (OSError, KeyError):
        return "unknown"


def one_spelling(name: str) -> str:
    """A name as it is kept: however its accents were typed, and its words set apart, it is one person's."""
    return " ".join(unicodedata.normalize("NFC", name).split())


def base_commit(project: Project, revision: str) -> str:
    """The commit that changes are compared with: the last one that a revision and HEAD share."""
    inside = run_git(project.root, "rev-parse", "--is-inside-work-tree")
    if inside.returncode != 0:
        remedy = "Name the suites instead, or run it in a clone."
        raise bad_value(OPTION, "the project is not in a Git repository", remedy)
    named = ("--verify", "--quiet", "--end-of-options", f"{revision}^{{commit}}")
    result = run_git(project.root, "rev-parse", *named)
    if result.returncode != 0 or not revision:
        remedy = "Name a commit, branch or tag that was fetched."
        raise bad_value(OPTION, f"{revision!r} is not a revision of this repository", remedy)
    commit = result.stdout.strip()
    shared = run_git(project.root, "merge-base", commit, HEAD)
    return shared.stdout.strip() or commit


def text_at(project: Project, commit: str, file: Path) -> str | None:
    """What a file held at a commit; None where it was not there."""
    done = run_git(project.root, "show", f"{commit}:./{_inside(project, file)}")
    return done.stdout.removeprefix("\ufeff") if done.returncode == 0 else None


def files_at(project: Project, commit: str, folder: Path) -> list[Path]:
    """The files that a folder of the project held at a commit."""
    listing = ("ls-tree", "--name-only", "-z", commit, f"{_inside(project, folder)}/")
    return [project.root / name for name in run_git(project.root, *listing).stdout.split("\0") if name]


def all_files_at(project: Project, commit: str, *folders: str) -> list[PurePosixPath]:
    """The files below some folders of the project at a commit, by their paths in the project."""
    listing = ("ls-tree", "-r", "--name-only", "-z", commit, *(f"{folder}/" for folder in folders))
    return [PurePosixPath(name) for name in run_git(project.root, *listing).stdout.split("\0") if name]


def blob_at(project: Project, commit: str, file: PurePosixPath) -> str:
    """What identifies the content of a file at a commit; blank where it was not there."""
    return run_git(project.root, "rev-parse", "--verify", "--quiet", f"{commit}:./{file}").stdout.strip()


@contextmanager
def checked_out(project: Project, commit: str) -> Iterator[Path]:
    """The project's folder as it was at a commit: a working tree of its own, which Git knows and forgets."""
    prefix = checked_git(project.root, "rev-parse", "--show-prefix").strip("\n")
    quiet = ("-c", "core.hooksPath=/dev/null", "-c", "advice.detachedHead=false")
    with TemporaryDirectory() as folder:
        tree = Path(folder).resolve() / "base"
        add = ("worktree", "add", "--quiet", "--detach", "--no-checkout")
        checked_git(project.root, *quiet, *add, str(tree), commit)
        try:
            checked_git(tree, *quiet, "checkout", "--quiet", commit, "--", prefix or ".")
            yield tree / prefix
        finally:
            run_git(project.root, "worktree", "remove", "--force", "--force", str(tree))


def extract(project: Project, commit: str, folder: Path, *names: str) -> None:
    """Put files and folders of the project as they were at a commit into a folder; nothing where one was not.

    What cannot be taken out, such as a link to elsewhere, is missing there.
    """
    done = subprocess.run(
        ["git", "archive", "--format=tar", commit, *names], cwd=project.root, capture_output=True, check=False
    )
    held = io.BytesIO(done.stdout)
    with suppress(tarfile.ReadError), tarfile.open(fileobj=held) as archive:  # nothing is no archive
        for member in archive:
            with suppress(OSError):  # a name that this file system does not take, say
                _place(archive, member, folder.resolve())


def _place(archive: tarfile.TarFile, member: tarfile.TarInfo, folder: Path) -> None:
    """Take a file or a link out of an archive; nothing where it would lie, or lead, outside of the folder.

    Filters of `tarfile` do the same, and early releases of Python 3.11 have none.
    """
    path = folder / member.name
    leads = path.parent / member.linkname if member.issym() else path
    if not all(Path(os.path.realpath(each)).is_relative_to(folder) for each in (path, leads)):
        return
    if member.issym():
        path.parent.mkdir(parents=True, exist_ok=True)
        path.symlink_to(member.linkname)
    elif held := archive.extractfile(member) if member.isfile() else None:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(held.read())


def _inside(project: Project, path: Path) -> str:
    return path.relative_to(project.root).as_posix()


def checked_git(folder: Path, *arguments: str) -> str:
    """What Git prints; bad input where it refuses."""
    done = run_git(folder, *arguments)
    if done.returncode != 0:
        raise bad_value(OPTION, f"Git says: {done.stderr.strip().partition(chr(10))[0]}")
    return done.stdout


def run_git(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Run Git in a folder."""
    try:
        return subprocess.run(
            ["git", *arguments],
            cwd=folder,
            capture_output=True,
            encoding="utf-8",
            errors="replace",
            check=False,
        )
    except OSError:
        remedy = "Install it, or name the suites."
        raise bad_value(OPTION, "Git is not installed", remedy) from None
