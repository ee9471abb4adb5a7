"""Files of a project as they were at a commit: whatever somebody committed, nothing lands elsewhere."""

from __future__ import annotations

import io
import subprocess
import tarfile
from pathlib import Path

import pytest

from eval_pipeline.project import Project
from eval_pipeline.revisions import extract, person


def git(folder: Path, *arguments: str) -> None:
    identity = ("-c", "user.name=Ada", "-c", "user.email=ada@example.org")
    subprocess.run(["git", *identity, *arguments], cwd=folder, check=True)


def repository(folder: Path) -> Project:
    folder.mkdir()
    git(folder, "init", "--quiet")
    return Project(folder, folder / ".eval")


def test_a_person_has_one_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert person("Zoe\u0308  K. ") == person("Zo\u00eb K.") == "Zo\u00eb K."
    git(repository(tmp_path / "project").root, "config", "user.name", " Ame\u0301lie")
    monkeypatch.chdir(tmp_path / "project")
    assert person() == person("") == person(" \u00a0") == "Am\u00e9lie"


def test_files_and_links_among_them_are_taken_out(tmp_path: Path) -> None:
    project = repository(tmp_path / "project")
    golden = project.root / "golden" / "a"
    golden.mkdir(parents=True)
    (golden / "cases.jsonl").write_text("{}\n")
    (golden / "program.sh").write_text("exit\n")
    (golden / "program.sh").chmod(0o755)
    (golden / "same.jsonl").symlink_to("cases.jsonl")
    (golden / "itself").symlink_to("itself")
    (golden / "out.jsonl").symlink_to("../../../outside")
    (golden / "etc").symlink_to("/etc")
    (golden / "to_itself").symlink_to("itself")
    git(project.root, "add", "--all")
    git(project.root, "commit", "--quiet", "--message", "All of it")
    taken = tmp_path / "taken"
    taken.mkdir()
    extract(project, "HEAD", taken, "golden")
    there = {path.name for path in (taken / "golden" / "a").iterdir()}
    assert there == {"cases.jsonl", "program.sh", "same.jsonl", "itself", "to_itself"}
    assert (taken / "golden" / "a" / "same.jsonl").read_text() == "{}\n"
    extract(project, "HEAD", taken, "prompts")  # was not there
    assert [path.name for path in taken.iterdir()] == ["golden"]


def test_an_archive_that_climbs_out_puts_nothing_there(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Git refuses to write one; nobody need rely on that."""
    elsewhere = tmp_path / "elsewhere"
    links = {"golden/up": ".."}
    files = (
        "golden/fine",
        "golden/../climbed",
        "../climbed",
        str(elsewhere),
        "golden/up/in",
        "golden/up/../out",
    )
    held = io.BytesIO()
    with tarfile.open(fileobj=held, mode="w") as archive:
        for name in (*links, *files):
            member = tarfile.TarInfo(name)
            member.type, member.linkname = (
                tarfile.SYMTYPE if name in links else tarfile.REGTYPE,
                links.get(name, ""),
            )
            archive.addfile(member)
    done = subprocess.CompletedProcess([], 0, held.getvalue(), b"")
    monkeypatch.setattr(subprocess, "run", lambda *_, **__: done)
    taken = tmp_path / "taken"
    taken.mkdir()
    extract(Project(tmp_path, tmp_path), "HEAD", taken, "golden")
    there = {path.relative_to(tmp_path).as_posix() for path in tmp_path.rglob("*") if path.is_file()}
    assert there == {"taken/golden/fine", "taken/climbed", "taken/in"}
