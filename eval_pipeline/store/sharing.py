"""The store of several machines: files by their content in an object storage, and folders that name them.

A file is uploaded under the hash of its content and never changes; a pointer for each folder says which
content its files have now, and which is the latest. The state folder keeps copies of what was used here: a
copy and its entry in `objects/` are one file with two names, so that a copy that is out of date is known by
having another entry, and a file with one name is work of this machine that was not shared yet.
"""

from __future__ import annotations

import functools
import hashlib
import os
import re
import shutil
import time
import uuid
from collections.abc import Collection, Iterable
from contextlib import suppress
from pathlib import Path

import msgspec

from eval_pipeline.files import replacing, write_text
from eval_pipeline.problems import BadInput, Problems, bad_value
from eval_pipeline.project import prefix_of
from eval_pipeline.store.database import DATABASE_VARIABLE, shared_database
from eval_pipeline.store.names import LATEST, is_plain_name
from eval_pipeline.store.objects import STORE_VARIABLE, ObjectStorage
from eval_pipeline.store.pointers import DatabasePointers, ObjectPointers, Pointers, change

OBJECTS = "objects"
TOPS = ("golden", "outputs", "evaluations")
"""What of a state folder is shared; the rest is made of it, or of the database."""
FOLDERS = re.compile(rf"(?:^|/)(?:{'|'.join(TOPS)})/")
_CONTENT = re.compile(r"[0-9a-f]{64}")
SETTLED_SECONDS = 24 * 3600.0
"""An object that nothing names and that is as old as this is of nobody who is about to name it."""


class SharedFile(msgspec.Struct, frozen=True):
    """A file of a folder: the hash of its content, its size, and when it was shared."""

    content: str
    size: int
    at: float


class SharedFolder(msgspec.Struct):
    """The files of a folder, and which is the latest."""

    files: dict[str, SharedFile] = {}
    latest: str = ""


def shared_files(state: Path) -> SharedFiles | None:
    """The store that the environment names for a state folder; None where the folder is all there is."""
    url = os.environ.get(STORE_VARIABLE)
    return SharedFiles(state, ObjectStorage(url)) if url else None


def is_store_shared() -> bool:
    """Whether the environment names a store that several machines share."""
    return bool(os.environ.get(STORE_VARIABLE))


class SharedFiles:
    """The folders of a state folder, as all machines share them."""

    def __init__(self, state: Path, storage: ObjectStorage) -> None:
        self._state = state
        self._storage = storage
        self._pointers = _pointers(storage)
        self._above = prefix_of(state)

    @property
    def keeps_pointers(self) -> bool:
        """Whether pointers lie in the object storage itself, and not in the database."""
        return self._storage.can_create

    @property
    def pointers(self) -> Pointers:
        """Where folders are named, and what else is small and moves."""
        return self._pointers

    def take(self, folder: Path, *names: str) -> None:
        """Have some files of a folder here as they are now, and the pointer to its latest."""
        known = self.folder(folder)
        if known.latest and _text(folder / LATEST) != known.latest:
            write_text(folder / LATEST, known.latest)
        for name in names:
            if name in known.files:
                self._bring(folder / name, known.files[name])

    def give(self, folder: Path, names: Iterable[str] = (), latest: str = "") -> None:
        """Share files of a folder, and let one be its latest; what names them comes last."""
        files = {name: self._upload(folder / name) for name in names}

        def with_files(text: str) -> str:
            known = _decoded(text, self._name(folder))
            known.files |= files
            known.latest = latest or known.latest
            return _encoded(known)

        change(self._pointers, self._name(folder), with_files)

    def folders(self, folder: Path) -> list[str]:
        """The names of the folders inside of one."""
        prefix = f"{self._name(folder)}/"
        names = self._pointers.names(prefix)
        inside = {name.removeprefix(prefix).partition("/")[0] for name in names}
        return sorted(name for name in inside if is_plain_name(name))

    def forget(self, path: Path) -> None:
        """Share a file or a folder no longer."""
        name = self._name(path)
        for each in [name, *self._pointers.names(f"{name}/")]:
            self._pointers.drop(each)
        if path.name in self.folder(path.parent).files:
            change(
                self._pointers,
                self._name(path.parent),
                functools.partial(_without, name=self._name(path.parent), names={path.name}),
            )

    def forget_older(self, names: Collection[str], before: float, *, dry: bool = False) -> int:
        """Share files of such names no longer that were shared before a moment; how many these are."""
        count = 0
        for folder in self._pointers.names(self._name(self._state / "evaluations") + "/"):
            pointer = self._pointers.get(folder)
            files = _decoded(pointer.text if pointer else "", folder).files
            old = {name for name in names if name in files and files[name].at < before}
            count += len(old)
            if old and not dry:
                change(self._pointers, folder, functools.partial(_without, name=folder, names=old))
        return count

    def sweep(self) -> int:
        """Delete objects that no folder names any more, and say how many; those of hosts' prefixes, too."""
        named = {
            file.content
            for name in self._pointers.names("")
            if (pointer := self._pointers.get(name)) and FOLDERS.search(name)
            for file in _decoded(pointer.text, name).files.values()
        }
        unnamed = [each for each in self._storage.below(OBJECTS) if each.rpartition("/")[2] not in named]
        count = 0
        for place in unnamed if named else ():  # no name at all is a storage that does not show its pointers
            if (self._storage.age(place) or 0.0) >= SETTLED_SECONDS:
                self._storage.delete(place)
                count += 1
        for entry in (self._state / OBJECTS).glob("*/[!.]*"):
            with suppress(FileNotFoundError):
                if entry.stat().st_nlink == 1:  # no folder here has it any more
                    entry.unlink()
        return count

    def _name(self, folder: Path) -> str:
        return "/".join((*self._above, *folder.relative_to(self._state).parts))

    def folder(self, folder: Path) -> SharedFolder:
        """What is shared of a folder."""
        pointer = self._pointers.get(self._name(folder))
        return _decoded(pointer.text if pointer else "", self._name(folder))

    def _upload(self, file: Path) -> SharedFile:
        """Share a file as it is now; one that takes its place meanwhile is not shared yet, and stays.

        A copy is shared, and not a second name: by that, the file would pass for shared before it is.
        """
        aside = file.with_name(f".{file.name}.{uuid.uuid4().hex}.tmp")
        try:
            with file.open("rb") as opened, aside.open("wb") as copy:
                before = os.fstat(opened.fileno())
                shutil.copyfileobj(opened, copy)
            with aside.open("rb") as opened:
                content = hashlib.file_digest(opened, "sha256").hexdigest()
            place = _place(content)
            age = self._storage.age(place)
            if age is None or age >= SETTLED_SECONDS / 2:  # or somebody might just be sweeping it away
                self._storage.upload(aside, place)
        finally:
            aside.unlink(missing_ok=True)
        entry = self._entry(content)
        if os.path.samestat(before, file.stat()):
            if not entry.exists():
                _link(file, entry)
            elif not entry.samefile(file):
                _link(entry, file)
                os.utime(file)
        return SharedFile(content, before.st_size, time.time())

    def _bring(self, file: Path, wanted: SharedFile) -> None:
        """Put a copy in place, unless it is there, or a file that was made here and not shared yet."""
        entry = self._entry(wanted.content)
        if file.exists() and (file.stat().st_nlink == 1 or (entry.exists() and entry.samefile(file))):
            return
        if not entry.exists():
            self._download(wanted, entry)
        try:
            _link(entry, file)
        except FileNotFoundError:  # somebody swept before it had a second name
            self._download(wanted, entry)
            _link(entry, file)

    def _download(self, wanted: SharedFile, entry: Path) -> None:
        entry.parent.mkdir(parents=True, exist_ok=True)
        aside = entry.with_name(f".{entry.name}.{uuid.uuid4().hex}.tmp")
        try:
            self._storage.download(_place(wanted.content), aside)
            with aside.open("rb") as opened:
                arrived = hashlib.file_digest(opened, "sha256").hexdigest()
            if arrived != wanted.content:
                problems = Problems()
                place = f"{self._storage.url}/{_place(wanted.content)}"
                problems.add(place, "is damaged: its content has another hash", "Run the evaluation again.")
                problems.stop_if_any()
            os.utime(aside, (wanted.at, wanted.at))
            aside.replace(entry)
        finally:
            aside.unlink(missing_ok=True)

    def _entry(self, content: str) -> Path:
        return self._state / _place(content)


class SharedCopies:
    """Files whose names tell their content: they are the same on every machine, and need no pointer."""

    def __init__(self, state: Path, storage: ObjectStorage) -> None:
        self._state = state
        self._storage = storage
        self._above = prefix_of(state)

    @classmethod
    def of(cls, state: Path) -> SharedCopies | None:
        """Those of a state folder, where the environment names a store for them."""
        url = os.environ.get(STORE_VARIABLE)
        return cls(state, ObjectStorage(url)) if url else None

    def give(self, file: Path, path: Path) -> None:
        """Share a file under the path that it will have."""
        if not self._storage.has(place := self._place(path)):
            self._storage.upload(file, place)

    def take(self, path: Path) -> None:
        """Have a file here; it appears whole, or not at all."""
        with replacing(path) as aside:
            self._storage.download(self._place(path), aside)

    def forget(self, path: Path) -> None:
        """Share a file no longer."""
        self._storage.delete(self._place(path))

    def _place(self, path: Path) -> str:
        return "/".join((*self._above, *path.relative_to(self._state).parts))


def _pointers(storage: ObjectStorage) -> Pointers:
    if storage.can_create:
        return ObjectPointers(storage)
    if url := shared_database():
        return DatabasePointers(url)
    reason = (
        f"{storage.protocol}:// cannot create an object only where there is none, so pointers need a database"
    )
    raise bad_value("store", reason, f"Set {DATABASE_VARIABLE} to a PostgreSQL that all machines share.")


def _place(content: str) -> str:
    return f"{OBJECTS}/{content[:2]}/{content}"


def _decoded(text: str, name: str) -> SharedFolder:
    """What a pointer of a name holds. Others write it, so nothing in it may lead out of its folder."""
    try:
        folder = msgspec.json.decode(text, type=SharedFolder) if text else SharedFolder()
    except msgspec.MsgspecError as error:
        raise _damaged(name, str(error)) from None
    for each in (*folder.files, *([folder.latest] if folder.latest else [])):
        if not is_plain_name(each):
            raise _damaged(name, f"{each!r} is not the name of a file")
    for file in folder.files.values():
        if not _CONTENT.fullmatch(file.content):
            raise _damaged(name, f"{file.content!r} is not the hash of a content")
    return folder


def _damaged(name: str, reason: str) -> BadInput:
    return bad_value("store", f"the pointer of {name} is damaged: {reason}", "Delete it, and run again.")


def _encoded(folder: SharedFolder) -> str:
    return msgspec.json.encode(folder, order="deterministic").decode()


def _without(text: str, name: str, names: Collection[str]) -> str:
    known = _decoded(text, name)
    known.files = {each: file for each, file in known.files.items() if each not in names}
    return _encoded(known)


def _text(file: Path) -> str:
    return file.read_text() if file.is_file() else ""


def _link(source: Path, target: Path) -> None:
    """Let a file have another name, in place of what had it."""
    target.parent.mkdir(parents=True, exist_ok=True)
    aside = target.with_name(f".{target.name}.{uuid.uuid4().hex}.tmp")
    try:
        os.link(source, aside)
        aside.replace(target)
    finally:
        aside.unlink(missing_ok=True)
