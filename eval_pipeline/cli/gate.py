"""`eval-pipeline gate`: whether a change may go in."""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import click
import msgspec

from eval_pipeline import decisions
from eval_pipeline.answers import Trials
from eval_pipeline.cli import completing
from eval_pipeline.cli.gate_lines import Asked, Task, lines_apart, lines_of
from eval_pipeline.cli.options import TRIALS, TRIALS_HELP
from eval_pipeline.engines import read_engines
from eval_pipeline.files import replacing, write_json, write_text
from eval_pipeline.loading import all_suites, load_suites
from eval_pipeline.problems import Problem, Problems, shown_path
from eval_pipeline.project import Project
from eval_pipeline.reports import Line, line_of, signed_lines, to_junit, to_markdown, to_report
from eval_pipeline.revisions import SHORT_COMMIT
from eval_pipeline.terminal import say
from eval_pipeline.timetable import check_automation

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
    help="With --changed-since: whose measure, engines, sign-offs, approvals and baselines count.",
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
    names = list(suites or all_suites(project))
    asked = Asked(engine, msgspec.to_builtins(trials))
    change = decisions.change_since(project, revision) if revision is not None else None
    lines = [line_of(each) for each in _missing(project, change, rules)] if not suites else []
    touched = {name: decisions.Touched(reasons={"asked for"}) for name in names}
    if change:
        touched = decisions.touched_suites(project, change, names)
    untouched = [name for name in names if name not in touched]
    for name, problems in load_suites(project, untouched)[1].items():
        lines.append(line_of(decisions.unusable(name, decisions.ALL_VERSIONS, "suite", problems)))
    unusable = [line_of(each) for each in _unusable(project, touched)]
    if unusable:
        lines += unusable
    elif change and rules == "base":
        lines += _by_the_base(project, touched, change, asked)
    else:
        said = _accepted(project, touched, change) if change else {}
        lines += lines_of(project, touched, change, asked, said, of_base=False)
    report = to_report(lines, untouched)
    write_json(project.state / LAST_REPORT, report)
    if json_file:
        write_json(json_file, report)
    if markdown:
        write_text(markdown, to_markdown(lines, untouched))
    if junit:
        with replacing(junit) as temporary:
            temporary.write_bytes(to_junit(lines))
    _print(lines, untouched)
    if not decisions.is_production_known(project):
        say(f"{decisions.UNKNOWN}: no shared database is configured, and this one has no events")
    say(f"Report: {shown_path(json_file or project.state / LAST_REPORT)}")
    context.exit(decisions.EXIT_CODES[decisions.worst(each.state for each in lines)])


def _missing(project: Project, change: decisions.Change | None, rules: str) -> Iterator[decisions.Decision]:
    """Suites that nobody would look at any more: a change took them away, or what declares them."""
    stray = decisions.stray_prompts(project)
    for folder in stray:
        message = f"holds versions of prompts, and there is no suite {folder.name}"
        problem = Problem(shown_path(folder), 0, "", message, "Bring its golden folder back, or delete them.")
        yield decisions.unusable(folder.name, decisions.ALL_VERSIONS, "suite", [problem])
    if change:
        for name in decisions.lost_suites(project, change.base):
            if name not in {folder.name for folder in stray}:
                yield decisions.lost(name, change.base[:SHORT_COMMIT], accepted=rules == "change")


def _unusable(project: Project, touched: Mapping[str, decisions.Touched]) -> Iterator[decisions.Decision]:
    """What is wrong with files that all suites share: one problem, however many it keeps from evaluation."""
    engines, automation = Problems(), Problems()
    read_engines(project.engines_file, engines)
    check_automation(project, automation)
    everywhere = decisions.ALL_VERSIONS
    if touched and len(engines):
        yield decisions.unusable(", ".join(touched), everywhere, "engines", list(engines))
    if len(automation):  # nothing would start by itself any more, whatever the change touches
        yield decisions.unusable(", ".join(touched) or "no suite", everywhere, "automation", list(automation))


def _by_the_base(
    project: Project, touched: Mapping[str, decisions.Touched], change: decisions.Change, asked: Asked
) -> list[Line]:
    """Every version by the measure of the base; beside it by its own, where the change touches that."""
    with decisions.rules_at(project, change.base) as judged:
        measures = decisions.touched_measures(project, judged, change, touched)
        said = {name: decisions.touched_rules(judged, change, name) for name in touched}
        apart = {name: touched[name] for name, each in measures.items() if each.needs_tree}
        here = {name: each for name, each in touched.items() if name not in apart}
        lines = [*lines_of(judged, here, change, asked, said, of_base=True)]
        if apart:
            with decisions.measured_tree(project, judged, change, apart) as (tree, laid):
                task = Task(change.base, apart, asked, said, sorted(map(str, laid)))
                lines += lines_apart(project, task, "the measure of the base", tree)
        lines = [_weighed(judged, each, measures.get(each.suite)) for each in lines]
        own = {name: touched[name] for name, each in measures.items() if each.has_own}
        beside = (
            lines_apart(project, Task(change.base, own, asked), "the change's own measure") if own else []
        )
    # What the change's own code writes is shown as text, and never as Markdown.
    beside = [msgspec.structs.replace(each, details="", is_second=True) for each in beside]
    suites, places = list(touched), {(each.suite, each.version): at for at, each in enumerate(lines)}

    def order(line: Line) -> tuple[int, int, bool]:
        place = places.get((line.suite, line.version), len(lines))
        return suites.index(line.suite), place, line.is_second

    return sorted([*lines, *beside], key=order)


def _weighed(judged: Project, line: Line, measure: decisions.TouchedMeasure | None) -> Line:
    """A line together with what speaks against the measure."""
    line = msgspec.structs.replace(line, measure="base")
    if measure is None:
        return line
    approvals = decisions.approvals_of(judged.rules(measure.suite), measure.key)
    return line.weighed(decisions.of_measure(measure.text, approvals))


def _accepted(
    project: Project, touched: Mapping[str, decisions.Touched], change: decisions.Change
) -> dict[str, str]:
    """What is said where somebody accepted the change's own rules and measure."""
    with decisions.rules_at(project, change.base) as judged:
        measures = decisions.touched_measures(project, judged, change, touched)
    said = {name: [decisions.touched_rules(project, change, name)] for name in touched}
    for name, each in measures.items():
        said[name].append(each.accepted)
    return {name: "; ".join(filter(None, each)) for name, each in said.items()}


def _print(lines: Sequence[Line], untouched: Sequence[str]) -> None:
    for each in lines:
        say(f"{decisions.SIGNS[each.state]} {each.suite}: {each.name} ({each.cause})")
        for line in signed_lines(each.reasons, each.approved, each.warnings):
            say(f"  {line}", err=each.state in decisions.BROKEN)
        if each.stopping:
            say(f"  {each.stopping}")
        for line in each.notes:
            say(f"  Note: {line}")
    if untouched:
        say(f"Not touched: {', '.join(untouched)}")
    if not lines:
        say("Nothing to evaluate.")
