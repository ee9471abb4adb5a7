"""Which predicted spans match golden ones, which are fragments, and which are made up.

A batch is matched as columns: only spans that could be matched in more than one way need a matching.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from eval_pipeline.metrics.matching import Overlaps, maximum_matching, overlaps
from eval_pipeline.suites.span_labeling.reading import Indices, Reading, Side

Flags = NDArray[np.bool_]

TOLERANCE = 1e-9


class Pairs(NamedTuple):
    """Pairs of a golden and a predicted span of one case that overlap."""

    gold: Indices
    predicted: Indices
    length: Indices
    agree: Flags
    same: Flags


def find_pairs(gold: Side, predicted: Side, base: Indices, minimum_iou: float, drift: int) -> Pairs:
    """All overlapping pairs: whether they agree in position, and whether their categories are the same.

    With prompts laid end to end, no span meets one of another case.
    """
    gold_base, predicted_base = base[gold.case], base[predicted.case]
    result: Overlaps = overlaps(
        gold.start + gold_base,
        gold.end + gold_base,
        predicted.start + predicted_base,
        predicted.end + predicted_base,
    )
    g, p = result.first, result.second
    union = (gold.end - gold.start)[g] + (predicted.end - predicted.start)[p] - result.length
    close = (np.abs(gold.start[g] - predicted.start[p]) <= drift) & (
        np.abs(gold.end[g] - predicted.end[p]) <= drift
    )
    agree = (result.length >= minimum_iou * union - TOLERANCE) | close
    return Pairs(g, p, result.length, agree, gold.label[g] == predicted.label[p])


def match(pairs: Pairs, wanted: Flags, predicted: Side) -> tuple[Indices, Indices]:
    """A maximum matching of the wanted pairs: golden spans, and the predicted ones matched to them.

    Most matches, then the most characters in common, then the most equal categories, then the
    predictions that start and end first. Where only one span of several can be matched, its best
    partner is taken without a search.
    """
    chosen = np.flatnonzero(wanted)
    rows, columns = pairs.gold[chosen], pairs.predicted[chosen]
    alone = _with_no_rival(rows, columns)
    taken = [_best_of_each(chosen[alone], rows[alone], pairs, predicted)]
    chosen, rows, columns = chosen[~alone], rows[~alone], columns[~alone]
    alone = _with_no_rival(columns, rows)
    taken.append(_best_of_each(chosen[alone], columns[alone], pairs, predicted))
    rest = chosen[~alone]
    result = np.concatenate(taken)
    if not len(rest):
        return pairs.gold[result], pairs.predicted[result]
    candidates = zip(
        pairs.gold[rest].tolist(),
        pairs.predicted[rest].tolist(),
        zip(*(weight.tolist() for weight in _weights(rest, pairs, predicted)), strict=True),
        strict=True,
    )
    settled = np.array(maximum_matching(candidates), dtype=np.int64)
    return (
        np.concatenate([pairs.gold[result], settled[:, 0]]),
        np.concatenate([pairs.predicted[result], settled[:, 1]]),
    )


def _with_no_rival(spans: Indices, partners: Indices) -> Flags:
    """Pairs of spans none of whose partners has another choice."""
    if not len(spans):
        return np.zeros(0, dtype=bool)
    shared = np.bincount(partners)[partners] > 1
    rivals = np.bincount(spans[shared], minlength=int(spans.max()) + 1)
    free: Flags = rivals[spans] == 0
    return free


def _weights(chosen: Indices, pairs: Pairs, predicted: Side) -> tuple[Indices, ...]:
    """How well pairs fit, the most important first."""
    columns = pairs.predicted[chosen]
    same = pairs.same[chosen].astype(np.int64)
    return pairs.length[chosen], same, -predicted.start[columns], -predicted.end[columns]


def _best_of_each(chosen: Indices, spans: Indices, pairs: Pairs, predicted: Side) -> Indices:
    """For every span the pair that fits best."""
    weights = _weights(chosen, pairs, predicted)
    order = np.lexsort((*(-weight for weight in reversed(weights)), spans))
    return chosen[order[_firsts(spans[order])]]


def _firsts(values: Indices) -> Flags:
    """Which of some sorted values are the first of their kind."""
    firsts = np.ones(len(values), dtype=bool)
    firsts[1:] = values[1:] != values[:-1]
    return firsts


def find_fragments(pairs: Pairs, predicted: Side) -> tuple[Indices, Indices]:
    """Predicted spans that lie at least half inside the golden span they overlap most, and that span.

    Of golden spans that a prediction overlaps equally, the first one counts.
    """
    order = np.lexsort((pairs.gold, -pairs.length, pairs.predicted))
    best = order[_firsts(pairs.predicted[order])]
    sizes = (predicted.end - predicted.start)[pairs.predicted[best]]
    inside = best[2 * pairs.length[best] >= sizes]
    return pairs.gold[inside], pairs.predicted[inside]


class Outcome(NamedTuple):
    """What became of every span of a batch."""

    exact: Flags
    """Golden spans matched in position and category."""
    exact_predicted: Flags
    """Predicted spans matched in position and category."""
    gold: Indices
    """Golden spans matched in position, and beside them the predicted ones."""
    predicted: Indices
    fragmented: Flags
    """Golden spans that hold two or more fragments."""
    missed: Flags
    spurious: Flags
    """Predicted spans that are matched to nothing."""
    over_extracted: Flags
    """Spurious ones that are no fragment of a golden span either."""


def match_spans(read: Reading, minimum_iou: float, drift: int) -> Outcome:
    """What becomes of the spans of a batch, which agree in position from an overlap, or within a drift."""
    gold, predicted = read.gold, read.predicted
    pairs = find_pairs(gold, predicted, read.base, minimum_iou, drift)
    size = len(gold.case), len(predicted.case)
    exact = match(pairs, pairs.agree & pairs.same, predicted)
    matched = match(pairs, pairs.agree, predicted)
    holders, fragments = find_fragments(pairs, predicted)
    spurious = ~_flags(size[1], matched[1])
    return Outcome(
        exact=_flags(size[0], exact[0]),
        exact_predicted=_flags(size[1], exact[1]),
        gold=matched[0],
        predicted=matched[1],
        fragmented=np.bincount(holders, minlength=size[0]) >= 2,
        missed=~_flags(size[0], matched[0]),
        spurious=spurious,
        over_extracted=spurious & ~_flags(size[1], fragments),
    )


def _flags(size: int, chosen: Indices) -> Flags:
    flags = np.zeros(size, dtype=bool)
    flags[chosen] = True
    return flags
