"""Pointers lose no move, wherever they lie and however many move them."""

from __future__ import annotations

import functools
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from eval_pipeline.store.objects import ObjectStorage
from eval_pipeline.store.pointers import KEPT_MOVES, DatabasePointers, ObjectPointers, Pointers, change
from eval_pipeline_tests.object_storage import S3
from eval_pipeline_tests.postgres import Server

THREADS, MOVES = 4, 6


@pytest.fixture(params=["file", "s3", "sqlite", "postgresql"])
def pointers(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Pointers]:
    """Pointers of every kind."""
    if request.param == "file":
        yield ObjectPointers(ObjectStorage(f"file://{tmp_path}/shared"))
    elif request.param == "s3":
        server: S3 = request.getfixturevalue("s3")
        yield ObjectPointers(ObjectStorage(server.new_folder()))
    elif request.param == "sqlite":
        with DatabasePointers(f"sqlite:///{tmp_path}/pointers.sqlite") as opened:
            yield opened
    else:
        postgres: Server = request.getfixturevalue("postgres")
        with DatabasePointers(postgres.new_schema()) as opened:
            yield opened


def test_a_pointer_moves_only_from_where_it_was_seen(pointers: Pointers) -> None:
    assert pointers.get("outputs/toy/v1") is None
    assert pointers.move("outputs/toy/v1", 0, "one")
    assert not pointers.move("outputs/toy/v1", 0, "another first")
    assert pointers.move("outputs/toy/v1", 1, "two")
    assert not pointers.move("outputs/toy/v1", 1, "another second")
    assert pointers.get("outputs/toy/v1") == (2, "two")
    pointers.drop("outputs/toy/v1")
    assert pointers.get("outputs/toy/v1") is None


def test_names_are_listed_by_how_they_begin(pointers: Pointers) -> None:
    for name in ("a/b", "a/b/c", "a/bc", "b", "a_/b"):
        assert pointers.move(name, 0, name)
    assert pointers.names("a/b") == ["a/b", "a/b/c", "a/bc"]
    assert pointers.names("a/b/") == ["a/b/c"]
    assert pointers.names("a_") == ["a_/b"]
    assert pointers.names("") == ["a/b", "a/b/c", "a/bc", "a_/b", "b"]
    assert pointers.get("a/b") == (1, "a/b")


def with_word(text: str, word: str) -> str:
    return text + word


def test_no_move_is_lost_where_many_move(pointers: Pointers) -> None:
    def move_often(mover: int) -> None:
        for number in range(MOVES):
            change(pointers, "shared", functools.partial(with_word, word=f"{mover}.{number} "))

    with ThreadPoolExecutor(THREADS) as threads:
        list(threads.map(move_often, range(THREADS)))
    found = pointers.get("shared")
    assert found is not None
    assert found.number == THREADS * MOVES
    words = found.text.split()
    assert sorted(words) == sorted(f"{mover}.{number}" for mover in range(THREADS) for number in range(MOVES))
    for mover in range(THREADS):
        own = [word for word in words if word.startswith(f"{mover}.")]
        assert own == sorted(own), "each one's moves are in their order"


def test_who_is_very_late_moves_nothing(pointers: Pointers) -> None:
    for number in range(KEPT_MOVES + 3):
        assert pointers.move("late", number, str(number))
    for seen in range(KEPT_MOVES + 2):
        assert not pointers.move("late", seen, "late"), seen
    assert pointers.get("late") == (KEPT_MOVES + 3, str(KEPT_MOVES + 2))


def test_old_places_are_deleted(tmp_path: Path) -> None:
    storage = ObjectStorage(f"file://{tmp_path}/shared")
    pointers = ObjectPointers(storage)
    for number in range(3 * KEPT_MOVES):
        assert pointers.move("name", number, str(number))
    assert len(storage.inside("pointers/name")) == KEPT_MOVES
    assert pointers.get("name") == (3 * KEPT_MOVES, str(3 * KEPT_MOVES - 1))
