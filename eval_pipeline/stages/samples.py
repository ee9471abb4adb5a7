"""Samples of cases: drawn by a seed and the cases' ids, whatever order they come in."""

import hashlib
from collections.abc import Mapping

from eval_pipeline.answers import CaseSample
from eval_pipeline.problems import bad_value
from eval_pipeline.store import GoldenTable


def draw_cases(
    golden: GoldenTable, cases: int | None, stratify: str | None = None, seed: int = 0
) -> GoldenTable:
    """So many cases of a golden set. Where it has no more, or none are asked for, it is no sample."""
    if cases is None:
        for name, value in (("stratify", stratify), ("seed", seed)):
            if value:
                raise bad_value(name, "there is no sample to draw", "Say of how many cases: --cases 50.")
        return golden
    if cases < 1:
        raise bad_value("cases", f"{cases} is no number of cases", "Write 1 or more.")
    if stratify is not None:
        _stop_unless_there(golden, stratify)
    if cases >= golden.facts.cases:
        return golden
    return sampled(golden, CaseSample(cases, golden.facts.cases, stratify or "", seed))


def sampled(golden: GoldenTable, sample: CaseSample | None) -> GoldenTable:
    """The cases of a sample alone; a golden set that is one already stays what it is."""
    if sample is None or golden.sample is not None:
        return golden
    strata = {case_id: attributes.get(sample.stratify, "") for case_id, attributes in golden.attributes()}
    return golden.sampled(sample, chosen_cases(strata, sample.cases, sample.seed))


def chosen_cases(strata: Mapping[str, str], count: int, seed: int) -> frozenset[str]:
    """The ids of so many cases, given the stratum of each: of every stratum those whose hashes come first."""
    members: dict[str, list[str]] = {}
    for case_id, stratum in strata.items():
        members.setdefault(stratum, []).append(case_id)
    shares = allocated({stratum: len(ids) for stratum, ids in members.items()}, count)

    def rank(case_id: str) -> bytes:
        return hashlib.sha256(f"{seed} {case_id}".encode()).digest()

    return frozenset(
        case_id for stratum, ids in members.items() for case_id in sorted(ids, key=rank)[: shares[stratum]]
    )


def allocated(sizes: Mapping[str, int], count: int) -> dict[str, int]:
    """How many of `count` fall to each stratum: in proportion to its size, by largest remainder.

    Where remainders are equal, the larger stratum comes first, then the one whose name does.
    """
    total = sum(sizes.values())
    whole = {stratum: count * size // total for stratum, size in sizes.items()}
    order = sorted(sizes, key=lambda each: (-(count * sizes[each] % total), -sizes[each], each))
    left = count - sum(whole.values())
    return {stratum: whole[stratum] + (stratum in order[:left]) for stratum in sizes}


def _stop_unless_there(golden: GoldenTable, attribute: str) -> None:
    names = sorted({name for _, attributes in golden.attributes() for name in attributes})
    if attribute not in names:
        remedy = f"Attributes: {', '.join(names)}." if names else "The cases have no attributes."
        raise bad_value("stratify", f"no case has the attribute {attribute!r}", remedy)
