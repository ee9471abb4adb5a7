"""Spans of many cases as columns: located where they really stand, without duplicates, in a fixed order."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from eval_pipeline.metrics.text import normalize
from eval_pipeline.suite import Item
from eval_pipeline.suites.span_labeling.cases import Span
from eval_pipeline.suites.span_labeling.resources import INVALID, MISSED, SPURIOUS

Indices = NDArray[np.int64]


class Side(NamedTuple):
    """Golden or predicted spans by case, start, end and category; one that stands nowhere is empty."""

    case: Indices
    start: Indices
    end: Indices
    label: Indices
    listed: Sequence[Span]
    """The spans as they were given; `given` says which is which."""
    given: Indices


class Stray(NamedTuple):
    """A distinct prediction whose text is not what stands at its offsets."""

    case: int
    start: int
    end: int
    text: str


@dataclass(frozen=True)
class Reading:
    """A batch of cases and answers."""

    gold: Side
    predicted: Side
    names: list[str]
    """The label of every code, in alphabetical order."""
    base: Indices
    """Where each prompt begins when all are laid end to end, with a gap between them."""
    entries: Indices
    """How many spans each answer lists."""
    distinct: Indices
    """How many are left when exact duplicates are merged, before any is relocated."""
    misaligned: list[Stray]


class _Codes(dict[str, int]):
    """A number for every category as it is written; spellings that are equal after normalization share it."""

    def __init__(self, names: Iterable[str]) -> None:
        super().__init__()
        self._numbers = {name: number for number, name in enumerate(names)}

    def __missing__(self, written: str) -> int:
        self[written] = self._numbers.setdefault(normalize(written), len(self._numbers))
        return self[written]

    def ranked(self) -> tuple[list[str], Indices]:
        """All names in alphabetical order, and the place of every number in it."""
        names = sorted(self._numbers)
        rank = np.empty(len(names), dtype=np.int64)
        rank[[self._numbers[name] for name in names]] = np.arange(len(names))
        return names, rank


def read_batch(items: Sequence[Item], categories: frozenset[str]) -> Reading:
    """The spans of a batch; a category that neither the taxonomy nor the case knows is `invalid`."""
    golden, gold_case = _flat([item.case.expected.spans for item in items])
    answered, case = _flat([item.output.spans for item in items])
    prompts = [item.case.input.prompt for item in items]
    base = np.cumsum([0, *(len(prompt) + 1 for prompt in prompts)])[:-1]
    codes = _Codes((INVALID, MISSED, SPURIOUS))
    gold_written, written = ([codes[span.category] for span in spans] for spans in (golden, answered))
    names, rank = codes.ranked()
    gold_label, label = rank[np.array(gold_written, dtype=np.int64)], rank[np.array(written, dtype=np.int64)]
    starts = np.array([span.start for span in golden], dtype=np.int64)
    ends = np.array([span.end for span in golden], dtype=np.int64)
    order = np.lexsort((gold_label, ends, starts + base[gold_case]))
    placed = _place(answered, prompts, case, label)
    # Two unknown categories are two predictions, though both are labelled as invalid.
    rows = _distinct(placed.starts + base[case], placed.ends, label + len(names) * placed.nowhere)
    known = np.array([name in categories for name in names], dtype=bool)[label]
    known |= np.isin(case * len(names) + label, gold_case * len(names) + gold_label)
    label = np.where(known, label, names.index(INVALID))
    first = rows.first
    counted = first[np.bincount(rows.group, placed.aligned[rows.order]) > 0]
    distinct = np.bincount(case[counted], minlength=len(items))
    np.add.at(distinct, [stray.case for stray, _ in placed.strays], 1)
    return Reading(
        Side(gold_case[order], starts[order], ends[order], gold_label[order], golden, order),
        Side(case[first], placed.starts[first], placed.ends[first], label[first], answered, first),
        names,
        base,
        np.bincount(case, minlength=len(items)),
        distinct,
        sorted(stray for (stray, _), fits in placed.strays.items() if not fits),
    )


def _flat(spans: Sequence[Sequence[Span]]) -> tuple[list[Span], Indices]:
    """All spans one after the other, and the case of each."""
    return list(chain.from_iterable(spans)), np.repeat(np.arange(len(spans)), [len(each) for each in spans])


class _Rows(NamedTuple):
    """Rows in order: which are the first of their kind, and the kind of each."""

    order: Indices
    first: Indices
    group: Indices


def _distinct(start: Indices, end: Indices, label: Indices) -> _Rows:
    order = np.lexsort((label, end, start))
    new = np.ones(len(order), dtype=bool)
    if len(order):
        new[1:] = False
        for column in (start, end, label):
            sorted_ = column[order]
            new[1:] |= sorted_[1:] != sorted_[:-1]
    return _Rows(order, order[new], np.cumsum(new) - 1)


class _Placed(NamedTuple):
    """Every entry of the answers where it stands."""

    starts: Indices
    ends: Indices
    nowhere: Indices
    """0 for what stands somewhere, else a number for each text."""
    aligned: NDArray[np.bool_]
    strays: dict[tuple[Stray, int], bool]
    """What does not stand at its offsets, with its category, and whether it does after normalization."""


def _place(spans: Sequence[Span], prompts: Sequence[str], case: Indices, label: Indices) -> _Placed:
    """Check every span against its prompt, and relocate those whose text is not what stands there."""
    aligned = np.array(
        [
            prompt[span.start : span.end] == span.text and 0 <= span.start < span.end <= len(prompt)
            for prompt, span in zip([prompts[each] for each in case.tolist()], spans, strict=True)
        ],
        dtype=bool,
    )
    starts = [span.start for span in spans]
    ends = [span.end for span in spans]
    nowhere = np.zeros(len(spans), dtype=np.int64)
    numbers: dict[str, int] = {}
    strays: dict[tuple[Stray, int], bool] = {}
    for at in np.flatnonzero(~aligned).tolist():
        stray = Stray(int(case[at]), starts[at], ends[at], spans[at].text)
        start, end, fits = locate(stray.text, stray.start, stray.end, prompts[stray.case])
        strays[stray, int(label[at])] = fits
        starts[at], ends[at] = max(start, 0), max(end, 0)
        if start < 0:
            nowhere[at] = numbers.setdefault(stray.text, len(numbers) + 1)
    return _Placed(np.array(starts, dtype=np.int64), np.array(ends, dtype=np.int64), nowhere, aligned, strays)


def locate(text: str, start: int, end: int, prompt: str) -> tuple[int, int, bool]:
    """Where a text really stands, and whether that is where it was said to stand; −1 where it stands nowhere.

    As everywhere, texts that are equal after normalization are the same.
    """
    wanted = normalize(text)
    if wanted and 0 <= start < end <= len(prompt) and normalize(prompt[start:end]) == wanted:
        return start, end, True
    place = nearest(text, prompt, start)
    return (place, place + len(text), False) if place >= 0 else (-1, -1, False)


def nearest(text: str, prompt: str, start: int) -> int:
    """Where the occurrence of a text begins that is nearest to an offset, the earlier of two; −1: nowhere."""
    if not text:
        return -1
    start = min(max(start, 0), len(prompt))
    after = prompt.find(text, start)
    before = prompt.rfind(text, 0, max(start + len(text) - 1, 0))
    if before < 0 or after < 0:
        return max(before, after)
    return before if start - before <= after - start else after
