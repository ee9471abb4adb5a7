"""Cases, and cases with the output that is scored against them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any, Generic, NamedTuple, Protocol, TypeVar, overload

import msgspec

from eval_pipeline.answers import FIRST_TRIAL, Answer, AnswerFormat
from eval_pipeline.problems import Problems

Input = TypeVar("Input")
Expected = TypeVar("Expected")


class Case(msgspec.Struct, Generic[Input, Expected], frozen=True, gc=False):
    """One golden entry. Engines and templates see `input`; only scoring sees `expected`."""

    id: str
    input: Input
    expected: Expected
    attributes: dict[str, str] = {}


class Place(NamedTuple):
    """Where a golden entry stands."""

    file: Path
    line: int


class CaseReader(Protocol):
    """Reads the golden format that a suite's document defines."""

    suffixes: tuple[str, ...]

    def read(self, path: Path, problems: Problems) -> Iterator[tuple[Case[Any, Any], Place]]:
        """The cases of one file; what cannot be read goes to `problems`."""


class AnswerReader(Protocol):
    """Chooses how a file of recorded outputs is read."""

    def __call__(self, path: Path) -> AnswerFormat:
        """The format of a file."""


class Item(NamedTuple):
    """A case with a usable output, ready to be scored."""

    case: Case[Any, Any]
    trial: int
    output: Any
    look_up: Callable[[], Answer]

    @property
    def answer(self) -> Answer:
        """The answer that holds the output; it is looked up each time."""
        return self.look_up()


class Items(Sequence[Item]):
    """Items as columns: `cases` and `outputs` for scoring by columns, an `Item` for each otherwise."""

    def __init__(
        self,
        cases: Sequence[Case[Any, Any]],
        outputs: Sequence[Any],
        trial: int,
        answer: Callable[[int], Answer],
    ) -> None:
        self.cases = cases
        self.outputs = outputs
        self._trial = trial
        self._answer = answer

    @classmethod
    def of(cls, items: Sequence[Item]) -> Items:
        """Items of one trial."""
        trial = items[0].trial if items else FIRST_TRIAL
        return cls(
            [item.case for item in items],
            [item.output for item in items],
            trial,
            lambda index: items[index].answer,
        )

    def __len__(self) -> int:
        return len(self.cases)

    @overload
    def __getitem__(self, index: int) -> Item: ...

    @overload
    def __getitem__(self, index: slice) -> list[Item]: ...

    def __getitem__(self, index: int | slice) -> Item | list[Item]:
        if isinstance(index, slice):
            return [self[each] for each in range(*index.indices(len(self)))]
        return Item(self.cases[index], self._trial, self.outputs[index], partial(self._answer, index))
