"""What a good golden set for retrieval contains."""

from pathlib import Path
from typing import Any

from eval_pipeline.metrics.ranking import RELEVANT
from eval_pipeline.metrics.text import normalize
from eval_pipeline.suite import Overview, Requirement, each_case, no_case_lists
from eval_pipeline.suites._heritage.requirements import (
    LANGUAGE_REQUIREMENT,
    agreement,
    second_annotation,
    sizes,
    variety,
)
from eval_pipeline.suites._heritage.splits import SPLIT_REQUIREMENTS
from eval_pipeline.suites.heritage_retrieval.scoring import RetrievalCase
from eval_pipeline.suites.heritage_retrieval.trec import read_qrels

QUERIES, JUDGMENTS = 200, 50
FEWEST_JUDGMENTS = 12
GRADES = (0, 1, 2, 3)


def second_annotations(folder: Path) -> dict[str, dict[str, int]]:
    """The grades that a second annotator gave, by query and document."""
    files = second_annotation(folder, [".qrels"], lambda file, problems: [read_qrels(file, problems)])
    return {name: query.grades for judged in files for name, query in judged.items()}


def measure(case: RetrievalCase) -> dict[str, Any]:
    """What the requirements look at."""
    grades = case.expected.judgments.values()
    return {
        "text": case.input.query,
        "judgments": len(case.expected.judgments),
        "relevant_documents": sum(grade >= RELEVANT for grade in grades),
        "judged_irrelevant": sum(grade < RELEVANT for grade in grades),
        "grades": sorted(set(grades)),
        "odd_grades": [str(grade) for grade in sorted(set(grades)) if grade not in GRADES],
        "query": normalize(case.input.query),
        "judged": case.expected.judgments,
    }


def _counted(overview: Overview) -> dict[str, int]:
    """Queries, and the fewest judgments that any of them has."""
    return {"queries": len(overview.case_ids), "judgments_per_query": min(overview.measures["judgments"])}


def _unused_grades(overview: Overview) -> list[str]:
    used = {grade for grades in overview.measures["grades"] for grade in grades}
    return [f"no document has grade {grade}" for grade in GRADES if grade not in used]


def _without_text(overview: Overview) -> list[str]:
    return [
        f"{case_id} has no text; add it to the topics"
        for case_id, query in zip(overview.case_ids, overview.measures["query"], strict=True)
        if not query
    ]


REQUIREMENTS: tuple[Requirement, ...] = (
    sizes({"queries": QUERIES, "judgments_per_query": JUDGMENTS}, _counted),
    LANGUAGE_REQUIREMENT,
    *SPLIT_REQUIREMENTS,
    variety(),
    agreement("judged"),
    Requirement("query_text", "Every judged query has a text, so that engines can be asked.", _without_text),
    Requirement("graded", "The grades 0, 1, 2 and 3 are all in use.", _unused_grades),
    no_case_lists("odd_grades", "Grades are 0, 1, 2 or 3.", "grades outside 0–3", severity="warning"),
    each_case("judgments", f"At least {FEWEST_JUDGMENTS} judged documents.", minimum=FEWEST_JUDGMENTS),
    each_case("relevant_documents", "At least one relevant document.", minimum=1),
    each_case("judged_irrelevant", "Some documents are judged not relevant.", minimum=1),
)
