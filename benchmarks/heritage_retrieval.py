"""Retrieval metrics for 10,000 queries with 100 results each, beside pytrec_eval-terrier.

Both start from the same ids and scores and end with the same ten measures of every query: here that means
ranking the relevant documents and measuring; there it means building the nested dicts that it asks for, and
evaluating them. Grades are binary, so that the numbers must agree.
"""

from __future__ import annotations

import random
import time
from collections.abc import Callable

import pytrec_eval

from eval_pipeline.metrics.ranking import hits, retrieval_measures

QUERIES, RESULTS, JUDGED = 10_000, 100, 50
ROUNDS = 3
DEPTHS = (5, 10, 20)

Run = list[tuple[str, list[str], list[float]]]
Judgments = dict[str, dict[str, int]]
Means = dict[str, float]


def make_data(seed: int) -> tuple[Run, Judgments]:
    """Random results, a tie among them now and then, and binary judgments of some and of others."""
    random_ = random.Random(seed)
    run, judgments = [], {}
    for number in range(QUERIES):
        documents = [f"doc-{each}" for each in random_.sample(range(1000), RESULTS)]
        run.append((f"q{number}", documents, [random_.randrange(100_000) / 2048 for _ in documents]))
        judged = random_.sample(range(1000), JUDGED)
        judgments[f"q{number}"] = {f"doc-{each}": random_.randrange(2) for each in judged}
        judgments[f"q{number}"][documents[0]] = 1
    return run, judgments


def here(run: Run, judgments: Judgments) -> Means:
    """The functions of this project."""
    found = [hits(ids, scores, judgments[query]) for query, ids, scores in run]
    measures = retrieval_measures(found, [judgments[query] for query, _, _ in run], DEPTHS)
    return {name: float(values.mean()) for name, values in measures.items()}


def there(run: Run, judgments: Judgments) -> Means:
    """pytrec_eval-terrier, dicts included."""
    cuts = ",".join(map(str, DEPTHS))
    names = {f"ndcg_cut.{cuts}", f"P.{cuts}", f"recall.{cuts}", "recip_rank"}
    evaluator = pytrec_eval.RelevanceEvaluator(judgments, names)
    results = evaluator.evaluate(
        {query: dict(zip(ids, scores, strict=True)) for query, ids, scores in run}
    ).values()
    return {
        "mrr": sum(each["recip_rank"] for each in results) / QUERIES,
        **{
            f"{ours}@{depth}": sum(each[f"{theirs}_{depth}"] for each in results) / QUERIES
            for ours, theirs in (("ndcg", "ndcg_cut"), ("precision", "P"), ("recall", "recall"))
            for depth in DEPTHS
        },
    }


def best(function: Callable[[Run, Judgments], Means], run: Run, judgments: Judgments) -> tuple[float, Means]:
    """The shortest of a few times, and what was computed."""
    seconds = []
    for _ in range(ROUNDS):
        started = time.perf_counter()
        means = function(run, judgments)
        seconds.append(time.perf_counter() - started)
    return min(seconds), means


def main() -> None:
    """Print both times and their ratio."""
    run, judgments = make_data(seed=7)
    ours, our_means = best(here, run, judgments)
    theirs, their_means = best(there, run, judgments)
    assert all(abs(our_means[name] - their_means[name]) < 1e-9 for name in their_means)
    print(f"retrieval metrics, {QUERIES:,} queries × {RESULTS}: {ours:.2f} s, pytrec_eval {theirs:.2f} s")
    print(f"  {theirs / ours:.1f} × as fast as pytrec_eval-terrier (promised: at least 1 ×)")


if __name__ == "__main__":
    main()
