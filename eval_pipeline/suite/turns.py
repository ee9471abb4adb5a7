"""Earlier turns of a conversation, which a case may carry in its input under `messages`."""

import typing
from typing import Annotated, Any, Literal

import msgspec
from msgspec import Meta

TURNS = "messages"
"""The field of an input that holds them."""
MOST_TURNS = 1000
LONGEST_TURN = 1_000_000


class Turn(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What was said before. A case is data: it can speak for neither the system nor a tool."""

    role: Literal["user", "assistant"]
    content: Annotated[str, Meta(min_length=1, max_length=LONGEST_TURN)]


Turns = Annotated[tuple[Turn, ...], Meta(max_length=MOST_TURNS)]
"""The type of such a field: `messages: Turns = ()`."""


class ConversationInput(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """The input of a case that is the last text of a conversation, and what was said before it."""

    text: str
    messages: Turns = ()


def carries_turns(kind: Any) -> bool:
    """Whether inputs of a type hold earlier turns; a field of that name and another type is just a field."""
    hints = typing.get_type_hints(kind, include_extras=True)
    return TURNS in hints and _holds_turn(hints[TURNS])


def _holds_turn(kind: Any) -> bool:
    return kind is Turn or any(map(_holds_turn, typing.get_args(kind)))
