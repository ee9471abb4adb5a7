"""What of a change gets into the base's tree, and what does not, wherever it leads."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from eval_pipeline.decisions import change_since, measured_tree, named_by_whose, rules_at
from eval_pipeline.problems import shown_path, tree_of
from eval_pipeline.project import Project
from eval_pipeline_tests.cli import measured
from eval_pipeline_tests.cli.measured import ACTIVE, CANDIDATE, declare_anew, edit, git, record, write
from eval_pipeline_tests.declaring import NAME

GOLDEN = f"golden/{NAME}"


@pytest.fixture
def project(tmp_path: Path) -> Project:
    """A project that is committed."""
    project = measured.make_project(tmp_path / "own")
    measured.begin(project)
    return project


@contextmanager
def laid_over(project: Project) -> Iterator[tuple[Path, set[str]]]:
    """The base with the change laid over it, and what was laid."""
    change = change_since(project, "main")
    with (
        rules_at(project, change.base) as judged,
        measured_tree(project, judged, change, [NAME]) as (tree, laid),
    ):
        yield tree, set(map(str, laid))
    assert git(project, "worktree", "list").count("\n") == 0
    assert not tree.exists()


def weaken_everything(project: Project) -> set[str]:
    """Every part of the measure is another one; what is left out of the tree."""
    declare_anew(project, scores=[{"not_contains": "xyzzy"}], cases="cases.jsonl")
    edit(project, f"{GOLDEN}/gates.yaml", "< 0.6", "< 0.1")
    edit(project, "lib/checks.py", "return same", "return True or same")
    edit(project, "lib/helper.py", "one == other", "True")
    edit(project, "engines.yaml", "recorded/{suite}", "perfect/{suite}")
    for name in ("settings.yaml", "judge.jsonl", "signoff.json", "approvals/a.json", "baseline/b.json"):
        write(project, f"{GOLDEN}/{name}", "{}")
    write(project, f"perfect/{NAME}/{ACTIVE}.jsonl", "{}")
    return {str(file) for file in change_since(project, "main").files}


def test_nothing_of_a_measure_is_laid_over_the_base(project: Project) -> None:
    measure = weaken_everything(project)
    measured.prompt(project, CANDIDATE, "candidate")
    record(project, ACTIVE, 3)
    edit(project, "bot.py", "'bug'", "'other'")
    edit(project, f"{GOLDEN}/cases.jsonl", "Ticket 3", "Ticket three")
    with laid_over(project) as (tree, laid):
        subject = {f"recorded/{NAME}/{ACTIVE}.jsonl", f"prompts/{NAME}/{CANDIDATE}.md", "bot.py"}
        assert laid == {*subject, f"{GOLDEN}/cases.jsonl"}
        for name in laid:
            assert (tree / name).read_bytes() == (project.root / name).read_bytes()
        for name in measure:
            held = git(project, "ls-tree", "--name-only", "main", "--", name)
            assert (tree / name).exists() is bool(held), name
            if held:
                assert (tree / name).read_text().rstrip("\n") == git(project, "show", f"main:{name}")


def test_what_the_change_took_away_is_gone(project: Project) -> None:
    (project.prompts(NAME) / f"{ACTIVE}.md").unlink()
    (project.golden(NAME) / "suite.yaml").unlink()
    with laid_over(project) as (tree, laid):
        assert laid == {f"prompts/{NAME}/{ACTIVE}.md"}
        assert not (tree / "prompts" / NAME / f"{ACTIVE}.md").exists()
        assert (tree / GOLDEN / "suite.yaml").is_file()


def test_code_that_answers_and_scores_is_the_bases(project: Project) -> None:
    edit(project, "bot.py", "def answer", "from lib.helper import same\n\n\ndef answer")
    measured.commit(project)
    edit(project, "lib/helper.py", "one == other", "True")
    edit(project, "bot.py", "'bug'", "'other'")
    with laid_over(project) as (_, laid):
        assert laid == {"bot.py"}


def away(project: Project) -> Path:
    elsewhere = project.root.parent / "elsewhere"
    elsewhere.mkdir()
    (elsewhere / f"{ACTIVE}.md").write_text("---\nstatus: active\n---\n")
    return elsewhere


LINKS: dict[str, str] = {
    "of a suite": f"prompts/{NAME}",
    "of all prompts": "prompts",
    "of a golden set": GOLDEN,
    "of all golden sets": "golden",
}


@pytest.mark.parametrize("place", LINKS.values(), ids=list(LINKS))
@pytest.mark.parametrize("of_base", [False, True])
def test_nothing_is_written_or_deleted_through_a_link(project: Project, place: str, of_base: bool) -> None:
    """Folders of the change, or of the base, that lead elsewhere."""
    elsewhere, kept = away(project), project.root.parent / "kept"
    shutil.copytree(project.root / place, kept)
    shutil.rmtree(project.root / place)
    (project.root / place).symlink_to(elsewhere)
    if of_base:
        measured.commit(project)
        (project.root / place).unlink()
        shutil.copytree(kept, project.root / place)
    with laid_over(project) as (tree, _):
        assert (tree / "engines.yaml").is_file()
    assert [file.name for file in elsewhere.iterdir()] == [f"{ACTIVE}.md"]


def test_files_that_git_ignores_are_found_in_the_tree(project: Project) -> None:
    write(project, "index.bin", "large")
    write(project, ".eval/journal", "")
    with laid_over(project) as (tree, laid):
        assert (tree / "index.bin").read_text() == "large"
        assert not (tree / ".eval").exists()
        assert laid == set()


def test_a_project_below_the_root_of_its_repository(tmp_path: Path) -> None:
    outer = Project(tmp_path, tmp_path)
    project = measured.make_project(tmp_path / "inner")
    write(outer, "other/large.txt", "not needed")
    measured.begin(outer)
    declare_anew(project, id="text")
    record(project, ACTIVE, 3)
    with laid_over(project) as (tree, laid):
        assert tree.name == "inner"
        assert laid == {f"recorded/{NAME}/{ACTIVE}.jsonl"}
        assert not (tree.parent / "other").exists()


def test_a_file_is_named_by_whose_it_is(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    record(project, ACTIVE, 3)
    with laid_over(project) as (tree, laid):
        monkeypatch.chdir(tree)
        with tree_of(tree, "0123456"):
            said = [shown_path(tree / GOLDEN / "suite.yaml"), shown_path(f"recorded/{NAME}/{ACTIVE}.jsonl")]
        assert named_by_whose("\n".join(said), laid, "0123456").splitlines() == [
            f"{GOLDEN}/suite.yaml at 0123456",
            f"recorded/{NAME}/{ACTIVE}.jsonl",
        ]
        monkeypatch.chdir(project.root)
