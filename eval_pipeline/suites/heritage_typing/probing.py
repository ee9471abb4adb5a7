"""The golden answers of heritage_typing."""

from eval_pipeline.suite import Probing
from eval_pipeline.suites.heritage_typing.cases import TypingCase
from eval_pipeline.suites.heritage_typing.scoring import Typing


def golden_answer(case: TypingCase) -> Typing:
    """The type that the row states."""
    return Typing(case.expected.type)


PROBING = Probing(golden_answer)
