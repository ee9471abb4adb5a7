"""What the diagnoses of heritage questions mean to somebody who investigates a failure."""

from eval_pipeline.suite import DiagnosisVocabulary, Kind

VOCABULARY = DiagnosisVocabulary(
    {
        "refusal": Kind(
            "refused",
            "refusals of questions that have an answer",
            "Say that what the passages state is enough.",
        ),
        "unsupported": Kind(
            "invented",
            "claims that the passages do not bear out",
            "Say that only what the passages state may be said.",
        ),
        "incorrect": Kind(
            "mislabelled", "claims that are not the answer", "Say what the kinds of questions ask for."
        ),
        "judged_wrong": Kind("mislabelled", "answers that the judge finds wrong"),
        "too_long": Kind("form", "answers that are too long", "Ask for a sentence or two."),
        "scrambled": Kind("form", "answers whose words are out of order", "Look at the raw answers."),
    },
    text=lambda given: "\n".join(given.context),
)
