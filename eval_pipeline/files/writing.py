"""How files reach the disk: whole, or not at all."""

import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import msgspec


@contextmanager
def replacing(path: Path) -> Iterator[Path]:
    """Yield a temporary path beside `path`; rename it into place when the block ends without error."""
    path.parent.mkdir(parents=True, exist_ok=True)
    handle, name = tempfile.mkstemp(prefix=f".{path.name}.", suffix=".tmp", dir=path.parent)
    os.close(handle)
    temporary = Path(name)
    try:
        yield temporary
        with temporary.open("rb") as file:
            os.fsync(file.fileno())
        temporary.chmod(0o644)
        temporary.replace(path)
    finally:
        temporary.unlink(missing_ok=True)


def is_aside(path: Path) -> bool:
    """Whether a path is one that something is written to, or deleted from, before or after its time."""
    return path.name.startswith(".") and (path.suffix == ".tmp" or path.name.startswith(".loading-"))


def remove(path: Path) -> None:
    """Delete a file or a folder so that nobody ever finds half of it."""
    aside = path
    if not is_aside(path):
        aside = path.with_name(f".{path.name}.removed.tmp")
        try:
            path.rename(aside)
        except FileNotFoundError:
            return
    if aside.is_dir() and not aside.is_symlink():
        shutil.rmtree(aside, ignore_errors=True)
    else:
        aside.unlink(missing_ok=True)


def write_text(path: Path, text: str) -> None:
    """Write a text file atomically."""
    with replacing(path) as temporary:
        temporary.write_text(text, encoding="utf-8")


def write_json(path: Path, value: Any) -> None:
    """Write a value as JSON with one trailing newline."""
    write_text(path, readable_json(value) + "\n")


def readable_json(value: Any) -> str:
    """A value as JSON for people to read and diff."""
    return msgspec.json.format(msgspec.json.encode(value), indent=2).decode()
