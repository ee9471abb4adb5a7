"""Cases, and cases with the output that is scored against them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, Generic, NamedTuple, Protocol, TypeVar, overload

import msgspec

from eval_pipeline.answers import FIRST_TRIAL, Answer, AnswerFile
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
    """Opens a file of recorded outputs."""

    def __call__(self, path: Path, problems: Problems) -> AnswerFile:
        """The answers of a file, found by case and trial; what cannot be read goes to `problems`."""


class Item(NamedTuple):
    """A case with a usable output, ready to be scored."""

    case: Case[Any, Any]
    trial: int
    output: Any
    answer: Answer


class Items(Sequence[Item]):
    """Items as columns: `cases` and `outputs` for scoring that goes by columns, an `Item` each otherwise."""

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
        """Items of one trial that are there already."""
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
        return Item(self.cases[index], self._trial, self.outputs[index], self._answer(index))
