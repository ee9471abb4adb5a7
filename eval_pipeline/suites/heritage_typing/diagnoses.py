"""What the diagnoses of custodian types mean to somebody who investigates a failure."""

from eval_pipeline.suite import DiagnosisVocabulary, Kind

VOCABULARY = DiagnosisVocabulary(
    {
        "wrong_type": Kind(
            "mislabelled",
            "custodians of the wrong type",
            "Define the types that are confused against each other.",
        ),
        "secondary_type": Kind(
            "mislabelled",
            "custodians given a type that is only their second",
            "Say which of two types comes first.",
        ),
        "invalid_type": Kind("form", "answers that are no type", "List the types, and ask for one letter."),
    },
    text=lambda given: str(given.text),
)
