"""What to do about a gate that does not pass: the actions of the bands."""

from __future__ import annotations

from collections.abc import Mapping

UNSTABLE = "Report these results with caution; below 0.6 they are unreliable: find out first why runs differ."
ADVICE: dict[str, dict[str, str]] = {
    "detection_rate": {
        "fail": "Most known errors are missed: redesign the workflow.",
        "warn": "Significant changes are needed: start with the categories that are blind spots.",
    },
    "detection_rate_critical": {"warn": "Critical errors come first: give them a concern of their own."},
    "precision": {
        "fail": "Too many false alarms. If decisions are pending, precision_upper tells what is possible."
    },
    "token_efficiency": {"warn": "Too dear for what it finds: drop concerns of low efficiency."},
    "discovery_rate": {
        "warn": "Only expected errors are found, or nobody has decided yet about the others. That is not bad "
        "where the ground truth is complete."
    },
    "depth_quality": {
        "fail": "Only symptoms are named: ask for what causes them.",
        "warn": "Causes are named, structures are not: ask why the cause could arise.",
    },
    "finding_consistency": {
        "warn": "Findings come and go: report only those that appear in over half of the runs."
    },
    "pending_rate": {
        "warn": "Findings wait for a person. Run: eval-pipeline review findings VERSION, then predict, "
        "adjudicate, bias."
    },
}
"""By metric and status; a gate whose severity is warning never says fail."""


def advise(statuses: Mapping[str, str]) -> dict[str, str]:
    """Advice by metric, from the status of every gate."""
    return {
        metric: UNSTABLE if metric.startswith("run_stability") else ADVICE.get(metric, {}).get(status, "")
        for metric, status in statuses.items()
    }
