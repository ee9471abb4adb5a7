"""What the diagnoses of entity linking mean to somebody who investigates a failure."""

from eval_pipeline.suite import DiagnosisVocabulary, Kind

_NIL = "Say when a mention is NIL: how sure a link has to be."

VOCABULARY = DiagnosisVocabulary(
    {
        "no_prediction": Kind(
            "missed", "mentions without an entry", "Ask for one entry for each mention id."
        ),
        "false_nil": Kind("refused", "mentions taken for NIL that the knowledge base holds", _NIL),
        "missed_nil": Kind("invented", "links of mentions that the knowledge base does not hold", _NIL),
        "wrong_link": Kind(
            "mislabelled", "mentions linked to another entry", "Show candidates with what tells them apart."
        ),
        "inconsistent_identifiers": Kind(
            "mislabelled", "identifiers that do not belong together", "Take all identifiers from one entry."
        ),
        "wrong_isil": Kind("mislabelled", "wrong ISIL codes", "Take all identifiers from one entry."),
        "contradicting_entries": Kind("form", "mentions with entries that contradict each other"),
        "unknown_mention": Kind("invented", "entries for mentions that were not asked for"),
    }
)
