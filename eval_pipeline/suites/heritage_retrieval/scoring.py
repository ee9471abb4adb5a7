"""Scoring ranked results: the measures of retrieval, and what each source contributes."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

import eval_pipeline.suite as kit
from eval_pipeline.answers import Answer
from eval_pipeline.metrics.ranking import RELEVANT, hits, ranked, retrieval_measures
from eval_pipeline.metrics.rates import ratio
from eval_pipeline.suites.heritage_retrieval.cases import RetrievalExpected, RetrievalInput
from eval_pipeline.suites.heritage_retrieval.trec import best_results

DEPTHS = (5, 10, 20)
ANALYSED = 10
"""Results of each query that the analysis of sources looks at."""
MUST_FIND = 2
"""The grade from which a document that is missing from the first results is worth a diagnosis."""
UNKNOWN = "unknown"

RetrievalCase = kit.Case[RetrievalInput, RetrievalExpected]


def has_relevant(case: RetrievalCase) -> bool:
    """Whether any document is relevant; without one a query says nothing about retrieval."""
    return any(grade >= RELEVANT for grade in case.expected.judgments.values())


def score(items: Sequence[kit.Item], context: kit.Context) -> kit.Batch:
    """The measures of many queries at once."""
    judgments = [item.case.expected.judgments for item in items]
    lists = [
        ([each.doc_id for each in item.output.results], [each.score for each in item.output.results])
        for item in items
    ]
    results = [hits(ids, scores, judged) for (ids, scores), judged in zip(lists, judgments, strict=True)]
    measures = retrieval_measures(results, judgments, DEPTHS)
    rankings = [ranked(ids, scores, "descending") for ids, scores in lists]
    columns = {
        **measures,
        "judged@10": np.array([_judged(*pair) for pair in zip(rankings, judgments, strict=True)]),
        "duplicate_rate": np.array(
            [
                1 - len(order) / len(ids) if ids else np.nan
                for order, (ids, _) in zip(rankings, lists, strict=True)
            ]
        ),
    }
    left_out = np.isnan(measures["mrr"])
    counts: dict[str, kit.Values] = {"left_out": left_out.astype(float)}
    for name, measured in columns.items():
        values = np.where(left_out, np.nan, measured)
        counts[name] = np.nan_to_num(values)
        counts[kit.defined(name)] = (~np.isnan(values)).astype(float)
    ordered = [
        (index, pair) for index, pair in enumerate(zip(items, rankings, strict=True)) if not left_out[index]
    ]
    return kit.Batch(
        counts,
        keyed=[(index, row) for index, (item, order) in ordered for row in _sources(item, order, context)],
        diagnoses=[(index, row) for index, (item, order) in ordered for row in _diagnoses(item.case, order)],
    )


def errored(case: RetrievalCase, answer: Answer | None) -> kit.CaseScore:
    """A query without a usable output found nothing, and repeats nothing; left-out ones stay left out."""
    no_results = kit.mean_counts({"duplicate_rate": None})
    return kit.CaseScore({"left_out": 0.0 if has_relevant(case) else 1.0, **no_results})


def case_passes(sums: kit.Sums) -> NDArray[np.bool_]:
    """A query passes when a relevant document stands within the first five."""
    return np.asarray(sums["precision@5"] > 0, dtype=np.bool_)


def _judged(order: Sequence[str], judged: Mapping[str, int]) -> float:
    first = order[:ANALYSED]
    return sum(each in judged for each in first) / len(first) if first else np.nan


def _sources(item: kit.Item, order: Sequence[str], context: kit.Context) -> Iterator[kit.KeyedCount]:
    """How much each retriever, and each kind of passage, contributes to the first results."""
    best = best_results(item.output.results)
    passages: Mapping[str, Any] = context.resources.passages if context.resources else {}
    counts: Counter[tuple[str, str, str]] = Counter()
    for rank, document in enumerate(order[:ANALYSED], 1):
        passage = passages.get(document)
        rows = (
            ("sources", best[document].source or UNKNOWN),
            ("passage_sources", passage.source if passage else UNKNOWN),
        )
        for row in rows:
            counts[*row, "results"] += 1
            counts[*row, "top1"] += rank == 1
            counts[*row, "top5"] += rank <= 5
            counts[*row, "relevant"] += item.case.expected.judgments.get(document, 0) >= RELEVANT
    for (table, source, column), count in counts.items():
        yield kit.KeyedCount(table, source, column, count)


def source_rows(table: kit.KeyedSums) -> kit.Rows:
    """Each source's share of the first ten, one and five results, and how much of its own is relevant."""
    columns = {name: table.column(name)[0].tolist() for name in ("results", "top1", "top5", "relevant")}
    totals = {name: sum(values) for name, values in columns.items()}
    return [
        {
            "source": source,
            "results": int(columns["results"][row]),
            "share": ratio(columns["results"][row], totals["results"]),
            "top1": ratio(columns["top1"][row], totals["top1"]),
            "top5": ratio(columns["top5"][row], totals["top5"]),
            "relevant": ratio(columns["relevant"][row], columns["results"][row]),
        }
        for row, source in enumerate(table.row_keys)
    ]


def _diagnoses(case: RetrievalCase, order: Sequence[str]) -> Iterator[kit.Diagnosis]:
    judged = case.expected.judgments
    first = set(order[:ANALYSED])
    for document, grade in sorted(judged.items(), key=lambda pair: (-pair[1], pair[0])):
        if grade >= MUST_FIND and document not in first:
            where = f"rank {order.index(document) + 1}" if document in order else "not retrieved"
            yield kit.Diagnosis("missed_document", f"{document} (grade {grade})", where)
    if order and has_relevant(case) and judged.get(order[0], 0) < RELEVANT:
        known = "not relevant" if order[0] in judged else "not judged"
        yield kit.Diagnosis("irrelevant_first", "", f"{order[0]} ({known})")


def _measure(name: str, description: str, explained_by: str = "missed_document") -> kit.Metric:
    """A mean over the queries that have a relevant document."""
    return kit.mean(name, description, population=has_relevant, explained_by=explained_by)


METRICS: tuple[kit.Metric, ...] = (
    *(
        _measure(
            f"ndcg@{depth}",
            f"Σ over ranks i ≤ {depth} of (2^grade − 1) ÷ log₂(i + 1), divided by the same sum for the best "
            "order of all judged documents.",
        )
        for depth in DEPTHS
    ),
    *(
        _measure(
            f"precision@{depth}",
            f"Relevant documents within the first {depth} ÷ {depth}.",
            "irrelevant_first",
        )
        for depth in DEPTHS
    ),
    *(
        _measure(f"recall@{depth}", f"Relevant documents within the first {depth} ÷ relevant documents.")
        for depth in DEPTHS
    ),
    _measure("mrr", "1 ÷ the rank of the first relevant document; 0 without one.", "irrelevant_first"),
    _measure(
        "judged@10",
        "Judged documents among the first ten results ÷ those results: how much the judgments can tell.",
        "",
    ),
    kit.Metric(
        "duplicate_rate",
        "Results that repeat a document ÷ results; they are dropped before anything is measured.",
        kit.ratio_of("duplicate_rate", kit.defined("duplicate_rate")),
        "lower",
        population=has_relevant,
    ),
    kit.Metric(
        "queries_left_out",
        "Queries without a relevant document: nothing can be measured on them.",
        lambda sums: sums["left_out"],
        direction="lower",
        unit="number",
    ),
)
