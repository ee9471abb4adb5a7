"""The golden answers of heritage_retrieval."""

from eval_pipeline.suite import Probing
from eval_pipeline.suites.heritage_retrieval.scoring import RetrievalCase
from eval_pipeline.suites.heritage_retrieval.trec import Result, Retrieval


def golden_answer(case: RetrievalCase) -> Retrieval:
    """All judged documents, the best first."""
    judged = sorted(case.expected.judgments.items(), key=lambda pair: (-pair[1], pair[0]))
    return Retrieval([Result(document) for document, _ in judged])


PROBING = Probing(golden_answer, ranked=("results",))
