"""What the diagnoses of grounded answers mean to somebody who investigates a failure."""

from eval_pipeline.suite import DiagnosisVocabulary, Kind

VOCABULARY = DiagnosisVocabulary(
    {
        "not_retrieved": Kind(
            "missed",
            "questions whose evidence was not among the passages",
            "Retrieve more passages, or look at how they are found: no prompt can mend this.",
            brings=("over_refusal", "incorrect", "citation_miss"),
        ),
        "over_refusal": Kind(
            "refused",
            "refusals of questions that have an answer",
            "Say what is enough to answer; see retrieval.",
        ),
        "near_refusal": Kind(
            "refused", "refusals in other words than the agreed ones", "Give the exact words."
        ),
        "under_refusal": Kind(
            "invented",
            "answers to questions that have none",
            "Say that a related passage is no answer, and when to refuse.",
            brings=("citation_miss",),
        ),
        "incorrect": Kind(
            "mislabelled",
            "claims that are not the answer",
            "Say what makes a sentence the answer to a question.",
        ),
        "citation_miss": Kind(
            "unquoted",
            "claims without a citation of their evidence",
            "Ask for the passage that holds the claim.",
        ),
        "long_claim": Kind("form", "claims that are too long", "Ask for one sentence."),
    }
)
