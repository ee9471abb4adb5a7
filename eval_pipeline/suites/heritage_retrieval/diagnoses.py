"""What the diagnoses of retrieval mean to somebody who investigates a failure."""

from eval_pipeline.suite import DiagnosisVocabulary, Kind

VOCABULARY = DiagnosisVocabulary(
    {
        "missed_document": Kind(
            "missed", "relevant passages that were not found", "See whether query and passage share words."
        ),
        "irrelevant_first": Kind(
            "invented", "rankings that begin with an irrelevant passage", "Weigh titles and rare words more."
        ),
    }
)
