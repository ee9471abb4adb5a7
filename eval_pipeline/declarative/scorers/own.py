"""A function of one's own as a scorer."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from eval_pipeline.declarative.cells import Row
from eval_pipeline.declarative.kinds import Kind
from eval_pipeline.declarative.scorers.base import Fraction, Reply, Scorer
from eval_pipeline.problems import BadInput, bad_value


class Python(Scorer, frozen=True, kw_only=True, rename={"of": "python"}):
    """What a function says of the answer and its case: true, false, or a number from 0 to 1."""

    of: Callable[[Any, dict[str, Any]], bool | float]
    """`function(answer, case)`: what the reply was read as, and the case's variables and `columns`."""
    columns: tuple[str, ...] = ()
    at_least: Fraction = 1.0

    key = "python"
    about = "What the function says of the answer"
    reads_value = True

    @property
    def default_name(self) -> str:
        """The function's name."""
        return self.of.__name__

    @property
    def needs(self) -> list[str]:
        """The columns that the function is given."""
        return list(self.columns)

    def wanted(self, row: Row, kind: Kind) -> dict[str, Any]:
        """The cells that the function is given."""
        return {name: row.get(name) for name in self.columns}

    def value(self, reply: Reply, wanted: dict[str, Any]) -> float:
        """What the function says; anything but a number from 0 to 1 is bad input."""
        try:
            value = self.of(reply.value, {**reply.variables(), **wanted})
        except (BadInput, MemoryError):
            raise
        except (Exception, SystemExit) as error:
            raise self._fault(reply, f"{type(error).__name__}: {error}") from None
        if not isinstance(value, bool | int | float) or not 0 <= value <= 1:
            raise self._fault(reply, f"it returned {value!r}")
        return float(value)

    def _fault(self, reply: Reply, message: str) -> BadInput:
        where = f"{self.of.__module__}:{self.of.__name__} of case {reply.case_id!r}"
        return bad_value(where, " ".join(message.split())[:500], "It must return true, false, or 0 to 1.")
