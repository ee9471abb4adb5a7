"""`eval-pipeline run`: the assets of the UI, from the command line."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Sequence
from functools import partial
from itertools import groupby
from typing import Any

import click
import msgspec

from eval_pipeline.answers import Trials
from eval_pipeline.cli import BAD_INPUT, BLOCKED, completing
from eval_pipeline.cli.options import TRIALS, TRIALS_HELP
from eval_pipeline.cli.run_output import Document, Lines, Screen
from eval_pipeline.engines import read_engines
from eval_pipeline.gates import GATES_FILE, read_gates
from eval_pipeline.golden import read_cases
from eval_pipeline.loading import HERITAGE, all_suites, family, load_suites
from eval_pipeline.problems import BadInput, Problem, Problems, bad_value, first_lines, shown_path
from eval_pipeline.processes import in_turns
from eval_pipeline.project import Project
from eval_pipeline.prompts import active_versions, load_prompt, prompt_file, versions_in
from eval_pipeline.reports import keep_in_changelog, readable
from eval_pipeline.scoring import check_settings
from eval_pipeline.stages import (
    DEFAULT_SAMPLE,
    Workbench,
    draw_cases,
    estimate_cost,
    estimate_replaced,
    load_golden,
    prepare_asking,
)
from eval_pipeline.store import report_shelf
from eval_pipeline.suite import Suite
from eval_pipeline.terminal import say
from eval_pipeline.timetable import check_automation

ALL = "all"


class Options(msgspec.Struct, frozen=True):
    """How versions are evaluated."""

    engine: str | None
    trials: Trials | None
    sample: str
    cases: int | None
    stratify: str | None
    seed: int


class Command(click.Command):
    """A command whose document on standard output names also what is wrong with its own options."""

    def make_context(
        self, info_name: str | None, args: list[str], parent: click.Context | None = None, **extra: Any
    ) -> click.Context:
        """Read the command line."""
        output = Document() if "--json" in args else Screen()
        try:
            return super().make_context(info_name, args, parent, **extra)
        except (BadInput, click.UsageError) as error:
            bad = error if isinstance(error, BadInput) else bad_value("", error.format_message())
            output.unusable(bad.problems)
            output.end(BAD_INPUT)
            raise


@click.command("run", cls=Command)
@click.argument("suite", shell_complete=completing.suites("all", HERITAGE))
@click.option(
    "--prompt",
    "version",
    help="The prompt version; by default every active one. 'all': every version.",
    shell_complete=completing.versions("all"),
)
@click.option(
    "--engine",
    help="An engine of engines.yaml, instead of the prompt's or the default one.",
    shell_complete=completing.engines(),
)
@click.option("--trials", type=TRIALS, help=TRIALS_HELP)
@click.option(
    "--sample",
    default=DEFAULT_SAMPLE,
    show_default=True,
    help="Answers of metered engines are reused within a sample.",
)
@click.option("--cases", type=int, help="Only so many cases, drawn by chance: for a look, never a decision.")
@click.option("--stratify", help="An attribute whose values are drawn from in proportion; with --cases.")
@click.option("--seed", type=int, default=0, show_default=True, help="What the draw of --cases starts from.")
@click.option("--dry-run", is_flag=True, help="Say what the run would cost, and ask nothing.")
@click.option("--brief", is_flag=True, help="A line for each version, and one table of all at the end.")
@click.option(
    "--json", "as_json", is_flag=True, help="Print one JSON document instead; progress goes to stderr."
)
@click.pass_context
def command(
    context: click.Context,
    suite: str,
    version: str | None,
    engine: str | None,
    trials: Trials | None,
    sample: str,
    cases: int | None,
    stratify: str | None,
    seed: int,
    dry_run: bool,
    brief: bool,
    as_json: bool,
) -> None:
    """Evaluate prompt versions of SUITE (of 'all' suites, or of those of 'heritage').

    It materializes the same assets as the UI, in the same history. Exits with 1 when a gate fails, or when
    the comparison with the baseline or with what it would replace blocks; with 2 when something cannot be
    used.
    """
    output = Document() if as_json else Lines() if brief else Screen()
    try:
        options = Options(engine, trials, sample, cases, stratify, seed)
        code = _run(suite, version, options, output, dry_run)
    except BadInput as bad:
        output.unusable(bad.problems)
        output.end(BAD_INPUT)
        raise
    output.end(code)
    context.exit(code)


def _run(suite: str, version: str | None, options: Options, output: Screen, dry_run: bool) -> int:
    """Evaluate what was asked for; the exit code."""
    project = Project.find()
    members = all_suites(project) if suite == ALL else family(project, suite)
    suites, broken = load_suites(project, members or [suite])
    if not suites:
        raise BadInput([problem for problems in broken.values() for problem in problems])
    chosen = [(each, one) for each in suites for one in _versions(project, each, version)]
    _stop_if_unusable(project, chosen)
    for name, problems in broken.items():
        _print_unusable(name, problems)
        output.unusable(problems, name)
    codes = [BAD_INPUT] if broken else [0]
    if dry_run:
        codes += _each(chosen, partial(_estimate, project, options=options, output=output), output)
    else:
        codes += _evaluate_all(project, chosen, options, output)
    if not dry_run:
        if members:
            _summarize(project, output)
        _refresh_dashboard(project, output)
    return max(codes)


def _each(
    chosen: Sequence[tuple[Suite, str]],
    step: Callable[[Suite, str], bool],
    output: Screen,
    said: set[Problem] | None = None,
) -> list[int]:
    """Do something for each version, whatever is wrong with the others; the exit code of each."""
    said = set() if said is None else said
    codes = []
    for suite, version in chosen:
        try:
            codes.append(BLOCKED if step(suite, version) else 0)
        except BadInput as bad:
            new = [problem for problem in bad.problems if problem not in said]
            subject = f"{suite.name}: {version}"
            _print_unusable(subject, new)
            if not new:
                say(f"✗ {subject}: not evaluated either, for the same reason", err=True)
            said.update(new)
            output.unusable(bad.problems, suite.name, version)
            codes.append(BAD_INPUT)
    return codes


def _evaluate_all(
    project: Project, chosen: Sequence[tuple[Suite, str]], options: Options, output: Screen
) -> list[int]:
    """Evaluate versions; where a line is said of each, and engines are our own, several suites at a time."""
    if not isinstance(output, Lines) or not _costs_nothing(project, chosen, options):
        return _each(chosen, partial(_evaluate, project, options=options, output=output), output)
    said: set[Problem] = set()

    def evaluate(versions: Sequence[tuple[Suite, str]]) -> tuple[list[int], Lines]:
        lines = Lines()
        step = partial(_evaluate, project, options=options, output=lines)
        return _each(versions, step, lines, said), lines

    by_suite = [list(versions) for _, versions in groupby(chosen, lambda each: each[0].name)]
    codes = []
    for some, lines in in_turns(evaluate, by_suite):
        codes += some
        output.include(lines)
    return codes


def _costs_nothing(project: Project, chosen: Sequence[tuple[Suite, str]], options: Options) -> bool:
    """Whether nobody but embedded engines is asked: others have limits that processes would not share."""
    file = read_engines(project.engines_file, Problems())
    engines = file.engines if file else {}
    prompts = (load_prompt(suite, project.prompts(suite.name), each, Problems()) for suite, each in chosen)
    own = (prompt.front.engine if prompt else None for prompt in prompts)
    names = {options.engine or name or (file.default if file else "") for name in own}
    return all(name in engines and getattr(engines[name], "kind", "") == "embedded" for name in names)


def _print_unusable(subject: str, problems: Sequence[Problem]) -> None:
    for line in first_lines(problems):
        say(f"✗ {subject}: {line}", err=True)


def _summarize(project: Project, output: Screen) -> None:
    """The one table over several suites is as new as they are."""
    from eval_pipeline.orchestration.launching import refresh_summary

    for check in refresh_summary(project):
        sign = "✓" if check.passed else "⚠"
        output.say(f"{sign} heritage summary: {readable(check.description or '')}")


def _refresh_dashboard(project: Project, output: Screen) -> None:
    """The page over all suites is as new as they are; what is wrong with it is no result of the run."""
    from eval_pipeline.orchestration.launching import refresh_dashboard

    try:
        output.say(f"Dashboard: {shown_path(refresh_dashboard(project))}")
    except Exception as error:
        say(f"⚠ the dashboard was not written: {error}", err=True)


def _versions(project: Project, suite: Suite, version: str | None) -> list[str]:
    folder = project.prompts(suite.name)
    if version == ALL:
        if not versions_in(folder):
            raise bad_value(
                "--prompt", f"{suite.name} has no prompt version", f"Add one to {shown_path(folder)}."
            )
        return versions_in(folder)
    if version is not None:
        return [prompt_file(folder, version).stem]
    active = active_versions(suite, folder)
    if not active:
        raise bad_value("--prompt", f"no version of {suite.name} is active", "Name one with --prompt.")
    return active


def _stop_if_unusable(project: Project, chosen: Sequence[tuple[Suite, str]]) -> None:
    """Name everything that is wrong before the first question is asked, and paid for."""
    problems = Problems()
    read_engines(project.engines_file, problems)
    check_automation(project, problems)
    try:
        report_shelf(project.state)
    except BadInput as bad:
        problems.include(bad)
    for suite, version in chosen:
        read_gates(suite, project.golden(suite.name) / GATES_FILE, problems)
        check_settings(suite, project.golden(suite.name), problems)
        load_prompt(suite, project.prompts(suite.name), version, problems)
    if len(problems):
        for suite in dict.fromkeys(suite for suite, _ in chosen):
            deque(read_cases(suite, project.golden(suite.name), problems), maxlen=0)
    problems.stop_if_any()


def _estimate(project: Project, suite: Suite, version: str, options: Options, output: Screen) -> bool:
    """Say what evaluating a version would cost, which blocks nothing."""
    bench = Workbench(project, suite)
    asking = prepare_asking(
        bench, version, engine=options.engine, trials=options.trials, sample=options.sample
    )
    golden = draw_cases(load_golden(bench).table, options.cases, options.stratify, options.seed)
    estimates = {version: estimate_cost(bench, golden, asking)}
    if replaced := estimate_replaced(bench, golden, asking, options.sample):
        label, cost = replaced
        estimates[f"{label}, to compare with"] = cost
    for subject, cost in estimates.items():
        output.estimated(suite, version, subject, cost)
    return False


def _evaluate(project: Project, suite: Suite, version: str, options: Options, output: Screen) -> bool:
    """Run the chain for one version, say what came out, and whether it blocks."""
    from eval_pipeline.orchestration.launching import execute

    bench = Workbench(project, suite)
    with output.progress(suite, version) as progress:
        outcome = execute(bench, version, msgspec.structs.asdict(options), progress)
    if outcome.problems or outcome.evaluation is None:
        raise BadInput(outcome.problems)
    output.evaluated(bench, version, outcome, outcome.evaluation)
    try:
        keep_in_changelog(bench, outcome.evaluation, outcome.standings)
    except BadInput as bad:  # what people wrote there cannot be read: that is no reason to lose the numbers
        _print_unusable("changelog", bad.problems)
    return bool(outcome.objections.blocking)
