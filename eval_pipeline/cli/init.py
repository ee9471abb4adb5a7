"""`eval-pipeline init`: a project of one's own that runs at once."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from eval_pipeline.files.words import not_a_choice
from eval_pipeline.loading import shipped_names
from eval_pipeline.numbers import counted
from eval_pipeline.problems import Problems, bad_value, shown_path
from eval_pipeline.project import MARKER
from eval_pipeline.terminal import safe, say

if TYPE_CHECKING:
    from eval_pipeline.starting import Column, Plan, Roles

INPUT = "input"
ASSERTIONS = "__expected"
OPTIONS = {"id": "--id", "inputs": "--input", "expected": "--expected", "attributes": "--attribute"}
"""How a person says what columns are for."""
WANTED = {"inputs": "what a prompt is about", "expected": "what is expected"}
QUESTIONS = {
    "expected": "Which column says what is expected?",
    "inputs": "Which columns is a prompt about, separated by commas?",
}


@click.command("init")
@click.argument("folder", type=click.Path(path_type=Path, file_okay=False), default=".")
@click.option(
    "--from",
    "table",
    type=click.Path(path_type=Path, dir_okay=False),
    help="A file of cases: CSV, TSV, JSON Lines, JSON, YAML or Parquet. Without it, a few samples.",
)
@click.option("--template", "task", metavar="TASK", help="classify, extract, answer, summarise, rag or rank.")
@click.option("--name", help="What the suite is called; by default like the file.")
@click.option("--id", "case_id", metavar="COLUMN", help="The column that names a case.")
@click.option("--input", "inputs", metavar="COLUMN", multiple=True, help="A column that a prompt may see.")
@click.option("--expected", metavar="COLUMN", help="The column that says what is expected.")
@click.option("--attribute", "attributes", metavar="COLUMN", multiple=True, help="A column to group by.")
@click.option("--yes", is_flag=True, help="Ask nothing: guess, and say what was guessed.")
def command(
    folder: Path,
    table: Path | None,
    task: str | None,
    name: str | None,
    case_id: str | None,
    inputs: tuple[str, ...],
    expected: str | None,
    attributes: tuple[str, ...],
    yes: bool,
) -> None:
    """Make a project in FOLDER (by default here) that runs at once, with no key.

    Cases, a suite.yaml, a prompt, gates, engines, what Dagster and Git need, and a workflow for pull
    requests. What the columns of the table are for is guessed from their names and cells; on a terminal it
    asks where that is not clear. A file that is there is never overwritten. In a project that exists, a
    suite is added and the rest left alone.
    """
    from eval_pipeline.starting import begin_state, shared_files, suite_files, write_files

    given = {
        "id": [case_id] if case_id else [],
        "inputs": list(inputs),
        "expected": [expected] if expected else [],
        "attributes": list(attributes),
    }
    plan = _plan(table, task, name, given, asking=not yes and sys.stdin.isatty() and sys.stdout.isatty())
    contents, cases = suite_files(plan)
    is_new = not (folder / MARKER).is_file()
    write_files(folder, contents | (shared_files(folder) if is_new else {}))
    if is_new:
        begin_state(folder)
    _tell(folder, plan, cases, table is not None)


def _plan(
    table: Path | None, task: str | None, name: str | None, given: dict[str, list[str]], asking: bool
) -> Plan:
    """What the new suite is made from; everything that is wrong with what was given is raised at once."""
    from eval_pipeline.declarative import SUFFIXES
    from eval_pipeline.starting import (
        DESCRIPTIONS,
        TASKS,
        Plan,
        guess_task,
        read_columns,
        sample_file,
        suite_name,
    )

    problems = Problems()
    if task is not None and task not in TASKS:
        problems.add(INPUT, *not_a_choice(task, TASKS, "template", "Templates"), field="--template")
    if table is not None and not table.is_file():
        problems.add(table, "there is no such file", "Name a file of cases.")
    elif table is not None and table.suffix.lower() not in SUFFIXES:
        problems.add(table, "is in no known format", f"Known: {', '.join(SUFFIXES)}.")
    problems.stop_if_any()
    chosen: Any = task
    source = table or sample_file(chosen or TASKS[0])
    columns = read_columns(source)
    roles = _roles(columns, given, asking)
    if task is None:
        chosen, reason = guess_task(columns, roles)
        roles = replace(roles, why={**roles.why, "task": reason})
    taken = shipped_names()
    called = suite_name(name or source.stem, taken if name is None else ())
    if called in taken or (name is not None and called != name):
        raise bad_value("--name", f"{name!r} cannot be the name of a suite", f"For example: own_{called}.")
    return Plan(called, chosen, roles, columns, source, DESCRIPTIONS[chosen])


def _roles(columns: Sequence[Column], given: dict[str, list[str]], asking: bool) -> Roles:
    """What the columns are for, asking for what is not clear."""
    from eval_pipeline.starting import guess_roles

    names = [column.name for column in columns]
    problems = Problems()
    for role, option in OPTIONS.items():
        for name in given[role]:
            if name not in names:
                problems.add(INPUT, *not_a_choice(name, names, "column", "Columns"), field=option)
    problems.stop_if_any()
    roles = guess_roles(columns, given)
    for role in QUESTIONS if asking else ():
        if role in roles.unsure:
            given[role] = _ask(role, roles, names)
            roles = guess_roles(columns, given)
    asserted = any(name.startswith(ASSERTIONS) for name in names)
    for role, missing in (("expected", not roles.expected and not asserted), ("inputs", not roles.inputs)):
        if missing:
            remedy = f"Name a column with {OPTIONS[role]}. Columns: {', '.join(names)}."
            problems.add(INPUT, f"no column looks like {WANTED[role]}", remedy)
    problems.stop_if_any()
    return roles


def _ask(role: str, roles: Roles, names: Sequence[str]) -> list[str]:
    """The columns that a person names for a role."""
    guessed = roles.inputs if role == "inputs" else tuple(filter(None, [roles.expected]))
    say(f"Columns: {', '.join(names)}")
    while True:
        answer = click.prompt(QUESTIONS[role], default=safe(", ".join(guessed)) or None)
        chosen = [part.strip() for part in str(answer).split(",") if part.strip()]
        if chosen and all(name in names for name in chosen) and (role == "inputs" or len(chosen) == 1):
            return chosen
        say(f"{answer}: not {'columns' if role == 'inputs' else 'a column'} of the table.")


def _tell(folder: Path, plan: Plan, cases: int, is_own: bool) -> None:
    """What was made, what was guessed and why, and what comes next."""
    roles = plan.roles
    say(
        f"{plan.name}: {counted(cases, 'case')} of {plan.cases.name}{'' if is_own else ', which are samples'}"
    )
    lines = {
        "id": roles.id or "made from the content",
        "input": ", ".join(roles.inputs),
        "expected": roles.expected or "assertions in the table",
        "attributes": ", ".join(roles.attributes),
        "sources": roles.cited,
        "task": plan.task,
        "unused": ", ".join(each.name for each in plan.columns if each.name not in roles.used),
    }
    keys = {"input": "inputs", "sources": "cited"}
    for label, value in lines.items():
        why = roles.why.get(keys.get(label, label), "")
        if value:
            say(f"  {label:<11} {value}{f'   (guessed: {why})' if why else ''}")
    place = shown_path(folder)
    say(f"Written to {place if place != '.' else 'this folder'}; golden/{plan.name}/suite.yaml says it all.")
    say("Next:")
    if place != ".":
        say(f"  cd {shlex.quote(place)}")
    say(f"  eval-pipeline run {plan.name}")
    say(f'  eval-pipeline baseline promote {plan.name} {plan.version} --reason "the first"')
    say("  eval-pipeline gate")
    say("Answers come from a stand-in, not from a model, until engines.yaml names yours.")
