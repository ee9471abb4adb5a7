"""Approvals: a person's recorded word that a result may pass though the numbers speak against it."""

import datetime
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import msgspec

from eval_pipeline.answers import OutputsIdentity
from eval_pipeline.comparison import Comparison, rounded
from eval_pipeline.files import Violation, content_hash, file_bytes, read_json, write_json
from eval_pipeline.gates import Gate, plain_gates
from eval_pipeline.problems import Problems
from eval_pipeline.scoring import Evaluation

FOLDER = "approvals"
REMEDY = "Approvals are written by eval-pipeline approve, not by hand."
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
    def summary(self) -> str:
        """In words: who, when, for what, until when, and why."""
        return (
            f"{', '.join(self.metrics)} approved by {self.approved_by} on {self.approved_at[:10]} "
            f"until {self.expires_at[:10]}: {self.reason}"
        )


def approved_metrics(approvals: Iterable[Approval]) -> set[str]:
    """The metrics that approvals speak of."""
    return {metric for approval in approvals for metric in approval.metrics}


def read_approvals(golden: Path) -> list[Approval]:
    """Every approval of a suite, oldest first, whether it still counts or not."""
    problems = Problems()
    results = []
    for path in sorted((golden / FOLDER).glob("*.json")):
        before = len(problems)
        results += [located.record for located in read_json(path, Approval, problems, _check)]
        if len(problems) == before and path.name != _name(
            msgspec.json.decode(file_bytes(path).decode("utf-8-sig"))
        ):
            problems.add(path, "is not what was approved: its content does not have its name", REMEDY)
    problems.stop_if_any()
    return sorted(results, key=lambda each: (each.approved_at, each.version, each.metrics))


def _check(approval: Approval) -> Iterable[Violation]:
    for field in ("approved_at", "expires_at"):
        try:
            moment = datetime.datetime.fromisoformat(getattr(approval, field))
        except ValueError:
            moment = datetime.datetime.min  # noqa: DTZ901
        if moment.tzinfo is None:
            yield Violation((field,), "is not a moment with a time zone", REMEDY)


def keep_approval(golden: Path, approval: Approval) -> Path:
    """Store an approval; no other one is ever overwritten."""
    path = golden / FOLDER / _name(msgspec.to_builtins(approval))
    write_json(path, approval)
    return path


def _name(content: Any) -> str:
    """The name of an approval's file: who changes a word of it would have to rename it."""
    version = content.get("version") if isinstance(content, dict) else ""
    return f"{version}.{content_hash(content)[:12]}.json"


def result_key(evaluation: Evaluation, comparison: Comparison | None, gates: Mapping[str, Gate]) -> str:
    """What an approval is bound to: the comparison, or the evaluation by itself where there is none."""
    if comparison is not None:
        return comparison.key
    values = [(name, rounded(evaluation.summary.metrics[name].value)) for name in sorted(gates)]
    identity = evaluation.identity
    return content_hash([identity.outputs, identity.golden_hash, plain_gates(gates), values])


def approvals_of(golden: Path, key: str, now: datetime.datetime | None = None) -> tuple[Approval, ...]:
    """The approvals that were given for this very result and have not expired."""
    moment = now or datetime.datetime.now(datetime.UTC)
    return tuple(each for each in read_approvals(golden) if each.result == key and not each.expired(moment))
