"""What identifies content: canonical JSON and its hash."""

import hashlib
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import msgspec

from eval_pipeline.files.text import file_bytes

HASH_LENGTH = 32
LARGEST_HASHED = 2**32


def canonical_json(value: Any) -> bytes:
    """JSON with sorted keys and no white space: equal values give equal bytes."""
    return msgspec.json.encode(value, order="sorted")


def content_hash(value: Any) -> str:
    """The hash of a value's canonical JSON: 128 bits in hexadecimal."""
    return hashlib.sha256(canonical_json(value)).hexdigest()[:HASH_LENGTH]


def files_hash(paths: Iterable[Path]) -> str:
    """The hash of the named files' contents, whatever order they are named in."""
    digest = hashlib.sha256()
    for path in sorted(paths):
        data = file_bytes(path, LARGEST_HASHED)
        digest.update(f"{path.name}\0{len(data)}\0".encode("utf-8", "surrogateescape"))
        digest.update(data)
    return digest.hexdigest()[:HASH_LENGTH]
