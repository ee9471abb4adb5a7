"""A small version of `python -m benchmarks.kills`."""

from __future__ import annotations

import pytest

from benchmarks.kills import Plan, Trouble, plans, promise, run_and_kill


def test_a_run_that_is_killed_again_and_again_loses_nothing() -> None:
    told: list[str] = []
    run_and_kill(kills=3, cases=40, trials=2, seed=7, say=told.append)
    assert sum("killed" in line for line in told) >= 2


def test_every_phase_is_hit() -> None:
    import random

    found = plans(20, 600, 5.0, random.Random(1))
    assert len(found) == 20
    assert {plan.phase for plan in found} == {"starting", "asking", "finishing"}
    assert found[-1].phase == "finishing"
    assert str(Plan("asking", calls=3)) == "asking (after 3 calls)"


def test_a_broken_promise_is_told() -> None:
    with pytest.raises(Trouble, match="lost"):
        promise(False, "something was lost")
