"""Object storages: the same on every kind, and faults that pass or are told."""

from __future__ import annotations

import errno
import os
from pathlib import Path
from types import SimpleNamespace

import pytest

from eval_pipeline.problems import BadInput
from eval_pipeline.store.objects import PIECE, ObjectStorage
from eval_pipeline_tests.object_storage import BUCKET, S3


def test_objects_are_kept_listed_and_deleted(store_url: str, tmp_path: Path) -> None:
    storage = ObjectStorage(store_url)
    file = tmp_path / "file"
    file.write_bytes(b"content")
    assert storage.inside("folder") == storage.below("folder") == []
    assert storage.read("folder/one") is None
    storage.upload(file, "folder/one")
    storage.upload(file, "folder/inner/two")
    assert storage.has("folder/one")
    assert storage.read("folder/one") == b"content"
    assert storage.inside("folder") == ["one"]
    assert storage.below("folder") == ["folder/inner/two", "folder/one"]
    storage.download("folder/inner/two", tmp_path / "copy")
    assert (tmp_path / "copy").read_bytes() == b"content"
    age = storage.age("folder/one")
    assert age is not None
    assert -5 < age < 60
    assert storage.age("folder/none") is None
    storage.delete("folder/one")
    storage.delete("folder/one")
    assert not storage.has("folder/one")


def test_an_object_is_created_once(store_url: str) -> None:
    storage = ObjectStorage(store_url)
    assert storage.can_create
    assert storage.create("a/b", b"first")
    assert not storage.create("a/b", b"second")
    assert storage.create("a/b", b"first"), "who is told so only by the second attempt made it, too"
    assert storage.read("a/b") == b"first"


def test_a_file_of_several_pieces_arrives_whole(s3: S3, tmp_path: Path) -> None:
    storage, file = ObjectStorage(s3.new_folder()), tmp_path / "large"
    file.write_bytes(os.urandom(2 * PIECE + 12_345))
    storage.upload(file, "large")
    storage.download("large", tmp_path / "copy")
    assert (tmp_path / "copy").read_bytes() == file.read_bytes()


@pytest.mark.usefixtures("_asked_again_at_once")
@pytest.mark.parametrize("fault", ["refused", "lost", "late"])
def test_a_fault_that_passes_is_not_seen(s3: S3, fault: str) -> None:
    storage = ObjectStorage(s3.new_folder())
    for attempt in ("one", "two"):
        s3.faults.fail("PUT", fault)
        assert storage.create(attempt, b"content")
        s3.faults.fail("GET", fault)
        assert storage.read(attempt) == b"content"


def test_a_storage_that_stays_away_is_told(s3: S3) -> None:
    with pytest.raises(BadInput, match="s3:// cannot be used") as caught:
        ObjectStorage("s3://no-such-bucket/folder").create("one", b"")
    assert "See to its server, to EVAL_PIPELINE_STORE" in str(caught.value)
    assert f"s3://{BUCKET}" not in str(caught.value)


@pytest.mark.parametrize("url", ["folder", "/folder", "s3://", "s3:", "nonsense://folder"])
def test_what_is_no_storage_is_refused(url: str) -> None:
    with pytest.raises(BadInput, match="store: "):
        ObjectStorage(url).has("one")


def test_a_storage_that_fails_has_not_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    def failing(*_: object, **__: object) -> None:
        raise OSError(errno.EIO, "something went wrong")

    storage = ObjectStorage("s3://bucket/folder")
    monkeypatch.setattr(ObjectStorage, "_opened", (SimpleNamespace(pipe_file=failing), "bucket/folder"))
    monkeypatch.setattr(ObjectStorage, "has", lambda *_: True)
    with pytest.raises(BadInput, match="something went wrong"):
        assert storage.can_create
