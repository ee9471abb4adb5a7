"""What the diagnoses of suggestions mean to somebody who investigates a failure."""

from eval_pipeline.suite import DiagnosisVocabulary, Kind

VOCABULARY = DiagnosisVocabulary(
    {
        "other_category": Kind(
            "mislabelled",
            "suggestions of another category",
            "Say what belongs to the category and what does not.",
        ),
        "breaks_grammar": Kind(
            "form", "suggestions that break the sentence", "Show the sentence with the span cut out."
        ),
        "forbidden_output": Kind("forbidden", "forbidden suggestions", "Say which words must not appear."),
        "too_long_or_short": Kind(
            "form", "suggestions of quite another length than the span", "Ask for about as many words."
        ),
        "below_minimum": Kind("form", "qualities below the golden minimum"),
    },
    text=lambda given: str(given.prompt),
)
