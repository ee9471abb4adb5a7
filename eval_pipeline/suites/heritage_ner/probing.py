"""The golden answers of heritage_ner."""

from eval_pipeline.suite import Probing
from eval_pipeline.suites.heritage_ner.cases import NerCase
from eval_pipeline.suites.heritage_ner.scoring import Extraction


def golden_answer(case: NerCase) -> Extraction:
    """Every entity that was marked."""
    return Extraction(case.expected.entities)


PROBING = Probing(golden_answer)
