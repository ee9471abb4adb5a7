"""How a request in production becomes the draft of a golden case. No number rests on it.

A suite with a golden format of its own says it in a module `drafting`, as `DRAFTING`, which nothing that
scores imports.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

Fields = Mapping[str, Any]
"""The fields of a suite's input, as far as a request has them."""


@dataclass(frozen=True)
class Drafting:
    """What a draft is made of, and where the case belongs once a person has completed it."""

    text: str
    """The field of the input that a request in plain text is."""
    given: Callable[[Fields], dict[str, Any]]
    """Fields of the input → what a golden entry takes from them; None where the request does not say it."""
    expected: tuple[str, ...]
    """The fields of a golden entry that a person has to fill in."""
    optional: tuple[str, ...] = ()
    """Fields that may stay blank."""
    id: str = "id"
    """The field that names a case; blank where entries have none."""
    file: str = "cases/{id}.json"
    """The case's file in the golden folder; in braces the id, or a field that stands aside."""
    aside: tuple[str, ...] = ()
    """Fields that stand in the name of the file alone."""
    contents: Callable[[dict[str, Any]], dict[str, str]] | None = None
    """Entry → its files by suffix, where they are no JSON; the one that readers look for comes last."""
    passages: str = ""
    """The field of the input that takes the retrieved passages where a request does not say it."""
    invented: Callable[[Any, Fields], Sequence[str]] | None = None
    """(output, fields of the input) → what the answer names and its source does not."""
    forbidden: str = ""
    """The field of a golden entry that lists canaries."""
