"""The board of a run: what its workers say there is read by who handed out their work."""

from __future__ import annotations

from eval_pipeline.engines import Journal
from eval_pipeline_tests.engines.journals import Clock


def test_the_latest_of_every_shard_is_read_until_the_run_is_over(journal: Journal) -> None:
    board = journal.board
    assert not board.is_open("run")
    journal.begin_run("run")
    journal.begin_run("other")
    assert board.is_open("run")
    for shard, news in (("1", b"a"), ("2", b"b"), ("1", b"c")):
        board.post("run", shard, news)
    assert board.news("run") == {"1": b"c", "2": b"b"}
    board.close("run")
    assert not board.is_open("run")
    assert board.news("run") == {}
    assert board.is_open("other")


def test_a_run_whose_driver_is_gone_is_forgotten(journal: Journal, clock: Clock) -> None:
    journal.begin_run("run")
    clock.now += 8 * 24 * 3600
    journal.begin_run("next")
    assert not journal.board.is_open("run")
