"""Releases: promoting an evaluation to baseline and activating a version, where the numbers allow it."""

import datetime
from collections.abc import Sequence

from eval_pipeline.decisions.objections import Objection, Standing, objections
from eval_pipeline.decisions.results import Result, objections_to
from eval_pipeline.store import Baseline, keep_baseline


class Refused(Exception):
    """A decision that the numbers do not allow. The command line prints it and exits with 1."""


def promote(result: Result, standing: Standing | None, person: str, reason: str) -> Baseline:
    """Freeze an evaluation. A failing, incomplete, uncertain or regressed one needs an approval."""
    evaluation = result.evaluation
    outputs = evaluation.identity.outputs
    if holding := objections_to(result.bench, evaluation, standing).holding:
        raise refusal(outputs.suite, outputs.version, holding)
    baseline = Baseline(
        suite=outputs.suite,
        version=outputs.version,
        promoted_by=person,
        promoted_at=datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds"),
        reason=reason,
        evaluation=evaluation.id,
        identity=evaluation.identity,
        metrics={name: value.value for name, value in evaluation.summary.metrics.items()},
        outputs_hash="",
        cases=result.answers.input_hashes(),
    )
    bench = result.bench
    return keep_baseline(bench.golden_folder, baseline, result.answers, bench.suite.output)


def allow_activation(result: Result, replaced: Sequence[str]) -> Standing | None:
    """Refuse what the numbers do not allow; else how it stands against the last version it replaces."""
    suite = result.bench.suite.name
    against_baseline = result.against_baseline()
    if holding := objections_to(result.bench, result.evaluation, against_baseline).holding:
        raise refusal(suite, result.version, holding)
    standing = against_baseline
    for version in replaced:
        standing = result.against(version)
        if holding := objections(None, [standing]).holding:
            raise refusal(suite, result.version, holding, f" --against {version}")
    return standing


def refusal(suite: str, version: str, holding: Sequence[Objection], against: str = "") -> Refused:
    """The refusal that objections lead to, with what a person may do about it."""
    metrics = dict.fromkeys(metric for each in holding for metric in each.metrics)
    lines = dict.fromkeys(each.text for each in holding)
    if not metrics:
        return Refused("\n".join(lines))
    scope = " ".join(f"--metric {metric}" for metric in metrics)
    command = f"eval-pipeline approve {suite} {version}{against} {scope} --reason …"
    return Refused("\n".join([*lines, f"To let it pass all the same: {command}"]))
