"""Work in several processes, and which of them are still there."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from eval_pipeline.processes import in_processes, in_turns, is_gone, this_process, usable_processors


def test_results_come_in_the_order_of_the_tasks() -> None:
    base = 40
    assert in_processes([lambda: base + 1, lambda: base + 2, lambda: base + 3]) == [41, 42, 43]


def test_the_first_task_runs_here_and_the_others_do_not() -> None:
    here, there = in_processes([os.getpid, os.getpid])
    assert here == os.getpid() != there


def test_a_process_that_ends_early_has_no_result() -> None:
    assert in_processes([lambda: 1, lambda: os._exit(3), lambda: 2]) == [1, None, 2]


def test_everything_has_its_turn_once_and_results_are_in_order(tmp_path: Path) -> None:
    def take(number: int) -> int:
        (tmp_path / f"{number} {os.getpid()}").touch()
        return 2 * number

    assert in_turns(take, range(20)) == list(range(0, 40, 2))
    assert sorted(int(file.name.split()[0]) for file in tmp_path.iterdir()) == list(range(20))
    assert in_turns(take, []) == []


def test_what_a_process_that_ended_early_had_taken_is_done_here() -> None:
    here = os.getpid()

    def take(number: int) -> int:
        return number if os.getpid() == here else os._exit(3)

    assert in_turns(take, range(9)) == list(range(9))


def test_there_is_always_a_processor() -> None:
    assert usable_processors() >= 1


def test_a_process_that_is_gone() -> None:
    there, gone = in_processes([this_process, this_process])
    assert there is not None
    assert gone is not None
    assert not is_gone(there)
    assert not is_gone(f"{there}/whatever")
    assert is_gone(gone)
    assert is_gone(f"{gone}/whatever")


def test_of_processes_elsewhere_nothing_is_known() -> None:
    place, pid, started = this_process().split("/")
    host, boot, namespace = place.split(":", 2)
    elsewhere = [
        f"elsewhere:{boot}:{namespace}",  # another machine
        f"{host}:{boot[::-1]}:{namespace}",  # another machine of the same name
        f"{host}:{boot}:pid:[1]",  # another container of the same name
        f"{host}:unknown",
        host,
    ]
    for other in elsewhere:
        assert not is_gone(f"{other}/999999999/1")
    for name in ("", "no-number", f"{place}/-1/{started}", f"{place}/{pid}", f"{place}/{pid}/never"):
        assert not is_gone(name)
    assert is_gone(f"{place}/999999999/1")


def test_another_process_with_the_same_number_is_another() -> None:
    place, pid, started = this_process().split("/")
    assert not is_gone(f"{place}/{pid}/{started}/more")
    assert is_gone(f"{place}/{pid}/{int(started) - 1}/more")


def test_where_no_place_can_be_told_from_another_nobody_is_gone(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(_: Path) -> Path:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr("eval_pipeline.processes.Path.readlink", refuse)
    assert not is_gone(f"{this_process().split('/')[0]}/999999999/1")
