"""Versions that are no files: the partitions of an asset whose rows are evaluated, as `answers@2026-01-31`.

A key becomes part of the names of files: what these cannot hold is written as `_` and two hexadecimal digits
for each byte, so that no two keys have one name, and the key can be had back.
"""

import re

from eval_pipeline.problems import bad_value

AT = "@"
WHOLE = "latest"
"""What stands for the key where an asset has no partitions."""
LONGEST_KEY = 150
"""Bytes; with what is put before and after it, a file's name may have 255."""

_PLAIN = re.compile(rb"[A-Za-z0-9.-]|_(?![0-9A-F]{2})")


def rows_version(name: str, key: str | None) -> str:
    """What a partition of rows is called as a version."""
    encoded = _encode(WHOLE if key is None else key)
    if len(encoded) > LONGEST_KEY:
        raise bad_value("partition", f"{key!r} is too long to name files by", "Use shorter partition keys.")
    return f"{_encode(name)}{AT}{encoded}"


def holds_rows(version: str) -> bool:
    """Whether a version is a partition of rows, and has no prompt."""
    return AT in version


def partition_key(version: str) -> str:
    """The key of the partition that a version stands for."""
    encoded = version.partition(AT)[2].encode()
    return re.sub(rb"_([0-9A-F]{2})", lambda each: bytes.fromhex(each[1].decode()), encoded).decode()


def _encode(text: str) -> str:
    data = text.encode("utf-8")
    return "".join(
        chr(byte) if _PLAIN.match(data, place) else f"_{byte:02X}" for place, byte in enumerate(data)
    )
