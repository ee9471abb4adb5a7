"""A small slice of `make hostile`, and what it takes for broken."""

from __future__ import annotations

import random
import signal
from pathlib import Path

import pytest

from benchmarks.hostile import damage, faults, forks, kills, projects, targets, templates
from benchmarks.hostile.commands import Outcome, attempt, load
from benchmarks.hostile.mutations import DAMAGE, HARMLESS
from benchmarks.hostile.tally import broken, ended, table
from eval_pipeline.project import Project

SUITES = ("grounded_qa", "heritage_retrieval")


@pytest.fixture(scope="module", autouse=True)
def _loaded() -> None:
    load()


def test_damaged_files_are_refused_or_noticed(tmp_path: Path) -> None:
    project = projects.shipped(tmp_path / "project", reviewed=False)
    pristine = projects.Pristine(project, tmp_path / "copy")
    found = [target for suite in SUITES for target in targets.of_suite(project, project.golden(suite))]
    attacker = damage.Attacker(pristine, seed=1)
    tried = [attacker.do(attack) for attack in damage.attacks(found, 1)[::13]]
    assert broken(tried) == []
    assert {each.end for each in tried} == {"refused", "accepted"}
    assert pristine.changed() == set()


def test_writes_that_are_killed_and_a_template(tmp_path: Path) -> None:
    project = projects.toy(tmp_path / "project", evaluated=False)
    pristine = projects.Pristine(project, tmp_path / "copy")
    tried = kills.kill_all(pristine, ("golden freeze", "prompt new"))
    tried += templates.try_templates(pristine, ("1,000 filters",))
    assert broken(tried) == []
    assert len(tried) > 15


PULL_REQUESTS = (
    "a link in place of the gates",
    "rules that Git leaves out",
    "its own approval",
    "other recorded outputs",
    "another function",
    "an engine of its own",
)
"""Those that no other test tries as a command."""


def test_pull_requests(tmp_path: Path) -> None:
    pristine = projects.Pristine(forks.repository(tmp_path / "project"), tmp_path / "copy")
    tried = forks.attack(pristine, PULL_REQUESTS)
    assert broken(tried) == []
    assert {each.end for each in tried} == {"refused"}


def test_an_endpoint_that_misbehaves_in_one_answer(tmp_path: Path) -> None:
    project = projects.toy(tmp_path / "project", evaluated=False)
    pristine = projects.Pristine(project, tmp_path / "copy")
    tried = faults.misbehave(pristine, ("trailers without end", "as many tokens as there are"))
    assert broken(tried) == []


@pytest.mark.parametrize(
    ("outcome", "trouble"),
    [
        (Outcome(0, "fine", "", 1.0, 1000), ""),
        (Outcome(2, "", "a problem", 1.0, 1000), ""),
        (Outcome(2, "", "", 1.0, 1000), "exit 2 without a word"),
        (Outcome(70, "", "KeyError: 'a'\n", 1.0, 1000), "traceback: KeyError: 'a'"),
        (Outcome(-signal.SIGALRM, "", "", 0.0, 1000), "hung: 0 s of processor time"),
        (Outcome(0, "", "", 21.0, 1000), "hung: 21 s of processor time"),
        (Outcome(0, "", "", 1.0, 2**21), "took 2,048 MB"),
        (Outcome(-signal.SIGSEGV, "", "", 1.0, 1000), "exit -11: "),
    ],
)
def test_what_counts_as_broken(outcome: Outcome, trouble: str) -> None:
    assert outcome.trouble == trouble


def test_a_file_that_a_kill_left_half_written_is_found(toy: Project, tmp_path: Path) -> None:
    pristine = projects.Pristine(toy, tmp_path / "copy")
    file = toy.golden("toy") / "gates.yaml"
    whole = {"golden/toy/gates.yaml": b"new"}
    file.write_text("new")
    assert kills.torn(pristine, whole) == ""
    file.write_text("ne")
    assert kills.torn(pristine, whole) == "golden/toy/gates.yaml is neither the old nor the new one"
    file.unlink()
    assert kills.torn(pristine, whole) == "golden/toy/gates.yaml is neither the old nor the new one"
    pristine.restore()
    assert kills.torn(pristine, whole) == ""


def test_a_child_that_crashes_is_seen(toy: Project) -> None:
    result = attempt(toy, "golden", "check", "toy", prepared=lambda: 1 / 0)
    assert result.trouble == "traceback: ZeroDivisionError: division by zero"


@pytest.mark.parametrize("name", [*DAMAGE, *HARMLESS])
def test_a_seed_makes_the_same_damage_again(name: str) -> None:
    mutate = {**DAMAGE, **HARMLESS}[name]
    data = b'{"a": 1, "b": "text"}\n{"a": 2}\n'
    once = [mutate(data, random.Random(seed)) for seed in range(9)]
    assert once == [mutate(data, random.Random(seed)) for seed in range(9)]
    assert any(each != data for each in once)
    assert all(mutate(b"", random.Random(seed)) is not None for seed in range(9))


def test_the_table_counts_ends() -> None:
    tried = [
        ended("cut", "gates", ""),
        ended("cut", "gates", "", refused=True),
        ended("cut", "gates", "hung"),
    ]
    assert table(tried).splitlines()[1].split() == ["cut", "gates", "3", "1", "1", "1"]
    assert broken(tried) == ["1 × cut on gates: hung"]
