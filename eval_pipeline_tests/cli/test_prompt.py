"""Beginning a prompt version and making one active, as a person does it."""

from __future__ import annotations

import datetime
import itertools
import os
import shutil
from pathlib import Path
from typing import Any
from unittest import mock

import pytest

from eval_pipeline import prompts
from eval_pipeline.project import Project
from eval_pipeline.prompts import as_written
from eval_pipeline_tests.cli.recorded_toy import make_project, prompt_file, record, write_prompt
from eval_pipeline_tests.running import begin, command, command_line, ended, invoke

FRONT = """---
# Whose prompt this is
suite: toy   # the toy
status: active  # since spring
predecessor: guess-v0.9  # it guessed less
description: >
  Names the animal,

  and nothing else.
# Who answers
engine: embedded
---
"""
BODY = """status: active
predecessor: nobody
---
Which animal says {{ sound }}?
"""


@pytest.fixture
def fresh(toy: Project) -> Project:
    """A toy whose active version has every kind of line, after an archived one."""
    write_prompt(toy, "guess-v0.9", "status: archived")
    prompt_file(toy, "guess-v1.0").write_text(FRONT + BODY)
    return toy


def statuses(project: Project) -> dict[str, str]:
    files = sorted(project.prompts("toy").glob("*-v*.md"))
    written = {file.stem: as_written(file.read_text(encoding="utf-8-sig")) for file in files}
    return {version: each.front.status for version, each in written.items() if each}


def changelog(project: Project) -> Path:
    return project.prompts("toy") / "CHANGELOG.md"


@pytest.fixture
def begun() -> datetime.date:
    """The day on which a test began: at midnight a command may write of it or of the next."""
    return datetime.date.today()


def undated(text: str, begun: datetime.date) -> str:
    """What a changelog says, with `TODAY` for the day of the test."""
    days = {begun, datetime.date.today()}
    (written,) = [day for day in days if f"({day}, " in text]
    return text.replace(f"({written}, ", "(TODAY, ")


def test_a_new_version_is_a_copy_that_follows_the_active_one(fresh: Project, begun: datetime.date) -> None:
    done = command(fresh, "prompt", "new", "toy", "guess", "--minor")
    assert done.returncode == 0, done.stderr
    assert done.stdout == (
        "prompts/toy/guess-v1.1.md is a copy of guess-v1.0.\n"
        "Say what changes in prompts/toy/CHANGELOG.md, then run:\n"
        "eval-pipeline run toy --prompt guess-v1.1\n"
    )
    assert prompt_file(fresh, "guess-v1.1").read_text() == (
        "---\n"
        "# Whose prompt this is\n"
        "suite: toy   # the toy\n"
        "status: candidate  # since spring\n"
        "predecessor: guess-v1.0  # it guessed less\n"
        "# Who answers\n"
        "engine: embedded\n"
        "---\n" + BODY
    )
    assert prompt_file(fresh, "guess-v1.0").read_text() == FRONT + BODY
    assert undated(changelog(fresh).read_text(), begun) == (
        "# Changelog of the toy prompts\n\n"
        "## guess v1.1 (TODAY, candidate)\n\n"
        "### Changes\n- (what changes from guess-v1.0, and why)\n"
    )


@pytest.mark.parametrize(
    ("others", "step", "version"),
    [
        ((), "--minor", "guess-v1.1"),
        ((), "--major", "guess-v2.0"),
        (("guess-v1.9", "guess-v2.3"), "--minor", "guess-v1.10"),
        (("guess-v1.9", "guess-v2.3"), "--major", "guess-v3.0"),
        (("guess-more-v7.0",), "--major", "guess-v2.0"),
    ],
)
def test_numbers_are_never_used_twice(
    fresh: Project, others: tuple[str, ...], step: str, version: str
) -> None:
    for other in others:
        write_prompt(fresh, other, "status: candidate")
    done = invoke(fresh, "prompt", "new", "toy", "guess", step)
    assert done.returncode == 0, done.stderr
    assert prompt_file(fresh, version).is_file()
    assert statuses(fresh)[version] == "candidate"


def test_entries_of_the_changelog_stand_newest_first(fresh: Project, begun: datetime.date) -> None:
    changelog(fresh).write_bytes(
        b"# Changelog\r\n\r\nOf the toy.\r\n\r\n## guess v1.0 (2026-01-01, active)\r\n- x\r\n"
    )
    assert invoke(fresh, "prompt", "new", "toy", "guess", "--major").returncode == 0
    assert undated(changelog(fresh).read_bytes().decode(), begun) == (
        "# Changelog\r\n\r\nOf the toy.\r\n\r\n"
        "## guess v2.0 (TODAY, candidate)\r\n\r\n"
        "### Changes\r\n- (what changes from guess-v1.0, and why)\r\n\r\n"
        "## guess v1.0 (2026-01-01, active)\r\n- x\r\n"
    )


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (("guess",), "--minor or --major: is missing. Say how large the change is."),
        (("other", "--minor"), "name: no version of 'other' is active. Prompts of toy: guess."),
        (("guess-v1.0", "--minor"), "name: no version of 'guess-v1.0' is active."),
    ],
)
def test_what_cannot_be_begun(fresh: Project, arguments: tuple[str, ...], told: str) -> None:
    done = invoke(fresh, "prompt", "new", "toy", *arguments)
    assert done.returncode == 2
    assert told in done.stderr
    assert sorted(statuses(fresh)) == ["guess-v0.9", "guess-v1.0"]
    assert not changelog(fresh).exists()


def test_no_version_is_begun_from_two_active_ones_or_from_what_cannot_be_edited(fresh: Project) -> None:
    shutil.copy(prompt_file(fresh, "guess-v1.0"), prompt_file(fresh, "guess-v1.1"))
    doubled = command(fresh, "prompt", "new", "toy", "guess", "--minor")
    assert doubled.returncode == 2
    assert "guess-v1.0 is active too" in doubled.stderr
    prompt_file(fresh, "guess-v1.1").unlink()
    prompt_file(fresh, "guess-v1.0").write_text("---\n{suite: toy, status: active}\n---\nstatus: active\n")
    flow = invoke(fresh, "prompt", "new", "toy", "guess", "--minor")
    assert flow.returncode == 2
    assert "its front matter is written in a way that cannot be edited" in flow.stderr
    assert sorted(statuses(fresh)) == ["guess-v0.9", "guess-v1.0"]


RIGHT = {
    "guess-v1.0": ("active", 90),
    "guess-v1.1": ("candidate", 99),
    "guess-v1.2": ("candidate", 78),
    "guess-v1.3": ("candidate", 40),
    "ask-v1.0": ("archived", 80),
    "ask-v1.1": ("active", 99),
    "ask-v1.2": ("candidate", 85),
}
"""Versions with their status, and how many of a hundred answers are right."""


@pytest.fixture(scope="module")
def original(tmp_path_factory: pytest.TempPathFactory) -> Project:
    """Two prompts whose versions have all been evaluated; baselines are guess-v1.0 and ask-v1.0."""
    project = make_project(tmp_path_factory.mktemp("prompt") / "toy")
    for version, (status, right) in RIGHT.items():
        write_prompt(project, version, f"status: {status}  # as of now", "engine: recorded")
        record(project, version, right)
    done = invoke(project, "run", "toy", "--prompt", "all")
    assert done.returncode == 1, done.stderr  # guess-v1.3 fails
    freeze = invoke(project, "golden", "freeze", "toy", "--reason", "looks right", "--by", "Ada")
    assert freeze.returncode == 0, freeze.stderr
    for version in ("guess-v1.0", "ask-v1.0"):
        done = invoke(project, "baseline", "promote", "toy", version, "--reason", "the first", "--by", "Ada")
        assert done.returncode == 0, done.stderr
    return project


@pytest.fixture
def evaluated(original: Project, tmp_path: Path) -> Project:
    root = tmp_path / "copy"
    shutil.copytree(original.root, root)
    return Project(root, root / ".eval")


def content(project: Project) -> dict[str, bytes]:
    return {file.name: file.read_bytes() for file in project.prompts("toy").iterdir()}


def test_a_better_version_becomes_active_and_the_old_one_is_archived(evaluated: Project) -> None:
    changelog(evaluated).write_text(
        "# Changelog\n\n"
        "## guess v1.1 (2026-02-01, candidate)\n\n### Changes\n- Says more\n\n"
        "## guess v1.0 (2026-01-01, active)\n\n### Changes\n- The first\n"
    )
    before = content(evaluated)
    done = command(evaluated, "prompt", "activate", "toy", "guess-v1.1")
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("guess-v1.1 is active; guess-v1.0 is archived.\nNote: The model differs: ")
    after = content(evaluated)
    expected = {
        "guess-v1.1.md": (b"status: candidate", b"status: active"),
        "guess-v1.0.md": (b"status: active", b"status: archived"),
    }
    for name, old in before.items():
        if name != "CHANGELOG.md":
            assert after[name] == (old.replace(*expected[name]) if name in expected else old)
    assert after.keys() == before.keys(), "nothing is deleted, nothing appears"
    told = changelog(evaluated).read_text()
    assert told.startswith(
        "# Changelog\n\n## guess v1.1 (2026-02-01, active)\n\n### Changes\n- Says more\n\n"
        "<!-- written by eval-pipeline, anew by every run -->\n"
        "### Metrics impact\n\nAgainst v1.0, on recorded, 100 cases × 1 trial:\n\n"
        "| Metric | v1.0 | v1.1 | Delta |\n|---|---|---|---|\n| accuracy | 90.0 % | 99.0 % | +9.0 pp |\n"
    )
    assert "- accuracy improved in 9 cases: " in told
    assert "- guess-v1.1 passes.\n" in told
    assert told.endswith("\n\n## guess v1.0 (2026-01-01, archived)\n\n### Changes\n- The first\n")
    again = invoke(evaluated, "prompt", "activate", "toy", "guess-v1.1")
    assert again.returncode == 0
    assert again.stdout.startswith("guess-v1.1 is active.\n")
    assert content(evaluated) == after


def test_a_changelog_without_an_entry_gets_one(evaluated: Project, begun: datetime.date) -> None:
    assert invoke(evaluated, "prompt", "activate", "toy", "guess-v1.1").returncode == 0
    told = undated(changelog(evaluated).read_text(), begun)
    assert told.startswith(
        "# Changelog of the toy prompts\n\n## guess v1.1 (TODAY, active)\n\n"
        "<!-- written by eval-pipeline, anew by every run -->\n### Metrics impact\n"
    )
    assert told.count("### Metrics impact") == 1


def test_a_version_whose_entry_says_nothing_is_not_activated(evaluated: Project) -> None:
    changelog(evaluated).write_text(
        "# Changelog\n\n## guess v1.1 (2026-02-01, candidate)\n\n"
        "### Changes\n- (what changes from guess-v1.0, and why)\n"
    )
    before = content(evaluated)
    done = invoke(evaluated, "prompt", "activate", "toy", "guess-v1.1")
    assert done.returncode == 2
    assert done.stderr.startswith(
        "prompts/toy/CHANGELOG.md:6: Changes: the entry of guess-v1.1 does not say what changes. "
        "Put in place of the placeholder what changes, and why.\n"
    )
    assert content(evaluated) == before


ENTRIES = "# Log\n\n" + "".join(
    f"## guess v1.{minor} (2026-01-01, candidate)\n\n### Notes\n- Mine {minor}.\n\n" for minor in (3, 1)
)


def test_a_run_writes_the_entry_of_its_version_and_a_rejected_one_says_why(evaluated: Project) -> None:
    changelog(evaluated).write_text(ENTRIES)
    assert invoke(evaluated, "run", "toy", "--prompt", "guess-v1.3").returncode == 1
    told = changelog(evaluated).read_text()
    assert "- guess-v1.3 is blocked: accuracy: 40.0 % is in the fail zone (< 50 %); against baseline " in told
    assert "- accuracy regressed in 50 cases: " in told
    assert "| v1.0 | v1.3 | Delta |\n|---|---|---|---|\n| accuracy | 90.0 % | 40.0 % | −50.0 pp |\n" in told
    for minor in (1, 3):
        assert f"### Notes\n- Mine {minor}.\n" in told
    written = changelog(evaluated).stat().st_mtime_ns
    assert invoke(evaluated, "run", "toy", "--prompt", "guess-v1.3").returncode == 1
    assert changelog(evaluated).stat().st_mtime_ns == written, "the same numbers write nothing"
    done = invoke(evaluated, "prompt", "changelog", "toy")
    assert done.returncode == 0, done.stderr
    assert "guess-v1.3: its entry stays as it is." in done.stdout
    assert "guess-v1.1: its entry is written anew." in done.stdout
    assert "ask-v1.0: has no entry in prompts/toy/CHANGELOG.md." in done.stdout


def test_an_entry_does_not_depend_on_what_else_was_evaluated(evaluated: Project) -> None:
    """On another machine the version before was never evaluated: what the entry says of it stays."""
    file = prompt_file(evaluated, "guess-v1.3")
    file.write_text(file.read_text().replace("status:", "predecessor: guess-v1.2\nstatus:"))
    changelog(evaluated).write_text(ENTRIES)
    assert invoke(evaluated, "run", "toy", "--prompt", "guess-v1.3").returncode == 1
    told = changelog(evaluated).read_text()
    assert "| Metric | v1.2 | v1.3 | Delta |" in told
    shutil.rmtree(evaluated.state / "outputs" / "toy" / "guess-v1.2")
    assert invoke(evaluated, "run", "toy", "--prompt", "guess-v1.3").returncode == 1
    assert changelog(evaluated).read_text() == told


@pytest.mark.parametrize(
    "option", [("--sample", "nightly-2026-01-01"), ("--engine", "embedded"), ("--cases", "2")]
)
def test_nights_and_experiments_write_nothing(evaluated: Project, option: tuple[str, str]) -> None:
    changelog(evaluated).write_text(ENTRIES)
    assert invoke(evaluated, "run", "toy", "--prompt", "guess-v1.1", *option).returncode in (0, 1)
    assert changelog(evaluated).read_text() == ENTRIES


def test_a_changelog_that_cannot_be_read_loses_no_numbers(evaluated: Project) -> None:
    changelog(evaluated).write_bytes(b"# Log\n\xff\n")
    done = invoke(evaluated, "run", "toy", "--prompt", "guess-v1.1")
    assert done.returncode == 0, done.stderr
    assert "changelog: " in done.stderr
    assert "is not UTF-8" in done.stderr


@pytest.mark.parametrize(
    ("version", "told"),
    [
        ("guess-v1.2", "against baseline guess-v1.0 (in use): "),
        ("guess-v1.3", "accuracy: 40.0 % is in the fail zone (< 50 %)."),
        ("ask-v1.2", "against ask-v1.1 (in use): "),
        (
            "guess-v1.4",
            "guess-v1.4: was never evaluated on all cases. Run: eval-pipeline run toy --prompt guess-v1.4",
        ),
        ("guess-v1.5", "guess-v1.5: changed since it was evaluated, or the golden set did. Run: "),
    ],
)
def test_what_the_numbers_do_not_allow_is_refused(evaluated: Project, version: str, told: str) -> None:
    write_prompt(evaluated, "guess-v1.4", "status: candidate", "engine: recorded")
    if version == "guess-v1.5":  # evaluated under this name, and edited since
        folder = evaluated.state / "outputs" / "toy"
        shutil.copytree(folder / "guess-v1.1", folder / "guess-v1.5")
        write_prompt(evaluated, "guess-v1.5", "status: candidate", "engine: recorded", body="{{ sound }}!\n")
    before = content(evaluated)
    done = invoke(evaluated, "prompt", "activate", "toy", version)
    assert done.returncode == 1, done.stderr
    assert done.stderr.startswith(f"{version} cannot become active:\n")
    assert told in done.stderr
    assert done.stdout == ""
    assert content(evaluated) == before


def test_better_than_the_baseline_is_not_enough(evaluated: Project) -> None:
    done = command(evaluated, "prompt", "activate", "toy", "ask-v1.2")
    assert done.returncode == 1
    assert "baseline" not in done.stderr


@pytest.mark.parametrize("missing", [True, False])
def test_a_version_is_not_replaced_unseen(evaluated: Project, missing: bool) -> None:
    """Without an evaluation of what is replaced, nobody knows whether the new one is worse."""
    if missing:  # the baseline is another version: it does not stand for the one in use
        record(evaluated, "ask-v1.2", 99)
        assert invoke(evaluated, "run", "toy", "--prompt", "ask-v1.2").returncode == 0
        shutil.rmtree(evaluated.state / "outputs" / "toy" / "ask-v1.1")
    else:
        file = prompt_file(evaluated, "guess-v1.0")
        file.write_text(file.read_text() + "More.\n")
    version = "ask-v1.2" if missing else "guess-v1.1"
    done = invoke(evaluated, "prompt", "activate", "toy", version)
    assert done.returncode == 1
    before = "ask-v1.1" if missing else "guess-v1.0"
    assert (
        f"not compared with what it would replace: {version}: was not compared with {before} (in use) yet. "
        f"Run: eval-pipeline run toy --prompt {version}\n"
    ) in done.stderr
    assert f"eval-pipeline approve toy {version} --metric replaced --reason …" in done.stderr
    assert statuses(evaluated)[version] == "candidate"


def test_a_version_whose_answers_are_the_baseline_was_seen(evaluated: Project) -> None:
    shutil.rmtree(evaluated.state / "outputs" / "toy" / "guess-v1.0")
    assert invoke(evaluated, "prompt", "activate", "toy", "guess-v1.1").returncode == 0


def test_an_archived_version_comes_back_only_past_the_active_one(evaluated: Project) -> None:
    done = invoke(evaluated, "prompt", "activate", "toy", "ask-v1.0")
    assert done.returncode == 1
    assert "against ask-v1.1 (in use): " in done.stderr
    assert "eval-pipeline approve toy ask-v1.0 --against ask-v1.1 --metric accuracy" in done.stderr


def test_a_golden_set_that_changed_wants_a_new_evaluation(evaluated: Project) -> None:
    with (evaluated.golden("toy") / "cases" / "sounds.jsonl").open("a") as file:
        file.write('{"id": "cow", "sound": "moo", "animal": "cow"}\n')
    done = invoke(evaluated, "prompt", "activate", "toy", "guess-v1.1")
    assert done.returncode == 1
    assert "changed since it was evaluated, or the golden set did" in done.stderr


@pytest.mark.parametrize("place", ["guess-v1.0.md", "CHANGELOG.md"])
def test_nothing_is_written_unless_everything_can_be(evaluated: Project, place: str) -> None:
    """Flow style cannot be edited line by line, and says the same as lines do."""
    file = evaluated.prompts("toy") / place
    if place == "CHANGELOG.md":
        file.write_bytes(b"# Changelog\n\xff\n")
    else:
        body = file.read_text().split("---\n")[2]
        file.write_text(f"---\n{{suite: toy, status: active, engine: recorded}}\n---\n{body}")
    before = content(evaluated)
    done = invoke(evaluated, "prompt", "activate", "toy", "guess-v1.1")
    assert done.returncode == 2, done.stdout + done.stderr
    told = "is not UTF-8" if place == "CHANGELOG.md" else "cannot be edited"
    assert told in done.stderr
    assert content(evaluated) == before


@pytest.mark.parametrize(
    ("version", "told"),
    [("guess-v9.9", "guess-v9.9.md does not exist"), ("../../x-v1.0", "is not a version name")],
)
def test_only_what_is_there_can_become_active(evaluated: Project, version: str, told: str) -> None:
    done = invoke(evaluated, "prompt", "activate", "toy", version)
    assert done.returncode == 2
    assert told in done.stderr


def die_after(writes: int, *arguments: str) -> None:
    """Be a command that is killed before it writes another file."""
    left = itertools.count(writes, -1)
    write = prompts.write_edited

    def dying(*given: Any) -> None:
        if not next(left):
            os._exit(9)
        write(*given)

    with mock.patch.object(prompts, "write_edited", dying):
        command_line(*arguments)


@pytest.mark.parametrize("writes", [0, 1, 2])
def test_killed_at_any_write_it_is_noticed_and_finished_by_the_same_command(
    evaluated: Project, writes: int
) -> None:
    """The new version is made active first: two active ones are refused by name, none might go unseen."""
    arguments = ("prompt", "activate", "toy", "guess-v1.1")
    assert ended(begin(evaluated, die_after, writes, *arguments)) == 9
    active = [name for name, status in statuses(evaluated).items() if status == "active"]
    assert "ask-v1.1" in active
    assert len(active) == (3 if writes == 1 else 2)
    if writes == 1:
        for reader in (
            ("run", "toy", "--dry-run"),
            ("gate", "toy"),
            ("prompt", "new", "toy", "guess", "--minor"),
        ):
            done = command(evaluated, *reader)
            assert done.returncode == 2, reader
            assert "guess-v1.0 is active too" in done.stderr
    assert command(evaluated, *arguments).returncode == 0
    assert {name for name, status in statuses(evaluated).items() if status == "active"} == {
        "ask-v1.1",
        "guess-v1.1",
    }
    assert "### Metrics impact" in changelog(evaluated).read_text()
