"""Small golden entries and traces, and the document's own scorer as an oracle."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import msgspec

from eval_pipeline.scoring import score_cases, summarize
from eval_pipeline.suite import Case, Context
from eval_pipeline.suites.grounded_qa import SUITE
from eval_pipeline.suites.grounded_qa.cases import GoldEntry, to_case
from eval_pipeline.suites.grounded_qa.scoring import Settings
from eval_pipeline.suites.grounded_qa.traces import Trace
from eval_pipeline_tests.sources import Recorded, golden

REFUSED = {"claim": "not in context", "citations": []}

GOLD: list[dict[str, Any]] = [
    {
        "qid": "A0001",
        "question": "Does X support null keys?",
        "answerable": True,
        "gold_claim_substr": ["rejects null keys"],
        "gold_citations": ["p1#2"],
        "constraints": ["X rejects null keys."],
    },
    {
        "qid": "A0002",
        "question": "Explain Z.",
        "answerable": False,
        "gold_claim_substr": [],
        "gold_citations": [],
    },
    {
        "qid": "A0003",
        "question": "What domain is allowed?",
        "answerable": True,
        "gold_claim_substr": ["only domain example.com"],
        "gold_citations": ["pB#1"],
    },
]
TRACES: list[dict[str, Any]] = [
    {
        "qid": "A0001",
        "q": "Does X support null keys?",
        "retrieved_ids": ["p1#1", "p1#2", "p2#1"],
        "answer_json": {"claim": "X rejects null keys.", "citations": ["p1#2"]},
    },
    {"qid": "A0002", "q": "Explain Z.", "retrieved_ids": ["p1#1", "p2#1"], "answer_json": REFUSED},
    {
        "qid": "A0003",
        "q": "What domain is allowed?",
        "retrieved_ids": ["pB#1", "p1#2"],
        "answer_json": {"claim": "Only domain example.com is allowed.", "citations": ["pB#1"]},
    },
]


def case(entry: Mapping[str, Any]) -> Case[Any, Any]:
    """A golden entry as a case."""
    return to_case(msgspec.convert(entry, GoldEntry))


def metrics(
    gold: Iterable[Mapping[str, Any]], traces: Iterable[Mapping[str, Any]], k: int = 5
) -> dict[str, float | None]:
    """Every metric of some traces."""
    answers = [msgspec.json.decode(msgspec.json.encode(trace), type=Trace).answer() for trace in traces]
    recorded = Recorded({answer.case_id: answer for answer in answers})
    scores = score_cases(SUITE, [golden(case(entry)) for entry in gold], recorded, Context(Settings(k)))
    return {name: each.value for name, each in summarize(SUITE, scores, {}).metrics.items()}


def document_score(gold: Iterable[Any], traces: Iterable[Any], k: int) -> dict[str, float | int]:
    """What the document's reference scorer is described to compute, with its own rules for empty sets."""
    latest = {trace["qid"]: trace for trace in traces}
    count = dict.fromkeys(("answered", "refused", "answerable", "unanswerable"), 0)
    right = hits = under = over = recalled = 0
    for entry in gold:
        trace = latest.get(entry["qid"], {})
        answer = trace.get("answer_json") or {}
        claim = (answer.get("claim") or "").strip().lower()
        cited, retrieved = answer.get("citations") or [], trace.get("retrieved_ids") or []
        wanted = set(entry["gold_citations"])
        shipped = claim != "not in context"
        count["answerable" if entry["answerable"] else "unanswerable"] += 1
        count["answered" if shipped else "refused"] += 1
        if entry["answerable"]:
            recalled += wanted <= set(retrieved[:k])
            over += not shipped
        else:
            under += shipped
        if shipped and entry["answerable"]:
            parts = [part.lower() for part in entry["gold_claim_substr"]]
            held = not parts or any(len(part) >= 5 and part in claim for part in parts)
            hit = set(cited) <= set(retrieved) and bool(set(cited) & wanted)
            hits += hit
            right += hit and held
    return {
        **count,
        "precision": right / count["answered"] if count["answered"] else 1.0,
        "chr": hits / count["answered"] if count["answered"] else 1.0,
        "under_refusal": under / count["unanswerable"] if count["unanswerable"] else 0.0,
        "over_refusal": over / count["answerable"] if count["answerable"] else 0.0,
        "recall@k": recalled / count["answerable"] if count["answerable"] else 0.0,
    }
