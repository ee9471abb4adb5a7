"""Approvals: a person's recorded word that a result may pass though the numbers speak against it."""

from __future__ import annotations

import datetime
from collections.abc import Iterable

import msgspec

from eval_pipeline.evaluation import OutputsIdentity

INCOMPARABLE = "incomparable"
"""What is approved, in place of a metric, where two sides share too few cases to be compared."""


class Approval(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Who approved which metrics of which result, when, why, and until when."""

    suite: str
    version: str
    against: str
    metrics: tuple[str, ...]
    reason: str
    approved_by: str
    approved_at: str
    expires_at: str
    result: str
    """The very result it was given for, in one word: both sides, the gates and the numbers."""
    conclusion: str
    """What the result said, for those who review the approval."""
    before: OutputsIdentity | None
    after: OutputsIdentity

    def expired(self, now: datetime.datetime) -> bool:
        """Whether its time is over."""
        return now >= datetime.datetime.fromisoformat(self.expires_at)

    @property
    def told(self) -> str:
        """In words: who, when, for what, until when, and why."""
        return (
            f"{', '.join(self.metrics)} approved by {self.approved_by} on {self.approved_at[:10]} "
            f"until {self.expires_at[:10]}: {self.reason}"
        )


def approved_metrics(approvals: Iterable[Approval]) -> set[str]:
    """The metrics that approvals speak of."""
    return {metric for approval in approvals for metric in approval.metrics}
