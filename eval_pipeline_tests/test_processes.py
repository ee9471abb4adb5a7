"""Work in several processes, and which of them are still there."""

from __future__ import annotations

import os

from eval_pipeline.processes import in_processes, is_gone, this_process, usable_processors


def test_results_come_in_the_order_of_the_tasks() -> None:
    base = 40
    assert in_processes([lambda: base + 1, lambda: base + 2, lambda: base + 3]) == [41, 42, 43]


def test_the_first_task_runs_here_and_the_others_do_not() -> None:
    here, there = in_processes([os.getpid, os.getpid])
    assert here == os.getpid() != there


def test_a_process_that_ends_early_has_no_result() -> None:
    assert in_processes([lambda: 1, lambda: os._exit(3), lambda: 2]) == [1, None, 2]


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
    for name in ("", "elsewhere/1", "no-number", f"{this_process()}0".partition("/")[0], f"{'9' * 30}/1"):
        assert not is_gone(name)
    host = this_process().partition("/")[0]
    assert not is_gone(f"{host}/{'9' * 30}")
    assert not is_gone(f"{host}/-1")
