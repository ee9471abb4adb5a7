"""What a good golden set for heritage questions contains."""

from pathlib import Path
from typing import Any

import msgspec

from eval_pipeline.files import read_json_lines
from eval_pipeline.numbers import counted
from eval_pipeline.suite import Overview, Requirement, each_case, every_value, no_case_lists
from eval_pipeline.suites._heritage.requirements import (
    LANGUAGE_REQUIREMENT,
    agreement,
    second_annotation,
    sizes,
    variety,
)
from eval_pipeline.suites._heritage.splits import SPLIT_REQUIREMENTS
from eval_pipeline.suites.heritage_qa.cases import QUESTION_TYPES, QuestionCase, QuestionType
from eval_pipeline.suites.heritage_qa.claims import Evidence, claims_in
from eval_pipeline.suites.heritage_qa.scoring import Answered, judge

SAMPLES = 300
"""Questions that the document asks for."""
FEWEST_UNANSWERABLE = 0.1


class SecondAnswer(msgspec.Struct, frozen=True):
    """What a second annotator said about a question; the answers themselves are compared by reading."""

    id: str
    answer_type: QuestionType
    answerable: bool


def second_annotations(folder: Path) -> dict[str, list[tuple[str, bool]]]:
    """The type of the answer and whether there is one, which make one label, by case."""
    rows = second_annotation(
        folder, [".jsonl"], lambda file, problems: read_json_lines(file, SecondAnswer, problems)
    )
    return {row.record.id: [(row.record.answer_type, row.record.answerable)] for row in rows}


def measure(case: QuestionCase) -> dict[str, Any]:
    """What the requirements look at."""
    language = case.input.language
    passages = [Evidence.of(passage, language) for passage in case.input.context]
    facts = [claim for fact in case.expected.facts for claim in claims_in(fact, language)]
    golden = judge(case, Answered(case.expected.answer), founded=False)
    return {
        "text": "\n".join([case.input.question, *case.input.context]),
        "labels": [(case.attributes["question_type"], case.expected.answerable)],
        "passages": len(case.input.context),
        "facts": len(case.expected.facts),
        "facts_not_in_context": [
            claim.text for claim in facts if not any(passage.supports(claim) for passage in passages)
        ],
        "golden_answer_incorrect": [case.expected.answer] if golden.factual_accuracy < 1 else [],
        "golden_answer_unfaithful": [case.expected.answer]
        if golden.faithfulness is not None and golden.faithfulness < 1
        else [],
    }


def _few_unanswerable(overview: Overview) -> list[str]:
    result = list(overview.attributes.get("answerable", ())).count("no")
    needed = FEWEST_UNANSWERABLE * len(overview.case_ids)
    few = f"{counted(result, 'unanswerable question')}, at least {needed:.0f} needed"
    return [] if result >= needed else [few]


REQUIREMENTS: tuple[Requirement, ...] = (
    sizes({"questions": SAMPLES}, lambda overview: {"questions": len(overview.case_ids)}),
    every_value("question_type", QUESTION_TYPES, "Each of the four question types.", minimum=10),
    LANGUAGE_REQUIREMENT,
    Requirement(
        "unanswerable", "A tenth or more of the questions have no answer in their context.", _few_unanswerable
    ),
    each_case("passages", "At least two passages to choose from.", minimum=2),
    no_case_lists(
        "facts_not_in_context", "Every golden fact stands in a passage.", "facts that no passage holds"
    ),
    no_case_lists(
        "golden_answer_incorrect",
        "Every golden answer scores factual accuracy 1.",
        "not borne out by its facts",
    ),
    no_case_lists(
        "golden_answer_unfaithful",
        "Every sentence of a golden answer is supported by one passage, or joins what several say.",
        "not supported by one passage",
        severity="warning",
    ),
    *SPLIT_REQUIREMENTS,
    variety(),
    agreement("labels"),
)
