"""Source code as its statements: whatever imports or defines is one, so no expression is looked at."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from itertools import chain

BLOCKS = ("body", "orelse", "finalbody", "handlers", "cases")


def statements(body: list[ast.stmt]) -> Iterator[ast.AST]:
    """Every statement, and every branch that holds some, however deep."""
    waiting: list[ast.AST] = list(body)
    while waiting:
        node = waiting.pop()
        yield node
        waiting.extend(chain.from_iterable(getattr(node, block, ()) for block in BLOCKS))
