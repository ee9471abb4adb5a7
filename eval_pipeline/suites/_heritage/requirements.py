"""What makes a heritage golden set good: its size, its languages, and annotators who agree."""

from collections.abc import Callable, Hashable, Mapping, Sequence

from eval_pipeline.metrics.agreement import cohen_kappa
from eval_pipeline.numbers import counted, number
from eval_pipeline.suite import Overview, Requirement, every_value
from eval_pipeline.suites._heritage.vocabulary import LANGUAGES

LOWEST_KAPPA = 0.85
SHARE_ANNOTATED_TWICE = 0.2

LANGUAGE_REQUIREMENT = every_value("language", LANGUAGES, "Cases in each of the four languages.", minimum=10)


def sizes(wanted: Mapping[str, int], count: Callable[[Overview], Mapping[str, int]]) -> Requirement:
    """How far a golden set is from the sizes that its document asks for; `count` tells what there is."""

    def shortfalls(overview: Overview) -> list[str]:
        result = count(overview)
        return [
            f"{name}: {result.get(name, 0):,} of {target:,} ({number(result.get(name, 0) / target)})"
            for name, target in wanted.items()
            if result.get(name, 0) < target
        ]

    return Requirement(
        "sizes",
        "As large as its document asks: " + ", ".join(f"{name} {target}" for name, target in wanted.items()),
        shortfalls,
    )


def agreement(measure: str) -> Requirement:
    """Two annotators agree: Cohen's κ over everything that a fifth of the cases or more label twice.

    `measure` names the labels of a case, in order; `Overview.references` maps the ids of the cases that were
    annotated a second time to the labels that the second annotator gave.
    """

    def compared(overview: Overview) -> tuple[list[str], list[tuple[Hashable, Hashable]], int]:
        second: Mapping[str, Sequence[Hashable]] = overview.references or {}
        first = dict(zip(overview.case_ids, overview.measures[measure], strict=True))
        odd = [f"{name} was annotated twice, but is no case" for name in sorted(second.keys() - first.keys())]
        pairs: list[tuple[Hashable, Hashable]] = []
        shared = sorted(second.keys() & first.keys())
        for name in shared:
            if len(first[name]) == len(second[name]):
                pairs += zip(first[name], second[name], strict=True)
            else:
                odd.append(f"{name}: the second annotation is of another text")
        return odd, pairs, len(shared)

    def facts(overview: Overview) -> list[str]:
        _, pairs, cases = compared(overview)
        kappa = cohen_kappa(pairs)
        value = "undefined" if kappa is None else f"{kappa:.3f}"
        share = cases / len(overview.case_ids)
        size = f"{counted(len(pairs), 'label')} of {counted(cases, 'case')} ({number(share)})"
        return [f"Cohen's κ {value} over {size}"]

    def shortfalls(overview: Overview) -> list[str]:
        odd, pairs, cases = compared(overview)
        kappa = cohen_kappa(pairs)
        if cases < SHARE_ANNOTATED_TWICE * len(overview.case_ids):
            size = counted(len(overview.case_ids), "case")
            odd.append(f"{cases:,} of {size} annotated twice, a fifth is needed")
        if kappa is None or kappa <= LOWEST_KAPPA:
            value = "undefined" if kappa is None else f"{kappa:.3f}"
            odd.append(f"Cohen's κ is {value}, more than {LOWEST_KAPPA} is needed")
        return odd

    text = f"A fifth of the cases were annotated twice, with Cohen's κ above {LOWEST_KAPPA}."
    return Requirement("annotator_agreement", text, shortfalls, facts=facts)
