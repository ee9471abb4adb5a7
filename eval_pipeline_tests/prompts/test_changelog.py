"""The changelog of prompts, as text before and after."""

from __future__ import annotations

import datetime
import multiprocessing
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from eval_pipeline.problems import BadInput
from eval_pipeline.project import Project
from eval_pipeline.prompts import (
    edit_changelog,
    opening,
    read_changelog,
    stop_at_placeholder,
    with_activation,
    with_entry,
    with_evaluation,
)
from eval_pipeline.prompts.changelog import BEGIN, END

DAY = datetime.date(2026, 3, 1)
TABLE = "| Metric | a |\n|---|---|\n| accuracy | 90.0 % |"
OLD = "# Log\n\n## p v1.1 (2026-02-01, candidate)\n\n- More\n\n## p v1.0 (2026-01-01, active)\n\n- First\n"


def test_a_folder_without_a_changelog_begins_one(tmp_path: Path) -> None:
    assert read_changelog(tmp_path, "toy") == "# Changelog of the toy prompts\n"
    (tmp_path / "CHANGELOG.md").write_bytes(b"# Log\r\n")
    assert read_changelog(tmp_path, "toy") == "# Log\n"


def test_an_entry_stands_before_all_others() -> None:
    assert with_entry("# Log\n", "p-v1.0", "candidate", "- x", DAY) == (
        "# Log\n\n## p v1.0 (2026-03-01, candidate)\n\n- x\n"
    )
    assert with_entry("# Log\n\n## p v1.0 (x, active)\n", "p-v1.1", "candidate", "- x", DAY) == (
        "# Log\n\n## p v1.1 (2026-03-01, candidate)\n\n- x\n\n## p v1.0 (x, active)\n"
    )


def test_an_activation_changes_what_entries_say() -> None:
    after = with_activation(OLD, "p-v1.1", ["p-v1.0"], DAY)
    assert after == (
        "# Log\n\n## p v1.1 (2026-02-01, active)\n\n- More\n\n## p v1.0 (2026-01-01, archived)\n\n- First\n"
    )
    assert with_activation(after, "p-v1.1", [], DAY) == after


def test_a_version_without_an_entry_gets_one() -> None:
    first = with_activation("# Log\n", "p-v1.0", [], DAY)
    assert first == (
        "# Log\n\n## p v1.0 (2026-03-01, active)\n\n### Notes\n- No entry was begun for this version.\n"
    )


WRITTEN = f"{BEGIN}\n### Metrics impact\n\n{TABLE}\n{END}\n"
HAND = "### Notes\n- By hand, with ### in it and | a | bar |\n"


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("- More\n", f"- More\n\n{WRITTEN}"),
        (f"- More\n\n{HAND}", f"- More\n\n{WRITTEN}\n{HAND}"),
        (f"- More\n\n{BEGIN}\nold\n{END}\n\n{HAND}", f"- More\n\n{WRITTEN}\n{HAND}"),
        (f"### Metrics impact\n| a |\n|---|\n| 1 |\n\n{HAND}", f"{WRITTEN}\n{HAND}"),
        (f"### Metrics impact\n\n| a |\n|---|\nMine.\n{HAND}", f"{WRITTEN}Mine.\n{HAND}"),
    ],
    ids=["nothing", "notes", "written before", "a bare table", "a table with words"],
)
def test_an_evaluation_takes_its_place_and_no_other(before: str, after: str) -> None:
    head = "# Log\n\n## p v1.1 (2026-02-01, candidate)\n\n"
    tail = "\n## p v1.0 (2026-01-01, active)\n- First\n"
    once = with_evaluation(f"{head}{before}{tail}", "p-v1.1", TABLE)
    assert once == f"{head}{after}{tail}"
    assert with_evaluation(once, "p-v1.1", TABLE) == once
    assert with_evaluation(once, "p-v2.0", TABLE) == once, "without an entry nothing is written"
    assert with_evaluation(f"{head}{before}", "p-v1.1", TABLE) == f"{head}{after}", "at the end as well"


@given(st.text(alphabet=st.sampled_from("#-|<>! \nabv1.0()"), max_size=120))
def test_whatever_people_write_stays(text: str) -> None:
    """What is not between the marks, nor a bare table, comes out as it went in."""
    changelog = f"# Log\n\n## p v1.0 (x, active)\n\n{text}\n### Notes\n- n\n"
    once = with_evaluation(changelog, "p-v1.0", "numbers")
    assert with_evaluation(once, "p-v1.0", "numbers") == once
    left = once.replace(f"{BEGIN}\n### Metrics impact\n\nnumbers\n{END}\n", "", 1)
    assert left.split() == changelog.split()


def test_an_entry_that_says_nothing_is_a_problem_with_its_line(tmp_path: Path) -> None:
    before = "# Log\n\n## p v1.0 (x, active)\n- First\n"
    text = with_entry(before, "p-v1.1", "candidate", opening("p-v1.0"), DAY)
    (tmp_path / "CHANGELOG.md").write_text(text)
    with pytest.raises(BadInput) as refused:
        stop_at_placeholder(tmp_path, "toy", "p-v1.1")
    (problem,) = refused.value.problems
    assert text.splitlines()[problem.line - 1] == "- (what changes from p-v1.0, and why)"
    assert (problem.field, problem.file.endswith("CHANGELOG.md")) == ("Changes", True)
    for version in ("p-v1.0", "p-v9.9"):
        stop_at_placeholder(tmp_path, "toy", version)
    (tmp_path / "CHANGELOG.md").write_text(text.replace("(what changes from p-v1.0, and why)", "Asks twice"))
    stop_at_placeholder(tmp_path, "toy", "p-v1.1")


def _add(root: str, number: int) -> None:
    project = Project(Path(root), Path(root) / ".eval")
    edit_changelog(project, "toy", lambda text: f"{text}- {number}\n")


def test_processes_that_write_at_once_lose_nothing(tmp_path: Path) -> None:
    (tmp_path / "prompts" / "toy").mkdir(parents=True)
    context = multiprocessing.get_context("forkserver")
    processes = [context.Process(target=_add, args=(str(tmp_path), number)) for number in range(4)]
    for process in processes:
        process.start()
    for process in processes:
        process.join()
    lines = (tmp_path / "prompts" / "toy" / "CHANGELOG.md").read_text().splitlines()
    assert sorted(lines[1:]) == [f"- {number}" for number in range(4)]
    project = Project(tmp_path, tmp_path / ".eval")
    assert not edit_changelog(project, "toy", lambda text: text), "nothing changed"
