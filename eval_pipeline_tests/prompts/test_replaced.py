"""What a version would take the place of, in real Git repositories and without one."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import pytest

from eval_pipeline.problems import BadInput, Problems
from eval_pipeline.project import Project
from eval_pipeline.prompts import Replaced, load_prompt, replaced_by
from eval_pipeline.revisions import HEAD
from eval_pipeline.suites import find_suite
from eval_pipeline_tests.cli.recorded_toy import prompt_file, write_prompt
from eval_pipeline_tests.conftest import TOY, copy_toy

OLD, ACTIVE, NEW = "guess-v0.9", "guess-v1.0", "guess-v1.1"
EDITED = "Say which animal says {{ sound }}.\n"


def git(project: Project, *arguments: str) -> str:
    identity = ("-c", "user.name=Ada", "-c", "user.email=ada@example.org", "-c", "core.hooksPath=/dev/null")
    done = subprocess.run(
        ["git", *identity, *arguments], cwd=project.root, capture_output=True, text=True, check=True
    )
    return done.stdout.strip()


def commit(project: Project) -> str:
    git(project, "add", "--all")
    git(project, "commit", "--quiet", "--allow-empty", "--message", "A change")
    return git(project, "rev-parse", HEAD)


@pytest.fixture
def repository(tmp_path: Path) -> Project:
    """A project below the root of its repository: an active version, and the archived one before it."""
    project = copy_toy(TOY, tmp_path / "below" / "toy")
    for file in project.prompts("toy").glob("*.md"):
        file.unlink()
    write_prompt(project, OLD, "status: archived")
    write_prompt(project, ACTIVE, "status: active", f"predecessor: {OLD}")
    git(Project(tmp_path, tmp_path), "init", "--quiet")
    commit(project)
    return project


def status(project: Project, version: str, new: str) -> None:
    """Change a version's status and nothing else."""
    file = prompt_file(project, version)
    text = file.read_text()
    file.write_text(
        "\n".join(f"status: {new}" if line[:7] == "status:" else line for line in text.split("\n"))
    )


def replaced(project: Project, version: str, revision: str = HEAD) -> Replaced:
    suite = find_suite(project, "toy")
    prompt = load_prompt(suite, project.prompts("toy"), version, Problems())
    assert prompt is not None
    return replaced_by(project, suite, prompt, revision)


def nothing(project: Project) -> None:
    """Leave everything as it is."""


def new_candidate(project: Project) -> None:
    write_prompt(project, NEW, "status: candidate", f"predecessor: {ACTIVE}", body=EDITED)


def edited(project: Project) -> None:
    write_prompt(project, ACTIVE, "status: active", f"predecessor: {OLD}", body=EDITED)


def other_parameters(project: Project) -> None:
    write_prompt(project, ACTIVE, "status: active", f"predecessor: {OLD}", "description: Shorter.")


def edited_candidate(project: Project) -> None:
    new_candidate(project)
    commit(project)
    write_prompt(project, NEW, "status: candidate", f"predecessor: {ACTIVE}", body=f"Now: {EDITED}")


def new_active(project: Project) -> None:
    """What `prompt activate` leaves, in one change with the new version."""
    new_candidate(project)
    status(project, ACTIVE, "archived")
    status(project, NEW, "active")


def activated(project: Project) -> None:
    new_candidate(project)
    commit(project)
    status(project, ACTIVE, "archived")
    status(project, NEW, "active")


def activated_and_deleted(project: Project) -> None:
    activated(project)
    prompt_file(project, ACTIVE).unlink()
    write_prompt(project, NEW, "status: active")


def renamed(project: Project) -> None:
    git(project, "mv", f"prompts/toy/{ACTIVE}.md", f"prompts/toy/{NEW}.md")
    write_prompt(project, NEW, "status: active", body=EDITED)


def withdrawn(project: Project) -> None:
    status(project, ACTIVE, "candidate")


def none_active(project: Project) -> None:
    status(project, ACTIVE, "archived")
    commit(project)
    new_candidate(project)


def none_active_and_edited(project: Project) -> None:
    none_active(project)
    commit(project)
    write_prompt(project, NEW, "status: candidate", f"predecessor: {ACTIVE}")


def a_first_version(project: Project) -> None:
    write_prompt(project, "other-v1.0", "status: candidate")


def new_prompt(project: Project) -> None:
    write_prompt(project, "other-v1.0", "status: active")
    write_prompt(project, "other-v1.1", "status: candidate")


def other_line_ends(project: Project) -> None:
    file = prompt_file(project, ACTIVE)
    file.write_bytes(b"\xef\xbb\xbf" + file.read_bytes().replace(b"\n", b"\r\n"))


def detached(project: Project) -> None:
    git(project, "checkout", "--quiet", "--detach")
    edited(project)


def broken_before(project: Project) -> None:
    """A version that could not be read is repaired."""
    text = prompt_file(project, ACTIVE).read_text()
    prompt_file(project, ACTIVE).write_text("Which animal?\n")
    commit(project)
    prompt_file(project, ACTIVE).write_text(text)


def unusable_before(project: Project) -> None:
    text = prompt_file(project, ACTIVE).read_text()
    prompt_file(project, ACTIVE).write_text(text.replace("{{ sound }}", "{{ noise }}"))
    commit(project)
    prompt_file(project, ACTIVE).write_text(text)


def decayed_bystander(project: Project) -> None:
    prompt_file(project, OLD).write_text("---\nsuite: toy\nstatus: archived\nwhim: 1\n---\nx\n")
    commit(project)
    edited(project)


def broken_beside(project: Project) -> None:
    new_candidate(project)
    prompt_file(project, ACTIVE).write_text("Which animal?\n")


class Row(NamedTuple):
    """A change, the version in question, and what it replaces as people read it."""

    change: Callable[[Project], None]
    version: str
    label: str
    body: str = ""
    missing: str = ""
    note: str = ""


BODY = "Which animal"
ROWS = [
    Row(nothing, ACTIVE, ""),
    Row(new_candidate, NEW, f"{ACTIVE} (in use)", BODY),
    Row(new_candidate, ACTIVE, ""),
    Row(edited, ACTIVE, f"{ACTIVE} (in use, as of HEAD)", BODY),
    Row(other_parameters, ACTIVE, f"{ACTIVE} (in use, as of HEAD)", BODY),
    Row(edited_candidate, NEW, f"{ACTIVE} (in use)", BODY),
    Row(new_active, NEW, f"{ACTIVE} (in use)", BODY),
    Row(activated, NEW, f"{ACTIVE} (in use)", BODY),
    Row(activated_and_deleted, NEW, f"{ACTIVE} (in use, as of HEAD)", BODY),
    Row(renamed, NEW, f"{ACTIVE} (in use, as of HEAD)", BODY),
    Row(withdrawn, ACTIVE, ""),
    Row(none_active, NEW, f"{ACTIVE} (predecessor)", BODY),
    Row(none_active_and_edited, NEW, f"{NEW} (as of HEAD)", EDITED),
    Row(a_first_version, "other-v1.0", "", note="other-v1.0 is not in Git as of HEAD: compared with the"),
    Row(new_prompt, "other-v1.1", "other-v1.0 (in use)", BODY),
    Row(new_prompt, "other-v1.0", "", note="other-v1.0 is not in Git as of HEAD"),
    Row(other_line_ends, ACTIVE, ""),
    Row(detached, ACTIVE, f"{ACTIVE} (in use, as of HEAD)", BODY),
    Row(broken_before, ACTIVE, "", missing=rf"{ACTIVE}\.md at [0-9a-f]{{7}}:1: has no front matter"),
    Row(unusable_before, ACTIVE, "", missing=rf"{ACTIVE}\.md at [0-9a-f]{{7}}:\d+: template: uses the unkn"),
    Row(decayed_bystander, ACTIVE, f"{ACTIVE} (in use, as of HEAD)", BODY),
    Row(broken_beside, NEW, "", missing=rf"{ACTIVE}\.md:1: has no front matter"),
]


@pytest.mark.parametrize("row", ROWS, ids=[f"{row.change.__name__} {row.version}" for row in ROWS])
def test_what_is_replaced(repository: Project, row: Row) -> None:
    row.change(repository)
    found = replaced(repository, row.version)
    assert found.label == row.label
    assert (found.prompt is not None) == bool(row.label)
    assert found.prompt is None or found.prompt.body.startswith(row.body)
    for pattern, text in ((row.missing, found.missing), (row.note, found.note)):
        assert re.search(pattern or "^$", text)


def test_a_revision_further_back(repository: Project) -> None:
    base = git(repository, "rev-parse", HEAD)
    git(repository, "branch", "base")
    edited(repository)
    commit(repository)
    assert replaced(repository, ACTIVE) == Replaced()
    for revision in (base, "base"):
        found = replaced(repository, ACTIVE, revision)
        assert found.label == f"{ACTIVE} (in use, as of {base[:7]})"
        assert found.prompt is not None
        assert found.prompt.commit == base
        assert found.prompt.path == prompt_file(repository, ACTIVE)


def test_a_revision_that_was_not_fetched_is_bad_input(repository: Project, tmp_path: Path) -> None:
    base = git(repository, "rev-parse", HEAD)
    edited(repository)
    commit(repository)
    git(repository, "clone", "--quiet", "--depth", "1", f"file://{tmp_path}", str(tmp_path / "shallow"))
    shallow = tmp_path / "shallow" / "below" / "toy"
    with pytest.raises(BadInput, match="is not a revision of this repository"):
        replaced(Project(shallow, tmp_path), ACTIVE, base)
    assert replaced(Project(shallow, tmp_path), ACTIVE) == Replaced()


@pytest.mark.parametrize("why", ["no repository", "no commit", "no Git"])
def test_without_git_nobody_knows_of_edits(toy: Project, monkeypatch: pytest.MonkeyPatch, why: str) -> None:
    told = "the project is not in a Git repository"
    monkeypatch.setenv("GIT_CEILING_DIRECTORIES", str(toy.root.parent))
    if why == "no commit":
        git(toy, "init", "--quiet")
        told = "'HEAD' is not a revision of this repository"
    if why == "no Git":
        monkeypatch.setenv("PATH", str(toy.root))
        told = "Git is not installed"
    found = replaced(toy, ACTIVE)
    assert found.note == f"{told}: compared with the baseline alone, since nobody knows what it replaces"
    assert found == Replaced(note=found.note)
    new_candidate(toy)
    assert replaced(toy, NEW).label == f"{ACTIVE} (in use)"
