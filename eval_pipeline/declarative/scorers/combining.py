"""Several scorers in one."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Any

import msgspec
import numpy as np

from eval_pipeline.declarative.cells import Row
from eval_pipeline.declarative.kinds import Kind
from eval_pipeline.declarative.scorers.base import Fraction, Reply, Scorer
from eval_pipeline.suite import Model, Values


class Combined(Scorer, frozen=True, kw_only=True):
    """A scorer made of others."""

    of: tuple[Any, ...]

    @property
    def parts(self) -> tuple[Scorer, ...]:
        """The scorers that it is made of."""
        return self.of

    @property
    def holds_answer(self) -> bool:  # type: ignore[override]
        """Whether a part does."""
        return any(part.holds_answer for part in self.parts)

    def wanted(self, row: Row, kind: Kind) -> list[Any]:
        """What each of them wants."""
        return [part.wanted(row, kind) for part in self.parts]

    def passed(self, replies: Sequence[Reply], wanted: Sequence[list[Any]]) -> Values:
        """Whether each part passes for each reply: `[part, reply]`, undefined where it has nothing to say."""
        columns = [part.values(replies, [each[at] for each in wanted]) for at, part in enumerate(self.parts)]
        return np.array(
            [
                np.where(np.isnan(each), np.nan, part.passes(each))
                for part, each in zip(self.parts, columns, strict=True)
            ]
        )

    def told(self, reply: Reply, wanted: list[Any]) -> tuple[str, str]:
        """What the parts that do not pass expected."""
        missed = [
            f"{part.key}: {part.told(reply, each)[0]}"
            for part, each, passed in zip(
                self.parts, wanted, self.passed([reply], [wanted])[:, 0], strict=True
            )
            if not passed > 0
        ]
        return "; ".join(missed), super().told(reply, None)[1]

    def golden(self, wanted: list[Any]) -> Any:
        """What the first part calls right that holds the answer."""
        held = (part.golden(each) for part, each in zip(self.parts, wanted, strict=True) if part.holds_answer)
        return next(held)

    def models(self, name: str) -> tuple[Model, ...]:
        """The models of all parts."""
        return tuple(model for part in self.parts for model in part.models(name))


class AllOf(Combined, frozen=True, kw_only=True, rename={"of": "all_of"}):
    """Every one of some scorers passes."""

    of: tuple[Any, ...]

    key = "all_of"
    about = "Replies that every part passes ÷ replies"

    def values(self, replies: Sequence[Reply], wanted: Sequence[list[Any]]) -> Values:
        """Whether all pass; undefined where a part is, and none fails."""
        passed = self.passed(replies, wanted)
        return np.where((passed == 0).any(axis=0), 0.0, passed.sum(axis=0) / len(passed))


class AnyOf(Combined, frozen=True, kw_only=True, rename={"of": "any_of"}):
    """At least one of some scorers passes."""

    of: tuple[Any, ...]

    key = "any_of"
    about = "Replies that at least one part passes ÷ replies"

    def values(self, replies: Sequence[Reply], wanted: Sequence[list[Any]]) -> Values:
        """Whether one passes; undefined where no part has anything to say."""
        passed = self.passed(replies, wanted)
        return np.where(np.isnan(passed).all(axis=0), np.nan, np.nansum(passed, axis=0) > 0)


class NoneOf(Combined, frozen=True, kw_only=True, rename={"of": "none_of"}):
    """None of some scorers passes."""

    of: tuple[Any, ...]

    key = "none_of"
    about = "Replies that no part passes ÷ replies"

    @property
    def holds_answer(self) -> bool:  # type: ignore[override]
        """No: what its parts want is wrong."""
        return False

    def values(self, replies: Sequence[Reply], wanted: Sequence[list[Any]]) -> Values:
        """Whether none passes; undefined where a part is, and none passes."""
        passed = self.passed(replies, wanted)
        return np.where((passed > 0).any(axis=0), 0.0, 1.0 + passed.sum(axis=0))

    def told(self, reply: Reply, wanted: list[Any]) -> tuple[str, str]:
        """What the parts that pass should not have found."""
        there = [
            f"{part.key}: {part.told(reply, each)[0]}"
            for part, each, passed in zip(
                self.parts, wanted, self.passed([reply], [wanted])[:, 0], strict=True
            )
            if passed > 0
        ]
        return f"not {'; '.join(there)}", Scorer.told(self, reply, None)[1]


class MeanOf(Combined, frozen=True, kw_only=True, rename={"of": "mean_of"}):
    """The mean of some scorers' values, each with its weight."""

    of: tuple[Any, ...]
    weights: tuple[Annotated[float, msgspec.Meta(ge=0)], ...] = ()
    """How much each part counts; all the same where nothing is said."""
    at_least: Fraction = 1.0

    key = "mean_of"
    about = "Weighted mean of the parts' values"

    def __post_init__(self) -> None:
        if self.weights and (len(self.weights) != len(self.of) or not sum(self.weights)):
            raise ValueError("`weights` has a number for each part, and not only zeros")

    def values(self, replies: Sequence[Reply], wanted: Sequence[list[Any]]) -> Values:
        """The mean; undefined where a part is."""
        columns = [part.values(replies, [each[at] for each in wanted]) for at, part in enumerate(self.parts)]
        return np.asarray(np.average(columns, axis=0, weights=self.weights or None), dtype=float)
