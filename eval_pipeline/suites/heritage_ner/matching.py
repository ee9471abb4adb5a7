"""Which predicted entities match gold ones: strictly, partially and by token.

Texts are laid end to end, so that a position belongs to one text and spans of different texts never meet.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from eval_pipeline.metrics.matching import maximum_matching, overlaps
from eval_pipeline.metrics.text import word_spans
from eval_pipeline.suite import Item
from eval_pipeline.suites._heritage.vocabulary import ENTITY_TYPES
from eval_pipeline.suites.heritage_ner.cases import Entity

Integers = NDArray[np.int64]

OTHER = "other"
"""Every predicted type that is none of the entity types."""
TYPES = (*ENTITY_TYPES, OTHER)
APART = "\n\n"


@dataclass(frozen=True)
class Spans:
    """The distinct entities of a batch as columns, sorted by place."""

    texts: Integers
    types: Integers
    starts: Integers
    ends: Integers
    origins: Integers
    """Where each stands in the list that it was made from."""
    entries: Integers
    """How many entities each text had, repeated ones included."""

    def taken(self, places: Integers) -> "Spans":
        """Some of them."""
        return Spans(
            self.texts[places],
            self.types[places],
            self.starts[places],
            self.ends[places],
            self.origins[places],
            self.entries,
        )


class _Types(dict[str, int]):
    """A number for every type, the entity types first; case is folded once for each spelling."""

    def __init__(self) -> None:
        self._folded = {name.casefold(): number for number, name in enumerate(ENTITY_TYPES)}

    def __missing__(self, name: str) -> int:
        number = self[name] = self._folded.setdefault(name.casefold(), self.count)
        return number

    @property
    def count(self) -> int:
        """How many types are known so far."""
        return len(self._folded)


class Layout:
    """What the items of a batch have in common: where their texts lie, and a number for every type."""

    def __init__(self, lengths: Sequence[int]) -> None:
        self.lengths = np.array(lengths, dtype=np.int64)
        # Offsets beyond the end of a text fall on what keeps it apart from the next one.
        self.bases = np.concatenate([[0], np.cumsum(self.lengths + len(APART))]).astype(np.int64)
        self.size = int(self.bases[-1]) + 1
        self.longest = int(self.lengths.max(initial=0)) + len(APART)
        self.types = _Types()
        self.count = len(lengths)

    def spans(self, entities: Sequence[Sequence[Entity]]) -> Spans:
        """The entities of every text; exact repetitions are merged."""
        entries = np.fromiter(map(len, entities), np.int64, self.count)
        texts = np.repeat(np.arange(self.count), entries)
        known = self.types
        # One visit to every entity: reading them costs more than all that follows.
        numbers = [
            number
            for each in entities
            for entity in each
            for number in (known[entity.type], entity.start, entity.end)
        ]
        types, starts, ends = np.fromiter(numbers, np.int64, len(numbers)).reshape(-1, 3).T
        bases, limits = self.bases[texts], self.lengths[texts] + 1
        given = np.stack([texts, types, starts, ends])
        strange = (starts > limits) | (ends > limits) | (ends < starts)
        starts = np.minimum(starts, limits)
        starts, ends = starts + bases, np.maximum(np.minimum(ends, limits), starts) + bases
        keys = _keys(starts, ends, types, self.longest, self.types.count)
        origins = _distinct(keys, strange, given)
        return Spans(texts[origins], types[origins], starts[origins], ends[origins], origins, entries)

    def tally(self, texts: Integers, types: Integers) -> Integers:
        """How many of each type each text has: `[text, type]`, unknown types together."""
        places = texts * len(TYPES) + np.minimum(types, len(ENTITY_TYPES))
        return np.bincount(places, minlength=self.count * len(TYPES)).reshape(self.count, len(TYPES))


def strict_tallies(layout: Layout, gold: Spans, predicted: Spans) -> dict[str, Integers]:
    """Gold, predicted and strictly matching entities: `[text, type]` each."""
    strict = strict_matches(predicted, gold)
    return {
        "gold": layout.tally(gold.texts, gold.types),
        "predicted": layout.tally(predicted.texts, predicted.types),
        "strict": layout.tally(predicted.texts[strict], predicted.types[strict]),
    }


def strict_matches(first: Spans, second: Spans) -> NDArray[np.bool_]:
    """Which of the first have the start, the end and the type of one of the second in the same text."""
    longest = 1 + max(int((each.ends - each.starts).max(initial=0)) for each in (first, second))
    kinds = 1 + max(int(each.types.max(initial=0)) for each in (first, second))
    own, others = (_keys(each.starts, each.ends, each.types, longest, kinds) for each in (first, second))
    if not len(others):
        return np.zeros(len(own), dtype=bool)
    # Both are sorted and without repetition.
    places = np.minimum(np.searchsorted(others, own), len(others) - 1)
    matches: NDArray[np.bool_] = others[places] == own
    return matches


def _keys(starts: Integers, ends: Integers, types: Integers, longest: int, kinds: int) -> Integers:
    """One number for each span and type; sorting by it sorts by start, then end, then type."""
    keys: Integers = (starts * longest + ends - starts) * kinds + types
    return keys


def _distinct(keys: Integers, strange: NDArray[np.bool_], given: Integers) -> Integers:
    """The first of all entities that are equal, by place.

    Those with offsets outside of their text were cut to fit: as they were given they may differ, though
    their places do not.
    """
    usual, odd = np.flatnonzero(~strange), np.flatnonzero(strange)
    result: Integers = usual[np.unique(keys[usual], return_index=True)[1]]
    if len(odd):
        result = np.concatenate([result, odd[np.unique(given[:, odd], axis=1, return_index=True)[1]]])
        result = result[np.argsort(keys[result], kind="stable")]
    return result


def partial_matches(layout: Layout, predicted: Spans, gold: Spans) -> tuple[Integers, Integers]:
    """Predictions and gold entities of one type that overlap, one to one: most pairs, then most overlap."""
    # A stretch of its own for every type: spans of different types never overlap.
    return _one_to_one(predicted, gold, layout.size)


def confused_matches(
    predicted: Spans, gold: Spans, partial: tuple[Integers, Integers]
) -> tuple[Integers, Integers]:
    """Of what matches nothing of its type, predictions and gold entities that overlap, one to one."""
    rest = [
        np.setdiff1d(np.arange(len(spans.types)), matched)
        for spans, matched in zip((predicted, gold), partial, strict=True)
    ]
    rows, columns = _one_to_one(predicted.taken(rest[0]), gold.taken(rest[1]), 0)
    return rest[0][rows], rest[1][columns]


def _one_to_one(predicted: Spans, gold: Spans, apart: int) -> tuple[Integers, Integers]:
    """Spans that overlap, one to one: most pairs, then most overlap; types may lie apart."""

    def shifted(spans: Spans) -> tuple[Integers, Integers, Integers]:
        shift = spans.types * apart
        order = np.argsort(spans.starts + shift, kind="stable")
        return order, (spans.starts + shift)[order], (spans.ends + shift)[order]

    first, second = shifted(predicted), shifted(gold)
    result = overlaps(first[1], first[2], second[1], second[2])
    rows, columns = first[0][result.first], second[0][result.second]
    alone = (np.bincount(rows)[rows] == 1) & (np.bincount(columns)[columns] == 1)
    crowd = ~alone
    contested = zip(
        rows[crowd].tolist(),
        columns[crowd].tolist(),
        result.length[crowd].tolist(),
        (predicted.starts[rows[crowd]] == gold.starts[columns[crowd]]).tolist(),
        (predicted.ends[rows[crowd]] == gold.ends[columns[crowd]]).tolist(),
        strict=True,
    )
    chosen = maximum_matching((row, at, (length, start, end)) for row, at, length, start, end in contested)
    settled = np.array(chosen, dtype=np.int64).reshape(-1, 2)
    return (np.concatenate([rows[alone], settled[:, 0]]), np.concatenate([columns[alone], settled[:, 1]]))


def token_tallies(
    layout: Layout, items: Sequence[Item], gold: Spans, predicted: Spans
) -> tuple[Integers, Integers, Integers]:
    """Tokens that are gold, predicted and both, by text and type; a token is in a span that it overlaps."""
    joined = APART.join(item.case.input.text for item in items)
    starts, ends = np.array(word_spans(joined), dtype=np.int64).reshape(-1, 2).T
    texts = np.searchsorted(layout.bases, starts, "right") - 1
    kinds = len(TYPES)

    def labels(spans: Spans) -> Integers:
        types, from_, to = _covered(spans, layout.size)
        within = overlaps(starts, ends, from_, to)
        return np.unique(within.first * kinds + types[within.second])

    marked, claimed = labels(gold), labels(predicted)
    both = np.intersect1d(marked, claimed, assume_unique=True)
    gold_tally, predicted_tally, both_tally = (
        layout.tally(texts[each // kinds], each % kinds) for each in (marked, claimed, both)
    )
    return gold_tally, predicted_tally, both_tally


def _covered(spans: Spans, size: int) -> tuple[Integers, Integers, Integers]:
    """The stretches that each type covers, sorted by start; unknown types together.

    Without it, thousands of spans over one text would meet each of its tokens.
    """
    types = np.minimum(spans.types, len(ENTITY_TYPES))
    order = np.lexsort((spans.starts, types))
    types = types[order]
    starts, ends = spans.starts[order] + types * size, spans.ends[order] + types * size
    reached = np.maximum.accumulate(ends)
    first = np.flatnonzero(np.concatenate([[True], starts[1:] > reached[:-1]])[: len(starts)])
    last = np.concatenate([first[1:] - 1, [len(starts) - 1]])[: len(first)]
    shift = types[first] * size
    placed = np.argsort(starts[first] - shift, kind="stable")
    return types[first][placed], (starts[first] - shift)[placed], (reached[last] - shift)[placed]
