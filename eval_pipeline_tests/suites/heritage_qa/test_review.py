"""What a reader of answers that nobody foresaw would try on heritage_qa."""

from __future__ import annotations

import pytest

from eval_pipeline.suite import Case
from eval_pipeline.suites.heritage_qa import SUITE
from eval_pipeline.suites.heritage_qa.cases import QuestionExpected, QuestionInput
from eval_pipeline_tests.sources import golden, values

FACT = "The Harbour Museum opened in 1800."
REFUSAL = "The sources do not say."


def scored(answer: str, answerable: bool = True) -> dict[str, float | None]:
    expected = QuestionExpected(FACT if answerable else REFUSAL, [FACT] if answerable else [], answerable)
    case = Case("a", QuestionInput("When did the Harbour Museum open?", [FACT], "en"), expected)
    return values(SUITE, [golden(case)], {"a": {"answer": answer}})


@pytest.mark.parametrize("answer", ["", "  \n"])
@pytest.mark.parametrize("answerable", [True, False])
def test_a_blank_answer_is_neither_an_answer_nor_a_refusal(answer: str, answerable: bool) -> None:
    found = scored(answer, answerable)
    assert found["refusal_accuracy"] == 0.0
    assert found["factual_accuracy"] == 0.0
    assert found["faithfulness"] == 0.0


def test_contractions_are_no_content_words() -> None:
    """As words of their own, "didn" and "t" would outweigh what is really said."""
    assert scored("They've opened it; it's 1800.")["faithfulness"] == 1.0
    found = scored("The Harbour Museum didn't open in 1800.")
    assert found["faithfulness"] == scored("The Harbour Museum did not open in 1800.")["faithfulness"] == 1.0
    assert found["factual_accuracy"] == 0.0
