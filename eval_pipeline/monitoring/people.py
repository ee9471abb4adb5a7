"""Keyed hashes in the place of people: the same person has the same one, and nobody can turn it back."""

from __future__ import annotations

import hashlib
import re
from typing import TYPE_CHECKING, Any

import msgspec

from eval_pipeline.monitoring.attributes import NAMES
from eval_pipeline.monitoring.batches import ODD
from eval_pipeline.monitoring.masking import mask_text
from eval_pipeline.monitoring.suspects import holds_any

if TYPE_CHECKING:
    import pyarrow as pa

MARK = "pseudonym:"
"""What stands before a pseudonym in quarantine, so that whoever feeds the line again makes none of it."""
_PERSONAL = f"[@＠]|^[+＋][0-9]|^{MARK}"
"""Ids that are an address or a phone number."""
_HINTS = b"@+:" + "＠".encode()[:1]
"""Each of them has one of these bytes."""
_ATTRIBUTES = {*NAMES["request_id"], *NAMES["user"], *NAMES["session"]}
_IDS = {"id", "request_id", "trace_id", "observation_id", "traceId", "observationId", *NAMES["request_id"]}
_PEOPLE = {"user", "session", "user_id", "session_id", "userId", "sessionId", *_ATTRIBUTES} - _IDS


def pseudonym(name: str, key: str) -> str:
    """The one of a name; what is one already stays."""
    if name.startswith(MARK):
        return name.removeprefix(MARK)
    return hashlib.blake2b(name.encode(), key=key.encode(), digest_size=8).hexdigest()


def pseudonyms(column: pa.ChunkedArray, key: str) -> pa.ChunkedArray:
    """The same for a column."""
    import pyarrow as pa

    if column.null_count == len(column):
        return column
    encoded = column.combine_chunks().dictionary_encode()
    names = encoded.dictionary.to_pylist()
    hashed = pa.array([name if name is None else pseudonym(name, key) for name in names], pa.string())
    return pa.chunked_array([hashed.take(encoded.indices)])


def impersonal_ids(column: pa.ChunkedArray, key: str) -> pa.ChunkedArray:
    """Ids as they are, but for those that are a person's address or number: these become pseudonyms."""
    import pyarrow as pa
    import pyarrow.compute as pc

    if not any(holds_any(chunk, _HINTS) for chunk in column.chunks):
        return column
    ids = column.combine_chunks()
    personal = pc.match_substring_regex(ids, _PERSONAL).fill_null(False)
    if not pc.any(personal).as_py():
        return column
    others = pseudonyms(pa.chunked_array([ids.filter(personal)]), key).combine_chunks()
    return pa.chunked_array([pc.replace_with_mask(ids, personal, others)])


def without_people(line: str, key: str) -> str:
    """A line as quarantine keeps it: what it says stays readable, and can be fed again.

    Ids and people become what they become in events, so that it is the same request of the same person.
    """
    try:
        return msgspec.json.encode(_without_people(msgspec.json.decode(line), "", key, own=True)).decode()
    except ODD:  # it is no JSON, which may be why it was refused
        return mask_text(line, names=True)


def _without_people(value: Any, name: str, key: str, *, own: bool) -> Any:
    """A value of that name; `own` where names are those of a format, and not of what somebody wrote."""
    if isinstance(value, dict):
        # OpenTelemetry writes the name of an attribute beside its value.
        attribute = value.get("key") if value.get("key") in _ATTRIBUTES else None
        fields = attribute is not None or (own and name in ("", "feedback"))
        return {
            mask_text(each): _without_people(held, (each == "value" and attribute) or each, key, own=fields)
            if each != "stringValue"
            else _without_people(held, name, key, own=own)
            for each, held in value.items()
        }
    if isinstance(value, list):
        return [_without_people(each, name, key, own=own) for each in value]
    if value is None or isinstance(value, bool):
        return value
    text = value if isinstance(value, str) else msgspec.json.encode(value).decode()
    if own and text and (name in _PEOPLE or (name in _IDS and re.search(_PERSONAL, text))):
        return text if text.startswith(MARK) else MARK + pseudonym(text, key)
    if own and name in _IDS:
        return value
    masked = mask_text(text, names=True)
    return value if masked == text else masked
