"""What a good golden set for custodian types contains."""

from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import msgspec

from eval_pipeline.files import read_tsv
from eval_pipeline.golden import CasesBySuffix, TsvCases
from eval_pipeline.numbers import counted
from eval_pipeline.suite import Overview, Requirement
from eval_pipeline.suites._heritage.attributes import CustodianType
from eval_pipeline.suites._heritage.documents import Shape, ShapedCases
from eval_pipeline.suites._heritage.requirements import (
    LANGUAGE_REQUIREMENT,
    agreement,
    second_annotation,
    sizes,
    variety,
)
from eval_pipeline.suites._heritage.splits import SPLIT_REQUIREMENTS
from eval_pipeline.suites._heritage.vocabulary import CUSTODIAN_TYPES
from eval_pipeline.suites.heritage_typing.cases import (
    ClassifiedEntry,
    GoldenRow,
    TypingCase,
    check_classified,
    check_row,
    to_case,
    to_cases,
)

READER = CasesBySuffix(
    TsvCases(GoldenRow, to_case, check_row),
    ShapedCases(Shape("type_classification", ClassifiedEntry, to_cases, check_classified)),
)
ROWS_PER_TYPE = 50


class SecondRow(msgspec.Struct, frozen=True):
    """What a second annotator said about a case."""

    id: str
    gold_type: CustodianType


def second_annotations(folder: Path) -> dict[str, tuple[str, ...]]:
    """What a second annotator said, by case."""
    rows = second_annotation(folder, [".tsv"], lambda file, problems: read_tsv(file, SecondRow, problems))
    return {row.record.id: (row.record.gold_type,) for row in rows}


def measure(case: TypingCase) -> dict[str, Any]:
    """What the requirements look at."""
    return {"text": case.input.text, "labels": (case.expected.type,)}


def _per_type(overview: Overview) -> Mapping[str, int]:
    return Counter(letter for (letter,) in overview.measures["labels"])


def _unbalanced(overview: Overview) -> list[str]:
    counts = _per_type(overview)
    most = max(counts.values())
    return [
        f"{letter}: {counted(counts.get(letter, 0), 'row')}, the most frequent type has {most}"
        for letter in CUSTODIAN_TYPES
        if counts.get(letter, 0) < most / 2
    ]


REQUIREMENTS: tuple[Requirement, ...] = (
    LANGUAGE_REQUIREMENT,
    sizes(dict.fromkeys(CUSTODIAN_TYPES, ROWS_PER_TYPE), _per_type),
    Requirement("balance", "No type has less than half the rows of the most frequent one.", _unbalanced),
    *SPLIT_REQUIREMENTS,
    variety(),
    agreement("labels"),
)
