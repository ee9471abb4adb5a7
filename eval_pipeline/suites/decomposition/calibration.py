"""Confidence: how sure an output is of its concepts, beside how many of them are right."""

from collections.abc import Collection, Iterator, Mapping

from eval_pipeline.metrics.rates import ratio
from eval_pipeline.suite import KeyedCount, KeyedSums, Rows

CALIBRATION = "calibration"
BINS = 5
OUTSIDE = "outside 0–1"


def mean_confidence(confidences: Mapping[str, float]) -> float | None:
    """The mean of what concepts say of themselves; a confidence that is no fraction says nothing."""
    stated = sorted(each for each in confidences.values() if 0 <= each <= 1)
    return ratio(sum(stated), len(stated))


def calibration_counts(confidences: Mapping[str, float], right: Collection[str]) -> Iterator[KeyedCount]:
    """How many concepts lie in each bin of confidence, and how many of them are right."""
    for label, confidence in sorted(confidences.items()):
        name = _bin(confidence)
        yield KeyedCount(CALIBRATION, name, "concepts", 1.0)
        yield KeyedCount(CALIBRATION, name, "correct", float(label in right))
        yield KeyedCount(CALIBRATION, name, "confidence", confidence)


def _bin(confidence: float) -> str:
    if not 0 <= confidence <= 1:
        return OUTSIDE
    low = min(int(confidence * BINS + 1e-9), BINS - 1)
    return f"{low / BINS:.1f}–{(low + 1) / BINS:.1f}"


def calibration_rows(table: KeyedSums) -> Rows:
    """Bins of confidence, and how many of the concepts in each are right."""
    columns = (table.column(name)[0].tolist() for name in ("concepts", "correct", "confidence"))
    return [
        {
            "confidence": name,
            "concepts": int(concepts),
            "correct": int(correct),
            "share correct": correct / concepts,
            "mean confidence": None if name == OUTSIDE else confidence / concepts,
        }
        for name, concepts, correct, confidence in zip(table.row_keys, *columns, strict=True)
    ]
