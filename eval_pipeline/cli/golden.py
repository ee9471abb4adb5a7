"""`eval-pipeline golden`: whether a golden set is well formed, good, signed off, and safe from cheating."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import click

from eval_pipeline.cli import BLOCKED, Group, completing
from eval_pipeline.files import file_bytes, readable_json, write_text
from eval_pipeline.gates import GATES_FILE, read_gates
from eval_pipeline.golden import GoldenSet, read_dataset, shortfalls
from eval_pipeline.loading import all_suites, find_suite, load_suites
from eval_pipeline.numbers import counted
from eval_pipeline.problems import BadInput, Problems, bad_value, first_lines
from eval_pipeline.project import Project
from eval_pipeline.revisions import person
from eval_pipeline.scoring import context_for
from eval_pipeline.suite import Suite
from eval_pipeline.terminal import say


@click.group("golden", cls=Group)
def command() -> None:
    """Check golden sets, probe them, and sign them off."""


@command.command("check")
@click.argument("suite", required=False, shell_complete=completing.suites())
@click.argument("path", required=False, type=click.Path(path_type=Path))
@click.pass_context
def check(context: click.Context, suite: str | None, path: Path | None) -> None:
    """Name every problem of a golden set, its settings and its gates: file, line, field, what to do.

    Without SUITE every suite is checked. Exits with 2 where a file cannot be used, with 1 where a
    critical requirement is not met or a change was not signed off.
    """
    project = Project.find()
    problems = Problems()
    blocked = False
    suites, broken = load_suites(project, [suite] if suite else all_suites(project))
    for unloaded in broken.values():
        problems.include(BadInput(unloaded))
    for each in suites:
        folder = path or project.golden(each.name)
        before = len(problems)
        golden = _read(each, folder, problems)
        overview = golden.overview(_references(each, folder, problems))
        dataset = read_dataset(folder, problems) if folder.is_dir() else None
        if path is None and (gates := folder / GATES_FILE).is_file():
            read_gates(each, gates, problems)
        if len(problems) > before:
            continue
        say(f"{each.name}: {counted(len(golden), 'case')} can be read")
        if dataset:
            say(f"  dataset: {dataset.text}")
        for line in first_lines(problems.notes):
            say(f"  note: {line}")
        problems.notes.clear()
        for requirement, missing in shortfalls(each, overview):
            for line in requirement.facts(overview) if requirement.facts else ():
                say(f"  {requirement.name}: {line}")
            blocked = blocked or (bool(missing) and requirement.severity == "critical")
            for line in missing:
                say(f"  {requirement.severity}: {requirement.name}: {line}")
        if path is None:
            unsigned = golden.unsigned_changes()
            blocked = blocked or unsigned.blocks
            for line in unsigned.changes:
                say(f"  {'critical' if unsigned.blocks else 'warning'}: not signed off: {line}")
    problems.stop_if_any()
    context.exit(BLOCKED if blocked else 0)


@command.command("probe")
@click.argument("suite", required=False, shell_complete=completing.suites())
@click.option("--json", "as_json", is_flag=True, help="Print the tables as JSON.")
@click.option(
    "--docs", type=click.Path(path_type=Path), help="Write the tables into a file, between its marks."
)
@click.pass_context
def probe(context: click.Context, suite: str | None, as_json: bool, docs: Path | None) -> None:
    """Show what cheating would score: empty, echoed, refused, negated, shuffled and other degenerate answers.

    Without SUITE every suite is probed. Exits with 1 where a measure rewards one of them or the golden
    answers fail, with 2 where a suite or its golden set cannot be used.
    """
    from eval_pipeline.reports import probe_section
    from eval_pipeline.reports.console import print_probes
    from eval_pipeline.stages import Workbench, load_golden, probe_golden

    if docs and suite:
        raise bad_value("--docs", "takes the tables of all suites", "Leave SUITE out.")
    project = Project.find()
    problems = Problems()
    suites, broken = load_suites(project, [suite] if suite else all_suites(project))
    for unloaded in broken.values():
        problems.include(BadInput(unloaded))
    results = []
    for each in suites:
        try:
            bench = Workbench(project, each)
            probed = probe_golden(bench, load_golden(bench).table)
        except BadInput as bad:
            problems.include(bad)
            continue
        results.append(probed)
        if not (as_json or docs):
            print_probes(each, probed)
    problems.stop_if_any()
    if as_json:
        say(readable_json({each.suite: each for each in results}))
    if docs:
        _write_between(docs, [probe_section(*pair) for pair in zip(suites, results, strict=True)])
    context.exit(BLOCKED if any(each.broken for each in results) else 0)


PROBES_BEGIN = "<!-- probes: eval-pipeline golden probe --docs docs/suites.md -->"
PROBES_END = "<!-- end of probes -->"


def _write_between(file: Path, sections: Sequence[str]) -> None:
    """Put sections between the marks of a file."""
    text = file_bytes(file).decode(errors="replace")
    before, mark, rest = text.partition(PROBES_BEGIN)
    _, end, after = rest.partition(PROBES_END)
    if not (mark and end):
        remedy = f"Put the lines {PROBES_BEGIN} and {PROBES_END} where the tables belong."
        raise bad_value("--docs", f"{file} has no marks", remedy)
    inside = "\n\n".join((PROBES_BEGIN, *sections, PROBES_END))
    write_text(file, before + inside + after)


@command.command("freeze")
@click.argument("suite", shell_complete=completing.suites())
@click.option("--reason", required=True, help="Why the golden set is right as it stands.")
@click.option("--by", "by", default=None, help="Who says so; by default the user that Git knows.")
def freeze(suite: str, reason: str, by: str | None) -> None:
    """Sign a golden set off as it stands. From then on any change is a failing check."""
    if not reason.strip():
        raise bad_value("--reason", "is blank", "Say why the golden set is right as it stands.")
    project = Project.find()
    chosen = find_suite(project, suite)
    folder = project.golden(chosen.name)
    problems = Problems()
    golden = _read(chosen, folder, problems)
    _references(chosen, folder, problems)
    problems.stop_if_any()
    signed = golden.sign_off(person(by), reason)
    size = counted(len(golden), "case")
    say(f"{chosen.name}: {size} signed off by {signed.signed_by} ({signed.golden_hash}).")


def _read(suite: Suite, folder: Path, problems: Problems) -> GoldenSet:
    golden = GoldenSet(suite, folder, problems)
    for _ in golden.read():
        pass
    return golden


def _references(suite: Suite, folder: Path, problems: Problems) -> Any:
    try:
        return context_for(suite, folder).references
    except BadInput as bad:
        problems.include(bad)
        return None
