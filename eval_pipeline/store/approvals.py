"""Approvals as reviewed data: a file for each, in the suite's golden folder."""

from __future__ import annotations

import datetime
from collections.abc import Iterable, Mapping
from pathlib import Path

from eval_pipeline.approvals import Approval
from eval_pipeline.comparison.compare import DIGITS, Comparison
from eval_pipeline.content import content_hash, write_json
from eval_pipeline.documents import Violation, read_json
from eval_pipeline.evaluation import Evaluation
from eval_pipeline.gates import Gate
from eval_pipeline.problems import Problems

FOLDER = "approvals"


def read_approvals(golden: Path) -> list[Approval]:
    """Every approval of a suite, oldest first, whether it still counts or not."""
    problems = Problems()
    found = [
        located.record
        for path in sorted((golden / FOLDER).glob("*.json"))
        for located in read_json(path, Approval, problems, _check)
    ]
    problems.stop_if_any()
    return sorted(found, key=lambda each: (each.approved_at, each.version, each.metrics))


def _check(approval: Approval) -> Iterable[Violation]:
    for field in ("approved_at", "expires_at"):
        try:
            moment = datetime.datetime.fromisoformat(getattr(approval, field))
        except ValueError:
            moment = datetime.datetime.min  # noqa: DTZ901
        if moment.tzinfo is None:
            remedy = "Approvals are written by eval-pipeline approve, not by hand."
            yield Violation((field,), "is not a moment with a time zone", remedy)


def keep_approval(golden: Path, approval: Approval) -> Path:
    """Store an approval; no other one is ever overwritten."""
    path = golden / FOLDER / f"{approval.version}.{content_hash(approval)[:12]}.json"
    write_json(path, approval)
    return path


def result_key(evaluation: Evaluation, comparison: Comparison | None, gates: Mapping[str, Gate]) -> str:
    """What an approval is bound to: the comparison, or the evaluation by itself where there is none."""
    if comparison is not None:
        return comparison.key
    values = [(name, _rounded(evaluation.summary.metrics[name].value)) for name in sorted(gates)]
    identity = evaluation.identity
    return content_hash([identity.outputs, identity.golden_hash, dict(gates), values])


def _rounded(value: float | None) -> float | None:
    return None if value is None else round(value, DIGITS)


def approvals_of(golden: Path, key: str, now: datetime.datetime | None = None) -> tuple[Approval, ...]:
    """The approvals that were given for this very result and have not expired."""
    moment = now or datetime.datetime.now(datetime.UTC)
    return tuple(each for each in read_approvals(golden) if each.result == key and not each.expired(moment))
