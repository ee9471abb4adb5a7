"""What a good golden set for decomposition contains."""

from typing import Any

from eval_pipeline.metrics.text import normalize, occurs_as_words, paragraphs, word_count
from eval_pipeline.suite import Case, Requirement, case_count, each_case, every_value, no_case_lists
from eval_pipeline.suites.decomposition.cases import DOMAINS, DecompositionExpected, DecompositionInput
from eval_pipeline.suites.decomposition.forms import stands_in_some_form, stems_of


def measure(case: Case[DecompositionInput, DecompositionExpected]) -> dict[str, Any]:
    """What the requirements look at."""
    expected, text = case.expected, normalize(case.input.source_text)
    stems = stems_of(text)
    names = {normalize(name) for concept in expected.concepts for name in (concept.label, *concept.aliases)}
    ends = [end for each in expected.relationships for end in (each.source, each.target)]
    return {
        "words": word_count(case.input.source_text),
        "paragraphs": len(paragraphs(case.input.source_text)),
        "concepts": len(expected.concepts),
        "aliased_concepts": sum(bool(concept.aliases) for concept in expected.concepts),
        "required_concepts": sum(concept.required for concept in expected.concepts),
        "optional_concepts": sum(not concept.required for concept in expected.concepts),
        "relationships": len(expected.relationships),
        "forbidden_concepts": len(expected.forbidden_concepts),
        "forbidden_relationships": len(expected.forbidden_relationships),
        "origin_stated": int(bool(expected.origin.strip())),
        "concepts_not_in_text": [
            concept.label
            for concept in expected.concepts
            if not any(occurs_as_words(normalize(name), text) for name in (concept.label, *concept.aliases))
        ],
        "canaries_in_text": [
            label for label in expected.forbidden_concepts if stands_in_some_form(label, stems)
        ],
        "unknown_relationship_ends": sorted({end for end in ends if normalize(end) not in names}),
    }


REQUIREMENTS: tuple[Requirement, ...] = (
    case_count(minimum=5, target=10, ideal=15),
    every_value("domain", DOMAINS, "At least one case in each of the five domain categories."),
    each_case("words", "The source text has 300 to 800 words.", minimum=300, maximum=800),
    each_case("paragraphs", "The source text has 2 to 5 paragraphs.", minimum=2, maximum=5),
    each_case("origin_stated", "The origin of the source text is stated.", minimum=1),
    each_case("concepts", "15 to 25 expected concepts.", minimum=15, maximum=25),
    each_case("required_concepts", "At least one concept is required.", minimum=1),
    each_case("optional_concepts", "At least one concept is optional.", minimum=1),
    each_case("aliased_concepts", "At least 3 concepts have aliases.", minimum=3),
    each_case("relationships", "30 to 50 expected relationships.", minimum=30, maximum=50),
    each_case("forbidden_concepts", "5 to 10 hallucination canaries.", minimum=5, maximum=10),
    each_case("forbidden_relationships", "3 to 5 forbidden relationships.", minimum=3, maximum=5),
    no_case_lists(
        "concepts_not_in_text", "Every expected concept stands in the source text.", "not in the source text"
    ),
    no_case_lists(
        "canaries_in_text",
        "No hallucination canary stands in the source text, in whatever form.",
        "canaries in the source text",
    ),
    no_case_lists(
        "unknown_relationship_ends",
        "Relationships join expected concepts.",
        "ends of relationships that are no expected concept",
        severity="warning",
    ),
)
