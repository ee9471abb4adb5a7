"""What the command line prints: tables and a progress bar."""

from __future__ import annotations

import getpass
import subprocess
from collections.abc import Iterable, Sequence
from types import TracebackType

import click
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TaskID, TextColumn, TimeRemainingColumn
from rich.table import Table
from rich.text import Text

from eval_pipeline.answers import Answer
from eval_pipeline.asking import Tally
from eval_pipeline.decisions import Objections, Standing
from eval_pipeline.numbers import change, counted, number
from eval_pipeline.reports.cases import hidden_problems
from eval_pipeline.reports.comparison import evidence_cells, group_lines
from eval_pipeline.reports.tables import STATUS_SIGNS, model_notes, shown_value, units
from eval_pipeline.scoring import Summary
from eval_pipeline.suite import Suite

WIDEST_TABLE = 160
COLOURS = {"pass": "green", "warn": "yellow", "fail": "red", "not_applicable": "dim"}
VERDICT_COLOURS = {"improved": "green", "inconclusive": "yellow", "regressed": "red"}


class Bar:
    """A live progress bar on standard error."""

    def __init__(self) -> None:
        self._bar = Progress(
            TextColumn("{task.description}"),
            BarColumn(),
            MofNCompleteColumn(),
            TextColumn("{task.fields[trouble]}"),
            TextColumn("{task.fields[cost]}"),
            TimeRemainingColumn(),
            console=Console(stderr=True),
        )
        self._task: TaskID | None = None

    def __enter__(self) -> Bar:
        self._bar.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._bar.stop()

    def start(self, title: str, total: int) -> None:
        """Show a new bar."""
        self._tally = Tally(total)
        self._task = self._bar.add_task(title, total=total, trouble="", cost="")

    def advance(self, answer: Answer) -> None:
        """One more is there."""
        self._tally.add(answer)
        if self._task is not None:
            cost = f"${self._tally.cost:.4f}" if self._tally.cost else ""
            self._bar.update(self._task, advance=1, trouble=self._tally.trouble, cost=cost)


def print_table(header: Sequence[str], rows: Iterable[Sequence[str | Text]]) -> None:
    """A table on standard output; cells are plain text, never markup."""
    grid = Table(box=None, pad_edge=False, header_style="bold")
    for name in header:
        grid.add_column(name, no_wrap=True)
    for row in rows:
        grid.add_row(*(cell if isinstance(cell, Text) else Text(cell) for cell in row))
    Console(width=WIDEST_TABLE).print(grid)


def print_summary(suite: Suite, summary: Summary) -> None:
    """Metrics and gates for a person."""
    unit = units(suite)
    gates = {gate.metric: gate for gate in summary.gates}
    names = [*gates, *(name for name in summary.metrics if name not in gates)]
    rows: list[tuple[str | Text, ...]] = []
    for name in names:
        gate = gates.get(name)
        state = Text("")
        if gate:
            sign = STATUS_SIGNS[gate.status]
            state = Text(f"{sign} {gate.zone or ''}".rstrip(), style=COLOURS[gate.status])
        value = summary.metrics[name]
        spread = [number(each, unit[name]) for each in value.spread.values()] if summary.trials > 1 else []
        rows.append((name, shown_value(value, unit[name]), *spread, state))
    over_trials = ("sd", "min", "max") if summary.trials > 1 else ()
    print_table(("metric", "value", *over_trials, "gate"), rows)
    size = f"{counted(summary.cases, 'case')} × {counted(summary.trials, 'trial')}"
    click.echo(f"{size}, {counted(summary.error_count, 'error')}.")
    if hidden := hidden_problems(summary):
        click.echo(hidden)
    for note in model_notes(summary):
        click.echo(note)


def print_gates(summary: Summary) -> None:
    """The gates that do not pass."""
    for gate in summary.gates:
        if gate.status in ("warn", "fail"):
            click.echo(f"{STATUS_SIGNS[gate.status]} {gate.metric}: {gate.text}")


def print_objections(against: Objections) -> None:
    """What speaks against an evaluation, the worst first."""
    for sign, some in (("✗", against.blocking), ("✓ approved:", against.approved), ("⚠", against.warnings)):
        for each in some:
            click.echo(f"{sign} {each.text}")


def print_comparison(suite: Suite, standing: Standing) -> None:
    """A comparison for a person."""
    comparison = standing.comparison
    unit = units(suite)
    for note in comparison.notes:
        click.echo(f"Note: {note}")
    print_table(
        (
            "metric",
            "before",
            "after",
            "difference",
            "95 % CI",
            "adjusted p",
            "detectable",
            "verdict",
            "action",
        ),
        (
            (
                each.metric,
                number(each.before, unit[each.metric]),
                number(each.after, unit[each.metric]),
                change(each.difference, unit[each.metric]),
                *evidence_cells(each, unit[each.metric]),
                Text(each.verdict if each.gated else "", style=VERDICT_COLOURS.get(each.verdict, "")),
                each.action.replace("_", " ") if each.gated else "",
            )
            for each in sorted(comparison.metrics, key=lambda each: not each.gated)
        ),
    )
    for line in group_lines(suite, comparison):
        click.echo(line)
    for title, cases in (("regressed", comparison.regressed), ("improved", comparison.improved)):
        for case in cases:
            click.echo(f"{title}: {case.case_id} {change(case.difference, unit[suite.headline])}")
    for title, names in (
        ("new, not compared", comparison.appeared),
        ("vanished", comparison.vanished),
        ("input changed, not compared", comparison.changed),
    ):
        if names:
            click.echo(f"{title}: {', '.join(names)}")
    click.echo(standing.conclusion)


def person() -> str:
    """Who is at the keyboard, as Git or the system knows them."""
    try:
        found = subprocess.run(["git", "config", "user.name"], capture_output=True, text=True, check=False)
        return found.stdout.strip() or getpass.getuser()
    except (OSError, KeyError):
        return "unknown"
