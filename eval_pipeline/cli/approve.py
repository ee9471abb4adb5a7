"""`eval-pipeline approve`: a person lets a result pass that the numbers speak against."""

import datetime
from collections.abc import Collection, Sequence
from typing import NamedTuple

import click

from eval_pipeline import decisions
from eval_pipeline.answers import OutputsIdentity
from eval_pipeline.cli import completing
from eval_pipeline.cli.compare import BASELINE
from eval_pipeline.files import readable_json
from eval_pipeline.loading import find_suite
from eval_pipeline.problems import bad_value, shown_path
from eval_pipeline.project import Project
from eval_pipeline.prompts import prompt_file
from eval_pipeline.revisions import HEAD, SHORT_COMMIT, person
from eval_pipeline.stages import Incomplete, Workbench
from eval_pipeline.suite import Suite
from eval_pipeline.terminal import say

DAYS = 30
MOST_DAYS = 365
LONGEST_REASON = 1000


@click.command("approve")
@click.argument("suite", shell_complete=completing.suites())
@click.argument("version", required=False, shell_complete=completing.versions())
@click.option(
    "--metric",
    "metrics",
    multiple=True,
    help="A metric that may be as it is; several times for several.",
    shell_complete=completing.metrics(),
)
@click.option("--reason", help="Why the result may pass.")
@click.option("--by", "by", help="Who says so; by default the user that Git knows.")
@click.option(
    "--days", type=click.IntRange(1, MOST_DAYS), default=DAYS, show_default=True, help="How long it counts."
)
@click.option(
    "--against",
    default=BASELINE,
    show_default=True,
    help="The comparison: a version, or 'baseline'.",
    shell_complete=completing.versions(BASELINE),
)
@click.option(
    "--changed-since",
    "since",
    default=HEAD,
    show_default=True,
    help="The revision of Git that the gate was given, where what was in use there is replaced.",
)
@click.option("--list", "listed", is_flag=True, help="Show the approvals of SUITE instead.")
@click.option("--json", "as_json", is_flag=True, help="Show them as JSON.")
def command(
    suite: str,
    version: str | None,
    metrics: tuple[str, ...],
    reason: str | None,
    by: str | None,
    days: int,
    against: str,
    since: str,
    listed: bool,
    as_json: bool,
) -> None:
    """Approve metrics of VERSION that fail, fell or may have fallen.

    An approval is for one very result: both sides' answers, the gates and the numbers. Any of them changing
    ends it, and so does its expiry. It is a file under golden/SUITE/approvals, to be reviewed and committed.
    With --metric measure it is for how a change is measured instead: suite.yaml, gates, settings, code and
    engines, as they were at --changed-since and as they are.
    """
    project = Project.find()
    chosen = find_suite(project, suite)
    if listed:
        _list(project, chosen, as_json)
        return
    if version is None:
        raise bad_value("VERSION", "is missing", "Name the version whose result is approved, or use --list.")
    if not (reason or "").strip() or len(reason or "") > LONGEST_REASON:
        raise bad_value("--reason", "is blank or too long", "Say in a sentence why the result may pass.")
    _approve(project, chosen, version, metrics, str(reason).strip(), by, days, against, since)


def _approve(
    project: Project,
    suite: Suite,
    version: str,
    metrics: tuple[str, ...],
    reason: str,
    by: str | None,
    days: int,
    against: str,
    since: str,
) -> None:
    bench = Workbench(project, suite)
    result = decisions.latest_result(bench, version)
    if outage := result.evaluation.outage:
        raise Incomplete(suite.name, version, outage.text)
    if decisions.MEASURE in metrics:
        subject = _measure(project, suite, metrics, since)
    else:
        subject = _result(result, metrics, against, since)
    now = datetime.datetime.now(datetime.UTC).replace(microsecond=0)
    approval = decisions.Approval(
        suite=suite.name,
        version=version,
        against=subject.against,
        metrics=tuple(dict.fromkeys(metrics)),
        reason=reason,
        approved_by=person(by),
        approved_at=now.isoformat(),
        expires_at=(now + datetime.timedelta(days=days)).isoformat(),
        result=subject.key,
        conclusion=subject.conclusion,
        before=subject.before,
        after=result.evaluation.identity.outputs,
    )
    path = decisions.keep_approval(project.golden(suite.name), approval)
    say(f"{version} against {approval.against}: {approval.summary}")
    if subject.rest:
        say(f"Not approved: {', '.join(subject.rest)}")
    say(f"Review and commit {shown_path(path)}")


class _Subject(NamedTuple):
    """What an approval is given for."""

    against: str
    key: str
    conclusion: str
    before: OutputsIdentity | None = None
    rest: Sequence[str] = ()
    """What might be approved as well."""


def _measure(project: Project, suite: Suite, metrics: tuple[str, ...], since: str) -> _Subject:
    """The measure of a change, whatever the numbers: one approval is for every version of the suite."""
    touched = decisions.touched_measure(project, suite.name, since)
    _stop_unless_possible(metrics, [decisions.MEASURE] if touched else [])
    assert touched is not None
    return _Subject(f"the measure of {touched.base[:SHORT_COMMIT]}", touched.key, touched.text)


def _result(result: decisions.Result, metrics: tuple[str, ...], against: str, since: str) -> _Subject:
    """The numbers of a version, by themselves or beside those of another."""
    standings = result.standings(since=since)
    standing = standings.baseline if against == BASELINE else _standing(result, standings, against)
    evaluation, comparison = result.evaluation, standing.comparison if standing else None
    bench = result.bench
    paused = decisions.objections_of_production(bench, evaluation, standings).holding
    holding = [*decisions.objections_to(bench, evaluation, standings).holding, *paused]
    open_ = [each for each in holding if not each.against]
    possible = set(standing.open if standing else ())
    if against == BASELINE:  # what the evaluation itself lacks is approved where it meets the baseline
        possible.update(name for each in open_ for name in each.metrics)
    _stop_unless_possible(metrics, possible)
    return _Subject(
        comparison.before if comparison else "nothing",
        decisions.result_key(evaluation, comparison, bench.gates),
        standing.conclusion if standing else "; ".join(each.text for each in open_),
        comparison.identities[0] if comparison and comparison.identities else None,
        sorted(possible - set(metrics)),
    )


def _stop_unless_possible(metrics: tuple[str, ...], possible: Collection[str]) -> None:
    known = ", ".join(sorted(possible)) or "nothing"
    if not metrics:
        raise bad_value("--metric", "is missing", f"To approve there is: {known}.")
    wrong = [name for name in metrics if name not in possible]
    if wrong:
        remedy = f"To approve there is: {known}."
        raise bad_value("--metric", f"{', '.join(wrong)} needs no approval here", remedy)


def _standing(result: decisions.Result, standings: decisions.Standings, name: str) -> decisions.Standing:
    """How a result stands against a version: what it would replace, or any other."""
    bench = result.bench
    for each in standings.all:
        if each.against == name:
            return each
    return result.against(prompt_file(bench.project.prompts(bench.suite.name), name).stem)


def _list(project: Project, suite: Suite, as_json: bool) -> None:
    approvals = decisions.read_approvals(project.golden(suite.name))
    if as_json:
        say(readable_json(approvals))
        return
    now = datetime.datetime.now(datetime.UTC)
    for each in approvals:
        state = "expired" if each.expired(now) else "not expired"
        say(f"{each.version} against {each.against} ({state}): {each.summary}")
    if not approvals:
        say(f"{suite.name} has no approval.")
