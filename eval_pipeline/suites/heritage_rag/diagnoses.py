"""What the diagnoses of questions over a corpus mean to somebody who investigates a failure."""

from eval_pipeline.suite import DiagnosisVocabulary, Kind
from eval_pipeline.suites.heritage_qa.diagnoses import VOCABULARY as ANSWERS

VOCABULARY = DiagnosisVocabulary(
    {
        **ANSWERS.kinds,
        "missed_passage": Kind(
            "missed",
            "passages that hold the answer and were not retrieved",
            "See whether question and passage share words; retrieve more, or by meaning, too.",
        ),
        "retrieval_missed": Kind(
            "missed", "failures of retrieval alone", "Mend retrieval: the answers rest on what they got."
        ),
        "answer_ignored": Kind(
            "mislabelled",
            "answers that leave aside the passage that holds them",
            "Say that the answer stands in the passages, and where to look first.",
        ),
        "both_failed": Kind(
            "invented",
            "answers that make up what was not retrieved",
            "Say that only what the passages state may be said, and mend retrieval.",
        ),
        "neither_failed": Kind(
            "mislabelled",
            "answers from the right passage that do not answer the question",
            "Say what the kinds of questions ask for.",
        ),
    }
)
