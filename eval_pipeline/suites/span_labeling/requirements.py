"""What a good golden set for span labeling contains."""

from collections import Counter
from itertools import pairwise
from typing import Any

from eval_pipeline.metrics.text import normalize, word_count
from eval_pipeline.numbers import counted, number
from eval_pipeline.suite import Overview, Requirement, case_count, no_case_lists
from eval_pipeline.suites.span_labeling.cases import KINDS, SpanCase

CASES = 100
SPANS_PER_CATEGORY = 15
DISTRIBUTION_TOLERANCE = 0.05


def measure(case: SpanCase) -> dict[str, Any]:
    """What the requirements look at."""
    spans = sorted(case.expected.spans, key=lambda span: (span.start, span.end))
    return {
        "words": word_count(case.input.prompt),
        "spans": len(spans),
        "categories": [normalize(span.category) for span in spans],
        "overlapping_spans": [
            f"{first.text!r} and {second.text!r}"
            for first, second in pairwise(spans)
            if second.start < first.end
        ],
    }


def _distribution(overview: Overview) -> list[str]:
    kinds = overview.attributes.get("kind", ())
    results = Counter(kinds)
    size = counted(len(kinds), "prompt")
    return [
        f"{kind}: {results[kind]:,} of {size} ({number(results[kind] / len(kinds))}), {share} % wanted"
        for kind, share in KINDS.items()
        if abs(results[kind] / len(kinds) - share / 100) > DISTRIBUTION_TOLERANCE + 1e-9
    ]


def _sizes(overview: Overview) -> list[str]:
    results = Counter(overview.attributes.get("kind", ()))
    return [
        f"{kind}: {counted(results[kind], 'prompt')}, at least {share * CASES // 100} needed"
        for kind, share in KINDS.items()
        if results[kind] < share * CASES // 100
    ]


def _support(overview: Overview) -> list[str]:
    results = Counter(name for names in overview.measures["categories"] for name in names)
    return [
        f"{name}: {counted(count, 'span')}, at least {SPANS_PER_CATEGORY} needed"
        for name, count in sorted(results.items())
        if count < SPANS_PER_CATEGORY
    ]


REQUIREMENTS: tuple[Requirement, ...] = (
    case_count(minimum=CASES, target=CASES, ideal=CASES),
    Requirement(
        "distribution",
        "40 % core, 20 % technical, 20 % complex, 10 % edge cases, 10 % adversarial, within 5 points.",
        _distribution,
    ),
    Requirement(
        "sizes", "At least 40 core, 20 technical, 20 complex, 10 edge and 10 adversarial prompts.", _sizes
    ),
    Requirement(
        "category_support", f"Every category in use has at least {SPANS_PER_CATEGORY} spans.", _support
    ),
    no_case_lists(
        "overlapping_spans",
        "No two golden spans of a prompt overlap.",
        "spans that overlap",
        severity="warning",
    ),
)
