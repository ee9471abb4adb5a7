"""Releases: promoting an evaluation to baseline and activating a version, where the numbers allow it."""

import datetime

from eval_pipeline.decisions.objections import Objections, Standing, Standings
from eval_pipeline.decisions.results import Result, objections_of_production, objections_to
from eval_pipeline.store import Baseline, keep_baseline


class Refused(Exception):
    """A decision that the numbers do not allow. The command line prints it and exits with 1."""


def promote(result: Result, standings: Standings, person: str, reason: str) -> Baseline:
    """Freeze an evaluation. A failing, incomplete, uncertain or regressed one needs an approval."""
    evaluation = result.evaluation
    outputs = evaluation.identity.outputs
    _refuse_what_is_held(result, standings)
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
        digest="",
    )
    bench = result.bench
    return keep_baseline(bench.golden_folder, baseline, result.answers, bench.suite.output)


def allow_activation(result: Result) -> Standing | None:
    """Refuse what the numbers do not allow; else how it stands against what it replaces, or the baseline."""
    standings = result.standings(activating=True)
    _refuse_what_is_held(result, standings, deploying=True)
    return standings.all[-1] if standings.all else None


def _refuse_what_is_held(result: Result, standings: Standings, *, deploying: bool = False) -> None:
    """Refuse what speaks against a release, with what a person may do about it."""
    against = objections_to(result.bench, result.evaluation, standings)
    if deploying:
        paused = objections_of_production(result.bench, result.evaluation, standings)
        against = Objections([*against, *paused])
    if not against.holding:
        return
    lines = list(dict.fromkeys(each.text for each in against.holding))
    commands = approving(result.bench.suite.name, result.version, against)
    lines += [f"To let it pass all the same: {command}" for command in commands]
    raise Refused("\n".join(lines))


def approving(suite: str, version: str, against: Objections) -> list[str]:
    """The commands by which a person would approve what keeps a version from release."""
    commands = []
    for side in dict.fromkeys(each.against for each in against.holding):
        own = [each for each in against.holding if each.against == side]
        metrics = dict.fromkeys(metric for each in own for metric in each.metrics)
        named = f" --against {side}" if side else ""
        scope = "".join(f" --metric {metric}" for metric in metrics)
        if metrics:
            commands.append(f"eval-pipeline approve {suite} {version}{named}{scope} --reason …")
    return commands
