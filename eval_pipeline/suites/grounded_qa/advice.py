"""What to do about a gate that does not pass: the troubleshooting table, by which gates fail together."""

from __future__ import annotations

from collections.abc import Mapping

BAD = ("warn", "fail")


def advise(statuses: Mapping[str, str]) -> dict[str, str]:
    """Advice by metric, from the status of every gate."""
    bad = {metric for metric, status in statuses.items() if status in BAD}
    precise, cited = "precision" not in bad, "chr" not in bad
    return {
        "precision": (
            "Citations hit, but claims lack the expected wording: tighten what a claim must state, or "
            "review the golden substrings."
            if cited
            else "Citations miss as well: grounding is broken. Check that answers are built from the "
            "retrieved passages and cite those, and that the right passages are retrieved."
        ),
        "chr": (
            "Answers read right but rest on the wrong evidence: let an answer cite the passage it was "
            "taken from, and only retrieved ones."
            if precise
            else "Claims are wrong as well: grounding is broken. Start with what is retrieved and cited."
        ),
        "under_refusal": (
            "Questions without an answer were answered: strengthen the refusal rule, raise the support an "
            "answer needs, or narrow what may be retrieved."
        ),
        "over_refusal": (
            "Questions with an answer were refused, and recall@k is low: let retrieval find the evidence "
            "first (a larger k, smaller passages)."
            if "recall@k" in bad
            else "Questions with an answer were refused though their evidence was retrieved: relax the "
            "refusal rule, or cut passages smaller."
        ),
        "recall@k": (
            "Gold passages are not retrieved: check that the index holds the corpus as it is now, then the "
            "retrieval itself; no answer can be better than what it rests on."
        ),
    }
