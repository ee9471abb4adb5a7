"""Work in several processes."""

from __future__ import annotations

import os

from eval_pipeline.processes import in_processes, usable_processors


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
