"""Splits into train, dev and test that never move: each case stores its own, new ones fill what is short."""

import hashlib
from collections import Counter
from collections.abc import Mapping, Sequence

from eval_pipeline.numbers import change, counted, limit, number
from eval_pipeline.suite import Overview, Requirement

SPLITS = {"train": 0.70, "dev": 0.15, "test": 0.15}
FACTORS = ("custodian_type", "country", "data_tier", "source_type")
"""What the splits are stratified over."""
WIDEST = 0.05
"""How far a split's share of a stratum may lie from its target, beyond what whole cases force."""

Attributes = Mapping[str, str]


def assign_splits(cases: Mapping[str, Attributes]) -> dict[str, str]:
    """A split for every case that has none, by id; what is assigned already stays as it is.

    Case by case, in an order that only the ids decide, the split is taken that the case's strata lack most.
    """
    counts: Counter[tuple[str, str, str]] = Counter()
    for attributes in cases.values():
        if attributes.get("split") in SPLITS:
            counts.update((*stratum, attributes["split"]) for stratum in _strata(attributes))
    assigned: dict[str, str] = {}
    for case_id in sorted(cases, key=lambda each: (_scatter(each), each)):
        attributes = cases[case_id]
        if attributes.get("split") not in SPLITS:
            strata = _strata(attributes)
            chosen = min(
                SPLITS, key=lambda split: (-_shortage(split, strata, counts), _scatter(case_id + split))
            )
            counts.update((*stratum, chosen) for stratum in strata)
            assigned[case_id] = chosen
    return dict(sorted(assigned.items()))


def _strata(attributes: Attributes) -> list[tuple[str, str]]:
    return [("", ""), *((factor, attributes.get(factor, "")) for factor in FACTORS)]


def _shortage(split: str, strata: Sequence[tuple[str, str]], counts: Counter[tuple[str, str, str]]) -> float:
    """How many cases a split lacks in the strata of a new case, once it is there."""
    return sum(
        SPLITS[split] * (sum(counts[*stratum, each] for each in SPLITS) + 1) - counts[*stratum, split]
        for stratum in strata
    )


def _scatter(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


def _rows(overview: Overview) -> list[dict[str, str]]:
    names = [*FACTORS, "split"]
    columns = [overview.attributes.get(name, [""] * len(overview.case_ids)) for name in names]
    return [dict(zip(names, values, strict=True)) for values in zip(*columns, strict=True)]


def _deviations(overview: Overview) -> list[tuple[str, int, dict[str, float]]]:
    """Each stratum: its name, its size, and how far each split's share of it is from the target."""
    sizes: Counter[tuple[str, str]] = Counter()
    counts: Counter[tuple[str, str, str]] = Counter()
    for row in _rows(overview):
        for stratum in _strata(row):
            sizes[stratum] += 1
            counts[*stratum, row["split"]] += 1
    return [
        (
            f"{stratum[0]} {stratum[1] or '(none)'}" if stratum[0] else "all",
            size,
            {split: counts[*stratum, split] / size - share for split, share in SPLITS.items()},
        )
        for stratum, size in sorted(sizes.items())
    ]


def _told(name: str, size: int, deviations: Mapping[str, float]) -> str:
    shares = ", ".join(
        f"{split} {number(SPLITS[split] + deviation)} ({change(deviation)})"
        for split, deviation in deviations.items()
    )
    return f"{name}, {counted(size, 'case')}: {shares}"


def _unassigned(overview: Overview) -> list[str]:
    proposals = assign_splits(dict(zip(overview.case_ids, _rows(overview), strict=True)))
    return [f"{case_id} has no split; write: {split}" for case_id, split in proposals.items()]


def _unbalanced(overview: Overview) -> list[str]:
    return [
        _told(name, size, deviations)
        for name, size, deviations in _deviations(overview)
        if any(abs(each) > WIDEST + 1 / size for each in deviations.values())
    ]


SPLIT_ASSIGNED = Requirement(
    "split_assigned",
    "Every case stores its split (train, dev or test), so that it never moves when others are added.",
    _unassigned,
    severity="critical",
)
SPLIT_REQUIREMENTS = (
    SPLIT_ASSIGNED,
    Requirement(
        "split_balance",
        f"Splits hold 70, 15 and 15 % of every custodian type, country, tier and source, within "
        f"{limit(WIDEST)} and one case.",
        _unbalanced,
        facts=lambda overview: [_told(*each) for each in _deviations(overview)],
    ),
)
