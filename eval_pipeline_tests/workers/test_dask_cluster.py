"""Workers of a real Dask cluster on loopback: what is handed in is done, though parts of it die."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from eval_pipeline.problems import BadInput
from eval_pipeline.workers import Done, Shards, Workers, WorkersLost, open_workers
from eval_pipeline_tests.sharding import DaskCluster, dask_cluster
from eval_pipeline_tests.workers.tasks import double, fail, say_who_and_wait


@pytest.fixture
def cluster(tmp_path: Path) -> Iterator[DaskCluster]:
    with dask_cluster(1, tmp_path / "cluster") as running:
        yield running


def all_of(workers: Workers, count: int) -> list[Done]:
    done: list[Done] = []
    while len(done) < count:
        done += workers.completed(1.0)
    return sorted(done)


def test_what_is_handed_in_is_done_though_a_worker_dies(cluster: DaskCluster, tmp_path: Path) -> None:
    said = tmp_path / "worker"
    with open_workers(Shards(dask=cluster.address)) as workers:
        for number in range(4):
            workers.submit(number, double, number)
        assert all_of(workers, 4) == [Done(each, 2 * each) for each in range(4)]
        workers.submit(4, say_who_and_wait, str(said))
        while not said.exists():
            assert list(workers.completed(0.1)) == []
        said.unlink()
        cluster.workers[0].kill()
        cluster.add_worker()
        while not said.exists():
            assert list(workers.completed(0.1)) == []


def test_what_a_task_raises_is_raised_here(cluster: DaskCluster) -> None:
    with open_workers(Shards(dask=cluster.address)) as workers:
        workers.submit(0, fail, 7)
        with pytest.raises(LookupError, match="there is no 7"):
            all_of(workers, 1)


def test_a_scheduler_that_is_lost_is_named(cluster: DaskCluster, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("eval_pipeline.workers.dask_cluster.CONNECT_SECONDS", 1.0)
    with open_workers(Shards(dask=cluster.address)) as workers:
        workers.submit(0, double, 1)
        assert all_of(workers, 1) == [Done(0, 2)]
        cluster.scheduler.kill()
        workers.submit(1, double, 1)
        with pytest.raises(WorkersLost, match="is gone"):
            all_of(workers, 1)


def test_a_cluster_without_workers_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("eval_pipeline.workers.dask_cluster.LONGEST_ABSENCE", 0.5)
    with (
        dask_cluster(0, tmp_path / "cluster") as cluster,
        open_workers(Shards(dask=cluster.address)) as workers,
    ):
        workers.submit(0, double, 1)
        with pytest.raises(WorkersLost, match="has no worker"):
            all_of(workers, 1)


def test_a_scheduler_that_nobody_finds_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("eval_pipeline.workers.dask_cluster.CONNECT_SECONDS", 0.5)
    with pytest.raises(WorkersLost, match="cannot be reached"):
        open_workers(Shards(dask="tcp://127.0.0.1:9")).__enter__()


def test_without_the_package_it_is_said_which(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "distributed", None)
    with pytest.raises(BadInput, match=r"pip install 'eval-pipeline\[dask\]'"):
        open_workers(Shards(dask="tcp://127.0.0.1:9")).__enter__()
