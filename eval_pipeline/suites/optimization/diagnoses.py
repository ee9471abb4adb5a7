"""What the diagnoses of optimized prompts mean to somebody who investigates a failure."""

from eval_pipeline.suite import DiagnosisVocabulary, Kind

_KEEP = "Say that everything of the input stays."

VOCABULARY = DiagnosisVocabulary(
    {
        "lost_subject": Kind(
            "missed", "subjects of the input that were lost", _KEEP, brings=("lost_element",)
        ),
        "lost_element": Kind("missed", "elements that were lost", _KEEP),
        "lacks": Kind("missed", "parts that a complete prompt has", "List the parts that a prompt needs."),
        "forbidden_pattern": Kind("forbidden", "forbidden patterns", "Say which words must not appear."),
        "breaks_model_rule": Kind(
            "form", "rules of the target model that were broken", "State the rules of each target model."
        ),
        "does_not_fit": Kind("form", "sentences that do not fit together", "Ask for whole sentences."),
        "word_count": Kind("form", "prompts that are too short or too long", "Ask for 75 to 125 words."),
        "technical_terms": Kind(
            "form", "too few or too many technical terms", "Ask for two to five of them."
        ),
        "below_minimum": Kind("form", "qualities below the golden minimum"),
    }
)
