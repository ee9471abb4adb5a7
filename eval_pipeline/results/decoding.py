"""JSON as other programs write it, into records."""

import json
from typing import TypeVar

import msgspec

T = TypeVar("T")

LARGEST_ODD = 64 * 2**20
"""JSON with NaN in it is read in a way that takes more memory."""


def decoded(data: bytes | msgspec.Raw, kind: type[T]) -> T:
    """JSON as a record; NaN and infinities, which JSON does not have and Python writes, are null."""
    try:
        return msgspec.json.decode(data, type=kind)
    except msgspec.ValidationError:
        raise
    except msgspec.DecodeError as error:
        raw = bytes(data)
        if (b"NaN" not in raw and b"Infinity" not in raw) or len(raw) > LARGEST_ODD:
            raise
        try:
            plain = msgspec.json.encode(json.loads(raw))
        except (ValueError, OverflowError):
            raise error from None
        return msgspec.json.decode(plain, type=kind)
