"""Files of ours that are not what was written."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import msgspec

from eval_pipeline.problems import BadInput, Problems

UNREADABLE = (
    OSError, ValueError, LookupError, TypeError, NotImplementedError, RecursionError, msgspec.MsgspecError,
)  # fmt: skip
"""What Arrow and JSON raise where bytes are not what was written."""


@contextmanager
def naming_damage(path: Path) -> Iterator[None]:
    """Whatever is wrong with what is read here, the file is named."""
    try:
        yield
    except UNREADABLE as error:
        problems = Problems()
        problems.add(path, f"is damaged: {error}", "Delete it, and run again.")
        raise BadInput(list(problems)) from None
