"""How far two annotators agree beyond chance."""

from collections import Counter
from collections.abc import Hashable, Iterable


def cohen_kappa(pairs: Iterable[tuple[Hashable, Hashable]]) -> float | None:
    """Cohen's κ = (observed − expected agreement) ÷ (1 − expected agreement).

    `pairs` holds what the two annotators said about each item. Null without items, and where both said
    one and the same label throughout: agreement by chance is then certain, and κ undefined.
    """
    counts = Counter(pairs)
    total = sum(counts.values())
    first: Counter[Hashable] = Counter()
    second: Counter[Hashable] = Counter()
    for (one, other), count in counts.items():
        first[one] += count
        second[other] += count
    agreed = total * sum(count for (one, other), count in counts.items() if one == other)
    by_chance = sum(count * second[label] for label, count in first.items())
    return (agreed - by_chance) / (total * total - by_chance) if total * total > by_chance else None
