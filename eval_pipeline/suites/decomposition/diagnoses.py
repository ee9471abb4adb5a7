"""What the diagnoses of a decomposition mean to somebody who investigates a failure."""

from collections.abc import Sequence

from eval_pipeline.suite import Case, DiagnosisVocabulary, Kind, Wanted
from eval_pipeline.suites.decomposition.cases import DecompositionExpected, DecompositionInput

_MISSED = "Widen what the prompt asks for, or raise `max_concepts`; show an example with such concepts."
_DIRECTION = "Say of each predicate which end is the source, with an example each way."
_PREDICATES = "Define the predicates that are confused against each other, with an example of each."
_QUOTES = "Ask for the words of the text, copied without a change."


def wanted(case: Case[DecompositionInput, DecompositionExpected]) -> Sequence[Wanted]:
    """The expected concepts, by their labels and aliases."""
    return [Wanted(each.label, (each.label, *each.aliases)) for each in case.expected.concepts]


VOCABULARY = DiagnosisVocabulary(
    {
        "missed_required_concept": Kind("missed", "required concepts that were missed", _MISSED),
        "missed_concept": Kind("missed", "concepts that were missed", _MISSED),
        "forbidden_concept": Kind(
            "forbidden",
            "concepts of the forbidden list (canaries)",
            "Say that only what the text states counts.",
        ),
        "alias_candidate": Kind("alias", "concepts under a name that the golden set does not know"),
        "invented_concept": Kind(
            "invented",
            "concepts that nobody expects",
            "Say what is no concept; lower the number that is asked for.",
            brings=("unknown_endpoint", "spurious"),
        ),
        "unquoted_concept": Kind(
            "unquoted", "concepts without a quote", "Ask for a quote for every concept."
        ),
        "invented_quote": Kind("made_up", "quotes that stand nowhere in the text", _QUOTES),
        "paraphrased_quote": Kind("paraphrased", "quotes in other words than the text's", _QUOTES),
        "missed_required_relationship": Kind(
            "unlinked",
            "required relationships that were missed",
            "Ask for relationships sentence by sentence.",
        ),
        "missed_relationship": Kind(
            "unlinked", "relationships that were missed", "Ask for relationships sentence by sentence."
        ),
        "forbidden_relationship": Kind(
            "forbidden",
            "forbidden relationships",
            "Say that a relationship must be stated, not merely likely.",
        ),
        "reversed": Kind(
            "reversed",
            "relationships whose source and target change places",
            _DIRECTION,
            brings=("missed_relationship", "missed_required_relationship", "forbidden_relationship"),
        ),
        "wrong_predicate": Kind(
            "mislabelled",
            "relationships with the right ends and another predicate",
            _PREDICATES,
            brings=("missed_relationship", "missed_required_relationship"),
        ),
        "unknown_endpoint": Kind(
            "invented",
            "relationships of concepts that nobody expects",
            "Let relationships join listed concepts.",
        ),
        "spurious": Kind(
            "invented", "relationships that nobody expects", "Ask only for what a sentence states."
        ),
    },
    wanted,
    lambda given: str(given.source_text),
)
