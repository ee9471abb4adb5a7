"""An object storage by its URL: whatever fsspec knows, such as s3://, gs://, abfs:// or file://."""

from __future__ import annotations

import os
import shutil
import time
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cached_property
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, Any

from eval_pipeline.problems import BadInput, bad_value
from eval_pipeline.secrets import keep_secret

if TYPE_CHECKING:
    from fsspec import AbstractFileSystem

STORE_VARIABLE = "EVAL_PIPELINE_STORE"
CONDITIONAL = frozenset({"s3", "s3a", "gs", "gcs"})
"""Storages that may create an object only where there is none, by one request."""
LOCAL = frozenset({"file", "local"})
PROBE = "probe"
"""An object that tells whether a storage overwrites what it was told not to."""
REFUSALS = frozenset({"PreconditionFailed", "412", "ConditionalRequestConflict"})
CONNECT_SECONDS, READ_SECONDS = 10, 60
ATTEMPTS = 5
PIECE, PIECES = 16 * 2**20, 4
"""Bytes of a piece of a file, and so many pieces are on their way at once."""


class ObjectStorage:
    """The objects below a URL, by their path there. Nothing is remembered of what was listed or read."""

    def __init__(self, url: str) -> None:
        self.url = url.rstrip("/")
        protocol, separator, rest = self.url.partition("://")
        if not separator or not rest:
            remedy = f"Set {STORE_VARIABLE} to s3://bucket/folder, gs://…, abfs://… or file:///folder."
            raise bad_value("store", "is not the URL of an object storage", remedy)
        keep_secret(rest.rpartition("@")[0].partition(":")[2])
        self.protocol = protocol.partition("::")[0]

    @cached_property
    def can_create(self) -> bool:
        """Whether an object can be created only where there is none: not every server keeps to it."""
        if self.protocol in LOCAL:
            return True
        if self.protocol not in CONDITIONAL:
            return False
        return not all(self._create(PROBE, b"", probing=True) for _ in range(2))

    def has(self, place: str) -> bool:
        """Whether there is an object."""
        with self._told():
            return bool(self._files.exists(self._path(place)))

    def read(self, place: str) -> bytes | None:
        """What an object holds; None where there is none."""
        with self._told():
            try:
                content: bytes = self._files.cat_file(self._path(place))
            except FileNotFoundError:
                return None
            return content

    def create(self, place: str, content: bytes) -> bool:
        """Make an object, unless there is one with another content.

        A request that is sent again, since its response was lost, finds what it made itself.
        """
        return self._create(place, content) or self.read(place) == content

    def _create(self, place: str, content: bytes, *, probing: bool = False) -> bool:
        path = self._path(place)
        with self._told():
            if self.protocol in LOCAL:
                return _create_file(Path(path), content)
            try:
                self._files.pipe_file(path, content, mode="create")
            except OSError as error:  # servers have several words for it
                if not (_is_refusal(error) if probing else self.has(place)):
                    raise
                return False
            return True

    def upload(self, file: Path, place: str) -> None:
        """Copy a file there, in pieces; it appears whole, or not at all."""
        path = self._path(place)
        with self._told():
            if self.protocol in LOCAL:
                _copy_file(file, Path(path))
            else:
                self._files.put_file(str(file), path, **self._pieces)

    def download(self, place: str, file: Path) -> None:
        """Copy an object to a file, in pieces."""
        with self._told():
            self._files.get_file(self._path(place), str(file), **self._pieces)

    def delete(self, place: str) -> None:
        """Delete an object, if there is one."""
        with self._told():
            try:
                self._files.rm_file(self._path(place))
            except FileNotFoundError:
                return

    def age(self, place: str) -> float | None:
        """Seconds since an object was made; None where there is none."""
        with self._told():
            try:
                made = self._files.modified(self._path(place))
            except FileNotFoundError:
                return None
        return time.time() - float(made.timestamp())

    def inside(self, folder: str) -> list[str]:
        """The names of the objects of a folder."""
        with self._told():
            try:
                found = self._files.ls(self._path(folder), detail=True)
            except FileNotFoundError:
                return []
            return sorted(PurePosixPath(each["name"]).name for each in found if each["type"] == "file")

    def below(self, folder: str) -> list[str]:
        """The paths of all objects below a folder."""
        with self._told():
            found = self._files.find(self._path(folder))
            root = self._path("").rstrip("/") + "/"
            return sorted(each.removeprefix(root) for each in found if not _is_aside(each))

    def _path(self, place: str) -> str:
        return f"{self._root}/{place}" if place else self._root

    @cached_property
    def _opened(self) -> tuple[AbstractFileSystem, str]:
        from fsspec import url_to_fs

        options: dict[str, Any] = {} if self.protocol in LOCAL else {"use_listings_cache": False}
        if self._is_s3:
            retries = {"max_attempts": ATTEMPTS, "mode": "standard"}
            limits = {"connect_timeout": CONNECT_SECONDS, "read_timeout": READ_SECONDS, "retries": retries}
            options["config_kwargs"] = limits
        try:
            files, root = url_to_fs(self.url, **options)
        except ImportError as error:
            remedy = "Run: pip install 'eval-pipeline[s3]', or the package that fsspec names."
            raise bad_value("store", f"{self.protocol}:// cannot be used: {error}", remedy) from None
        except ValueError as error:
            remedy = f"Set {STORE_VARIABLE} to a URL that fsspec knows."
            raise bad_value("store", f"{self.protocol}:// cannot be used: {error}", remedy) from None
        return files, root.rstrip("/")

    @property
    def _is_s3(self) -> bool:
        return self.protocol in ("s3", "s3a")

    @property
    def _pieces(self) -> dict[str, int]:
        """How much of a file is in memory; other storages than S3 have modest pieces of their own."""
        return {"chunksize": PIECE, "max_concurrency": PIECES} if self._is_s3 else {}

    @property
    def _files(self) -> AbstractFileSystem:
        return self._opened[0]

    @property
    def _root(self) -> str:
        return self._opened[1]

    @contextmanager
    def _told(self) -> Iterator[None]:
        """Say what is wrong with a storage: every kind of it raises errors of its own."""
        try:
            yield
        except BadInput:
            raise
        except Exception as error:
            reason = f"{type(error).__name__}: {str(error).partition(chr(10))[0]}"
            remedy = f"See to its server, to {STORE_VARIABLE} and to the credentials; then run again."
            raise bad_value("store", f"{self.protocol}:// cannot be used: {reason}", remedy) from None


def _is_refusal(error: OSError) -> bool:
    """Whether a server said that there is an object, and not just that something went wrong."""
    response = getattr(error.__cause__, "response", None) or {}
    return isinstance(error, FileExistsError) or response.get("Error", {}).get("Code") in REFUSALS


def _create_file(path: Path, content: bytes) -> bool:
    """A link is made only where there is no file, and what it leads to is whole."""
    path.parent.mkdir(parents=True, exist_ok=True)
    aside = _aside(path)
    try:
        aside.write_bytes(content)
        os.link(aside, path)
    except FileExistsError:
        return False
    finally:
        aside.unlink(missing_ok=True)
    return True


def _copy_file(file: Path, path: Path) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    aside = _aside(path)
    try:
        shutil.copyfile(file, aside)
        aside.replace(path)
    finally:
        aside.unlink(missing_ok=True)


def _aside(path: Path) -> Path:
    return path.with_name(f".{path.name}.{uuid.uuid4().hex}.tmp")


def _is_aside(path: str) -> bool:
    name = PurePosixPath(path).name
    return name.startswith(".") and name.endswith(".tmp")
