"""What a good golden set for entity recognition contains."""

from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from eval_pipeline.golden import CasesBySuffix
from eval_pipeline.metrics.text import word_spans
from eval_pipeline.suite import Overview, Requirement, case_count
from eval_pipeline.suites._heritage.documents import Shape, ShapedCases
from eval_pipeline.suites._heritage.requirements import (
    LANGUAGE_REQUIREMENT,
    agreement,
    second_annotation,
    sizes,
    variety,
)
from eval_pipeline.suites._heritage.splits import SPLIT_REQUIREMENTS
from eval_pipeline.suites._heritage.vocabulary import ENTITY_TYPES
from eval_pipeline.suites.heritage_ner.brat import BratCases
from eval_pipeline.suites.heritage_ner.cases import GoldenEntry, NerCase, check_entry, to_cases
from eval_pipeline.suites.heritage_ner.iob2 import OUTSIDE, Iob2Cases

READER = CasesBySuffix(
    ShapedCases(Shape("ner_annotations", GoldenEntry, to_cases, check_entry)), Iob2Cases(), BratCases()
)
MENTIONS_PER_TYPE = 100


def token_labels(case: NerCase) -> tuple[str, ...]:
    """The entity type of every token, `O` outside of entities; of nested entities the longest counts."""
    entities = sorted(case.expected.entities, key=lambda each: each.start - each.end)
    return tuple(
        next((each.type for each in entities if each.start < end and start < each.end), OUTSIDE)
        for start, end in word_spans(case.input.text)
    )


def second_annotations(folder: Path) -> dict[str, tuple[str, ...]]:
    """What a second annotator marked, by case: files in any of the golden formats."""
    return {
        case.id: token_labels(case) for case, _ in second_annotation(folder, READER.suffixes, READER.read)
    }


def measure(case: NerCase) -> dict[str, Any]:
    """What the requirements look at."""
    return {
        "text": case.input.text,
        "mentions": Counter(each.type for each in case.expected.entities),
        "token_labels": token_labels(case),
    }


def _mentions(overview: Overview) -> Mapping[str, int]:
    total: Counter[str] = Counter()
    for each in overview.measures["mentions"]:
        total.update(each)
    return total


REQUIREMENTS: tuple[Requirement, ...] = (
    case_count(minimum=50, target=150, ideal=300),
    LANGUAGE_REQUIREMENT,
    sizes(dict.fromkeys(ENTITY_TYPES, MENTIONS_PER_TYPE), _mentions),
    *SPLIT_REQUIREMENTS,
    variety(),
    agreement("token_labels"),
)
