"""`eval-pipeline score`: recorded outputs against a golden set. No Dagster, and no engine but a judge's."""

import gc
from pathlib import Path

import click
import msgspec

from eval_pipeline.asking import judged_context
from eval_pipeline.cli import BLOCKED, completing
from eval_pipeline.files import export_ending, export_table, readable_json, write_text
from eval_pipeline.gates import GATES_FILE, override, read_gates
from eval_pipeline.golden import read_cases, shortfalls
from eval_pipeline.loading import find_suite
from eval_pipeline.numbers import counted
from eval_pipeline.problems import Problems, bad_value, shown_path
from eval_pipeline.project import Project
from eval_pipeline.reports import cases_data, flat, score_report
from eval_pipeline.scoring import OutputsScorer, ScoredFile, Summary, case_rows, measured_models, summarize
from eval_pipeline.suite import Suite
from eval_pipeline.terminal import say


@click.command("score")
@click.argument("suite", shell_complete=completing.suites())
@click.option(
    "--golden", required=True, type=click.Path(path_type=Path), help="A golden file, or a folder of them."
)
@click.option("--outputs", required=True, type=click.Path(path_type=Path), help="The outputs, as JSON Lines.")
@click.option("--json", "as_json", is_flag=True, help="Print the score report as JSON.")
@click.option("--set", "settings", multiple=True, metavar="KEY=VALUE", help="A setting of the suite.")
@click.option(
    "--gates", "limits", default="", metavar="METRIC=LIMIT,…", help="Limits to use instead of the suite's."
)
@click.option(
    "--export",
    "file",
    type=click.Path(path_type=Path),
    help="Write a row for each case and trial to a file: .csv, .json or .parquet.",
)
@click.option(
    "--cases", "with_cases", is_flag=True, help="With --json: add every case, its values and diagnoses."
)
@click.option(
    "--report",
    "page",
    type=click.Path(path_type=Path),
    help="Write a page for a browser, with every case, to an HTML file.",
)
@click.pass_context
def command(
    context: click.Context,
    suite: str,
    golden: Path,
    outputs: Path,
    as_json: bool,
    settings: tuple[str, ...],
    limits: str,
    file: Path | None,
    with_cases: bool,
    page: Path | None,
) -> None:
    """Score a file of recorded outputs against a golden set.

    Exits with 1 when a gate fails, with 2 when an input cannot be used.
    """
    # Millions of small values that form no cycles: looking for cycles would take as long as scoring.
    gc.disable()
    if with_cases and not as_json:
        raise bad_value("--cases", "cases are a part of the JSON report", "Add --json.")
    if file is not None:
        export_ending(file)  # an ending that says nothing is found before anything is scored
    project = Project.find()
    chosen = find_suite(project, suite)
    home = _home(project, chosen, golden)
    problems = Problems()
    given = _settings(settings)
    gates = override(read_gates(chosen, home / GATES_FILE, problems), limits, chosen)
    used = judged_context(project, chosen, golden, project.golden(chosen.name), settings=given)
    keep = not as_json or with_cases or page is not None
    scored = OutputsScorer(chosen, used, keep_diagnoses=keep).score(golden, outputs, problems)
    summary = summarize(chosen, scored.scores, gates, measured_models(chosen, used))
    _print_warnings(chosen, scored)
    if file is not None:
        rows = case_rows(scored.scores, chosen)
        export_table(file, rows)
        say(f"{counted(len(rows), 'row')} written to {shown_path(file)}", err=as_json)
    if page is not None:
        _write_page(page, chosen, summary, scored, golden, outputs)
        say(f"Report: {shown_path(page)}", err=as_json)
    if as_json:
        unused = {**scored.unused._asdict(), "without_case": len(scored.unused.without_case)}
        cases = {"cases": cases_data(chosen, scored.scores)} if with_cases else {}
        report = {**score_report(chosen, summary, used.settings), "outputs": unused, **cases}
        say(readable_json(report))
    else:
        from eval_pipeline.reports.console import print_gates, print_summary

        print_summary(chosen, summary)
        print_gates(chosen, summary, scored.scores)
    context.exit(0 if summary.passed else BLOCKED)


def _write_page(
    page: Path, suite: Suite, summary: Summary, scored: ScoredFile, golden: Path, outputs: Path
) -> None:
    """Outputs of another system as a page: the same as a report's, without anything to compare with."""
    from eval_pipeline.reports.page.findings import Findings
    from eval_pipeline.reports.page.report import report_page
    from eval_pipeline.stages import Exhibit, Exhibits

    answers = suite.answer_format(outputs).open(outputs, Problems())
    exhibits = Exhibits(
        (Exhibit(outputs.name, "version", answers, scored.scores),),
        lambda only=None: read_cases(suite, golden, Problems()),
    )
    write_text(page, report_page(Findings(suite, summary, scored.scores, exhibits)))


def _home(project: Project, suite: Suite, golden: Path) -> Path:
    """The folder whose gates apply: the golden folder's own, else the suite's."""
    return golden if (golden / GATES_FILE).is_file() else project.golden(suite.name)


def _settings(pairs: tuple[str, ...]) -> dict[str, object]:
    problems = Problems()
    given: dict[str, object] = {}
    for pair in pairs:
        name, sign, value = pair.partition("=")
        if not sign:
            problems.add("input", f"{pair!r} is not a setting", "Write KEY=VALUE.", field="--set")
            continue
        try:
            given[name] = msgspec.json.decode(value)
        except (msgspec.DecodeError, RecursionError):
            given[name] = value
    problems.stop_if_any()
    return given


def _print_warnings(suite: Suite, scored: ScoredFile) -> None:
    strangers, repeated, warnings = scored.unused
    for requirement, missing in shortfalls(suite, scored.overview):
        if missing:
            more = f" (and {len(missing) - 1} more)" if len(missing) > 1 else ""
            say(f"golden set, {requirement.name}: {missing[0]}{more}", err=True)
    for warning in warnings:
        say(f"outputs: {warning}", err=True)
    if strangers:
        some = ", ".join(flat(each, 60) for each in strangers[:5])
        unknown = counted(len(strangers), "case")
        say(f"outputs: ignored {unknown} that the golden set lacks: {some}", err=True)
    if repeated:
        lines = counted(repeated, "line")
        say(f"outputs: a case and trial repeated in {lines}; the last one counts", err=True)
