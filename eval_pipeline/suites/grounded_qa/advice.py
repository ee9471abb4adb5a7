"""What to do about a gate that does not pass: the troubleshooting table, by which gates fail together."""

from collections.abc import Mapping

from eval_pipeline.language.word_lists import line_lists

BAD = ("warn", "fail")
ADVICE = {name: " ".join(lines) for name, lines in line_lists(__package__, "data/advice.txt").items()}
TOGETHER = {"precision": "chr", "chr": "precision", "over_refusal": "recall@k"}
"""Gates about which there is other advice when a second one does not pass either."""


def advise(statuses: Mapping[str, str]) -> dict[str, str]:
    """Advice by metric, from the status of every gate."""
    advice = {
        metric: ADVICE[metric] for metric in ("precision", "chr", "under_refusal", "over_refusal", "recall@k")
    }
    for metric, other in TOGETHER.items():
        if statuses.get(other) in BAD:
            advice[metric] = ADVICE[f"{metric}, {other}"]
    return advice
