"""Several files are checked before any of them changes anything: all problems are named at once."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import msgspec

from eval_pipeline.problems import BadInput, Problems, shown_path

_VALUE = "input"
"""What a problem with a value has in place of a file."""


@contextmanager
def including(problems: Problems, file: Path | None = None) -> Iterator[None]:
    """Take over what is found within the block; where it is about a value, that stands in the file."""
    try:
        yield
    except BadInput as bad:
        of_file = file and shown_path(file)
        found = [
            msgspec.structs.replace(each, file=of_file) if of_file and each.file == _VALUE else each
            for each in bad.problems
        ]
        problems.include(BadInput(found))
