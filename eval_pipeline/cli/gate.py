"""`eval-pipeline gate`: whether a change may go in."""

import traceback
from collections.abc import Iterator, Mapping
from contextlib import nullcontext
from pathlib import Path

import click

from eval_pipeline import decisions
from eval_pipeline.answers import Trials
from eval_pipeline.cli import completing
from eval_pipeline.cli.options import TRIALS, TRIALS_HELP
from eval_pipeline.engines import read_engines
from eval_pipeline.files import replacing, write_json, write_text
from eval_pipeline.loading import all_suites, load_suites
from eval_pipeline.problems import BadInput, Problems, shown_path
from eval_pipeline.project import Project
from eval_pipeline.reports import score_report, signed_lines, to_junit, to_markdown, to_report
from eval_pipeline.revisions import HEAD
from eval_pipeline.scoring import check_settings
from eval_pipeline.stages import Workbench, prepare_asking
from eval_pipeline.suite import Suite
from eval_pipeline.terminal import say
from eval_pipeline.timetable import check_automation

ALL_VERSIONS = "all versions"
LAST_REPORT = "gate.json"
FILE = click.Path(path_type=Path, dir_okay=False)


@click.command("gate")
@click.argument("suites", nargs=-1, shell_complete=completing.suites())
@click.option("--changed-since", "revision", help="Only what differs from this revision of Git.")
@click.option(
    "--rules",
    type=click.Choice(["base", "change"]),
    default="base",
    show_default=True,
    help="With --changed-since: whose gates, sign-offs, approvals and baselines count.",
)
@click.option(
    "--engine",
    help="An engine of engines.yaml; by default each version's own.",
    shell_complete=completing.engines(),
)
@click.option("--trials", type=TRIALS, help=TRIALS_HELP)
@click.option("--markdown", type=FILE, help="Write a summary for a pull request.")
@click.option("--junit", type=FILE, help="Write the result as JUnit XML.")
@click.option("--json", "json_file", type=FILE, help="Write the whole result as JSON.")
@click.pass_context
def command(
    context: click.Context,
    suites: tuple[str, ...],
    revision: str | None,
    rules: str,
    engine: str | None,
    trials: Trials | None,
    markdown: Path | None,
    junit: Path | None,
    json_file: Path | None,
) -> None:
    """Evaluate what a change touches, compare it with the baselines and with what it replaces, and decide.

    Without SUITES, every suite that the project has cases or prompts of. Exits with 0 where the change may go
    in (warnings included), with 1 where a gate or a regression blocks it or where what changed was not
    evaluated, with 2 where something is broken.
    """
    project = Project.find()
    loaded, broken = load_suites(project, suites or all_suites(project))
    chosen = {suite.name: suite for suite in loaded}
    change = decisions.change_since(project, revision) if revision is not None else None
    decided = [decisions.unusable(name, ALL_VERSIONS, "suite", problems) for name, problems in broken.items()]
    touched = {name: decisions.Touched(reasons={"asked for"}) for name in chosen}
    if change:
        touched = decisions.touched_suites(project, change, chosen)
    untouched = [name for name in chosen if name not in touched]
    unusable = list(_unusable(project, touched))
    if unusable:
        decided += unusable
        touched = {}
    of_base = change and rules == "base"
    with decisions.rules_at(project, change.base) if change and of_base else nullcontext(project) as judged:
        for name, what in touched.items():
            decided += _decide_all(judged, chosen[name], what, change, engine, trials)
    report = to_report(decided, chosen, untouched)
    write_json(project.state / LAST_REPORT, report)
    if json_file:
        write_json(json_file, report)
    if markdown:
        write_text(markdown, to_markdown(decided, chosen, untouched))
    if junit:
        with replacing(junit) as temporary:
            temporary.write_bytes(to_junit(decided))
    _print(decided, untouched)
    if not decisions.is_production_known(project):
        say(f"{decisions.UNKNOWN}: no shared database is configured, and this one has no events")
    say(f"Report: {shown_path(json_file or project.state / LAST_REPORT)}")
    context.exit(decisions.EXIT_CODES[decisions.worst(decided)])


def _unusable(project: Project, touched: Mapping[str, decisions.Touched]) -> Iterator[decisions.Decision]:
    """What is wrong with files that all suites share: one problem, however many it keeps from evaluation."""
    engines, automation = Problems(), Problems()
    read_engines(project.engines_file, engines)
    check_automation(project, automation)
    if touched and len(engines):
        yield decisions.unusable(", ".join(touched), ALL_VERSIONS, "engines", list(engines))
    if len(automation):  # nothing would start by itself any more, whatever the change touches
        yield decisions.unusable(
            ", ".join(touched) or "no suite", ALL_VERSIONS, "automation", list(automation)
        )


def _decide_all(
    project: Project,
    suite: Suite,
    touched: decisions.Touched,
    change: decisions.Change | None,
    engine: str | None,
    trials: Trials | None,
) -> Iterator[decisions.Decision]:
    causes, refused = decisions.candidates(project, suite, touched, change)
    yield from refused
    for version, cause in causes.items():
        try:
            yield _decide(Workbench(project, suite), version, cause, change, engine, trials)
        except MemoryError:
            raise
        except Exception as error:  # the red line of one suite; what the others came to is still written
            traceback.print_exc()
            yield decisions.crashed(suite.name, version, cause, error)


def _decide(
    bench: Workbench,
    version: str,
    cause: str,
    change: decisions.Change | None,
    engine: str | None,
    trials: Trials | None,
) -> decisions.Decision:
    from eval_pipeline.orchestration.launching import execute
    from eval_pipeline.reports.console import Bar

    try:
        problems = Problems()
        check_settings(bench.suite, bench.golden_folder, problems)
        problems.stop_if_any()
        asking = prepare_asking(bench, version, engine=engine, trials=trials)
        unread = change is not None and decisions.only_unread_text_changed(
            bench.project, bench.suite, asking.prompt, change.base, asking.engine.reads_prompt
        )
        with Bar() as bar:
            config = {"engine": engine, "trials": trials}
            outcome = execute(bench, version, config, bar, change.base if change else HEAD)
        if outcome.problems or outcome.evaluation is None:
            return decisions.unusable(bench.suite.name, version, cause, outcome.problems)
        # The report is made once more at the end, for all: here what fails in it is this suite's own.
        score_report(bench.suite, outcome.evaluation.summary, bench.context.settings)
        paused = decisions.objections_of_production(bench, outcome.evaluation, outcome.standings)
        return decisions.decide(
            cause,
            outcome.evaluation,
            outcome.standings,
            decisions.Objections([*outcome.objections, *paused]),
            unsigned=outcome.unsigned,
            unread_text=unread,
            rules=decisions.touched_rules(bench.project, change, bench.suite.name) if change else "",
            stopping=outcome.stopping,
            settings=bench.context.settings,
            named=outcome.named,
        )
    except BadInput as bad:
        return decisions.unusable(bench.suite.name, version, cause, bad.problems)


def _print(decided: list[decisions.Decision], untouched: list[str]) -> None:
    for each in decided:
        say(f"{decisions.SIGNS[each.state]} {each.suite}: {each.version} ({each.cause})")
        for line in signed_lines(each.reasons, each.approved, each.warnings):
            say(f"  {line}", err=each.state in decisions.BROKEN)
        if each.stopping:
            say(f"  {each.stopping.text}")
        for line in each.notes:
            say(f"  Note: {line}")
    if untouched:
        say(f"Not touched: {', '.join(untouched)}")
    if not decided:
        say("Nothing to evaluate.")
