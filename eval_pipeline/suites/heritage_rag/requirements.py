"""What a good golden set for questions over a corpus contains."""

from typing import Any

from eval_pipeline.suite import Requirement, every_value, no_case_lists
from eval_pipeline.suites._heritage.requirements import LANGUAGE_REQUIREMENT, variety
from eval_pipeline.suites._heritage.splits import SPLIT_ASSIGNED
from eval_pipeline.suites.heritage_qa.cases import QUESTION_TYPES
from eval_pipeline.suites.heritage_qa.scoring import Answered, judge
from eval_pipeline.suites.heritage_rag.cases import RagCase, as_question


def measure(case: RagCase) -> dict[str, Any]:
    """What the requirements look at."""
    golden = judge(as_question(case, case.expected.facts), Answered(case.expected.answer), founded=True)
    return {
        "text": case.input.question,
        "passages": len({each for holders in case.expected.passages for each in holders}),
        "golden_answer_incorrect": [case.expected.answer] if golden.factual_accuracy < 1 else [],
    }


REQUIREMENTS: tuple[Requirement, ...] = (
    every_value("question_type", QUESTION_TYPES, "Each of the four question types.", minimum=10),
    LANGUAGE_REQUIREMENT,
    no_case_lists(
        "golden_answer_incorrect",
        "Every golden answer scores factual accuracy 1.",
        "not borne out by its facts",
    ),
    SPLIT_ASSIGNED,  # its questions keep the splits of heritage_qa, however many of them are taken
    variety(),
)
