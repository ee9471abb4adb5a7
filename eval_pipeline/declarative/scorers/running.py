"""What an answer took: time and money, as its engine counted them. Without a figure nothing is scored."""

from __future__ import annotations

from typing import Any

from eval_pipeline.answers import Answer
from eval_pipeline.declarative.cells import Row, as_limit
from eval_pipeline.declarative.kinds import Kind
from eval_pipeline.declarative.scorers.base import Positive, Reply, Scorer, needed


class Figure(Scorer, frozen=True, kw_only=True):
    """A figure of the answer that must not be above a limit."""

    of: Positive | str

    def wanted(self, row: Row, kind: Kind) -> float:
        """The limit."""
        return as_limit(needed(self.of, row))

    def figure(self, answer: Answer) -> float | None:
        """The figure; None where nobody counted."""
        raise NotImplementedError

    def value(self, reply: Reply, wanted: float) -> float | None:
        """Whether the figure is within the limit."""
        figure = self.figure(reply.answer())
        return None if figure is None else float(figure <= wanted)

    def errored(self, wanted: Any, answer: Answer | None) -> float | None:
        """The worst, where the error has a figure."""
        return None if answer is None or self.figure(answer) is None else 0.0

    def told(self, reply: Reply, wanted: float) -> tuple[str, str]:
        """The limit and the figure."""
        return f"at most {wanted:,g}", f"{self.figure(reply.answer()):,g}"


class Latency(Figure, frozen=True, kw_only=True, rename={"of": "latency"}):
    """The answer took at most so many milliseconds."""

    of: Positive | str

    key = "latency"
    about = "Answers that came in time ÷ answers whose time is known"

    def figure(self, answer: Answer) -> float | None:
        """Milliseconds."""
        return answer.latency_ms


class Cost(Figure, frozen=True, kw_only=True, rename={"of": "cost"}):
    """The answer cost at most so many dollars."""

    of: Positive | str

    key = "cost"
    about = "Answers within the price ÷ answers whose price is known"

    def figure(self, answer: Answer) -> float | None:
        """Dollars."""
        return answer.cost_usd
