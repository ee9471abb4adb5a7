"""Baselines: an evaluation that a person promoted, with a reason; its answers and numbers are frozen."""

from __future__ import annotations

import datetime
import hashlib
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import NamedTuple

import msgspec

from eval_pipeline.answers.recorded import index_answers, recorded_line
from eval_pipeline.approvals import Approval, approved_metrics
from eval_pipeline.comparison.compare import Comparison, Side
from eval_pipeline.content import replacing, write_json
from eval_pipeline.documents import read_json
from eval_pipeline.evaluation import Evaluation, Identity
from eval_pipeline.problems import Problems
from eval_pipeline.prompts.versions import prompt_name
from eval_pipeline.scoring import ERROR_RATE
from eval_pipeline.store.tables import AnswerTable


class Baseline(msgspec.Struct, frozen=True):
    """Who froze which evaluation, when and why."""

    suite: str
    version: str
    promoted_by: str
    promoted_at: str
    reason: str
    evaluation: str
    identity: Identity
    metrics: dict[str, float | None]
    outputs_hash: str
    cases: dict[str, str]
    """Each case's id, and the hash of the input that was answered."""


class Refused(Exception):
    """A decision that the numbers do not allow. The command line prints it and exits with 1."""


def baseline_file(golden: Path, version: str) -> Path:
    """The baseline of a prompt name, in a suite's golden folder."""
    return golden / "baseline" / f"{prompt_name(version)}.json"


def outputs_file(golden: Path, version: str, outputs_hash: str) -> Path:
    """The answers behind a baseline, named by their content."""
    return golden / "baseline" / f"{prompt_name(version)}.{outputs_hash[:12]}.outputs.jsonl"


def read_baseline(golden: Path, version: str) -> Baseline | None:
    """The baseline that a version is compared with; None where none was promoted."""
    path = baseline_file(golden, version)
    if not path.is_file():
        return None
    problems = Problems()
    baseline = next((each.record for each in read_json(path, Baseline, problems)), None)
    problems.stop_if_any()
    assert baseline is not None
    outputs = outputs_file(golden, version, baseline.outputs_hash)
    remedy = "Restore it, or promote again with --replace."
    if not outputs.is_file():
        problems.add(outputs, "is missing, so the baseline cannot be used", remedy)
    elif _content(outputs) != baseline.outputs_hash:
        problems.add(outputs, "is not what was promoted", remedy)
    problems.stop_if_any()
    return baseline


def _content(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


def baseline_side(golden: Path, version: str, baseline: Baseline) -> Side:
    """The baseline of a version's prompt as one side of a comparison."""
    problems = Problems()
    answers = index_answers(outputs_file(golden, version, baseline.outputs_hash), problems)
    problems.stop_if_any()
    return Side(
        f"baseline {baseline.version}",
        baseline.identity.outputs,
        answers,
        baseline.cases,
        baseline.identity.golden_hash,
    )


def promote(
    golden: Path,
    evaluation: Evaluation,
    comparison: Comparison | None,
    answers: AnswerTable,
    person: str,
    reason: str,
    approvals: Iterable[Approval] = (),
) -> Baseline:
    """Freeze an evaluation. A failing, incomplete, uncertain or regressed one needs an approval.

    The record is written last and is the only thing that points at the answers, so that a
    baseline is always the old one or the new one.
    """
    version = evaluation.identity.outputs.version
    if found := objections(evaluation, [comparison] if comparison else [], approvals):
        raise refusal(evaluation.identity.outputs.suite, version, found)
    lines = b"".join(recorded_line(answer) for answer in answers)
    outputs_hash = hashlib.sha256(lines).hexdigest()
    outputs = outputs_file(golden, version, outputs_hash)
    with replacing(outputs) as temporary:
        temporary.write_bytes(lines)
    baseline = Baseline(
        suite=evaluation.identity.outputs.suite,
        version=version,
        promoted_by=person,
        promoted_at=datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds"),
        reason=reason,
        evaluation=evaluation.id,
        identity=evaluation.identity,
        metrics={name: value.value for name, value in evaluation.summary.metrics.items()},
        outputs_hash=outputs_hash,
        cases=answers.input_hashes(),
    )
    write_json(baseline_file(golden, version), baseline)
    for file in outputs.parent.glob(f"{prompt_name(version)}.*.outputs.jsonl"):
        if file != outputs:
            file.unlink()
    return baseline


class Objection(NamedTuple):
    """Something that speaks against trusting an evaluation, and what an approval of it would name."""

    metrics: tuple[str, ...]
    text: str


def objections(
    evaluation: Evaluation, comparisons: Iterable[Comparison], approvals: Iterable[Approval] = ()
) -> list[Objection]:
    """What speaks against trusting an evaluation, and no approval covers."""
    summary, approved = evaluation.summary, approved_metrics(approvals)
    found = [
        Objection((gate.metric,), f"{gate.metric}: {gate.message}")
        for gate in summary.gates
        if gate.status == "fail" and gate.metric not in approved
    ]
    if summary.error_count and ERROR_RATE.name not in approved:
        kinds = ", ".join(f"{count} × {kind}" for kind, count in summary.errors.items())
        found.append(Objection((ERROR_RATE.name,), f"The evaluation is incomplete: {kinds}."))
    found += [
        Objection(tuple(each.undecided), f"Compared with {each.before}: {each.sentence}")
        for each in comparisons
        if each.undecided
    ]
    return found


def refusal(suite: str, version: str, found: Sequence[Objection], against: str = "") -> Refused:
    """The refusal that objections lead to, with what a person may do about it."""
    metrics = dict.fromkeys(metric for each in found for metric in each.metrics)
    scope = " ".join(f"--metric {metric}" for metric in metrics)
    lines = dict.fromkeys(each.text for each in found)
    command = f"eval-pipeline approve {suite} {version}{against} {scope} --reason …"
    return Refused("\n".join([*lines, f"To let it pass all the same: {command}"]))
