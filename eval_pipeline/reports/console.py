"""What the command line prints: tables and a progress bar."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TaskID, TextColumn, TimeRemainingColumn
from rich.table import Table as Grid
from rich.text import Text

from eval_pipeline.answers import Answer, Failure
from eval_pipeline.asking import SoFar, Tally
from eval_pipeline.decisions import Objections, Standing
from eval_pipeline.numbers import counted
from eval_pipeline.reports.blocks import Block, Bullets, Heading, Line
from eval_pipeline.reports.cases import cause_lines, hidden_problems, named_things, size_of
from eval_pipeline.reports.comparison import (
    comparison_table,
    left_out,
    moved_tables,
    reading_lines,
    side_lines,
    tests_tables,
)
from eval_pipeline.reports.layout import fitted, natural_width, screen_width, wrapped
from eval_pipeline.reports.markdown import flat
from eval_pipeline.reports.probes import probe_notes, probe_table
from eval_pipeline.reports.report import objection_lines
from eval_pipeline.reports.rows import Cell, Table
from eval_pipeline.reports.tables import metric_table, model_notes
from eval_pipeline.scoring import Probed, Scores, Summary
from eval_pipeline.suite import Suite
from eval_pipeline.terminal import safe, say, write


class Bar:
    """A live progress bar on standard error."""

    def __init__(self) -> None:
        self._bar = Progress(
            TextColumn("{task.description}", markup=False),
            BarColumn(),
            MofNCompleteColumn(),
            TextColumn("{task.fields[trouble]}", markup=False),
            TextColumn("{task.fields[cost]}"),
            TextColumn("{task.fields[waiting]}", markup=False),
            TimeRemainingColumn(),
            console=Console(stderr=True),
        )
        self._task: TaskID | None = None

    def __enter__(self) -> Bar:
        self._bar.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._bar.stop()

    def announce(self, plan: str) -> None:
        """Say what is going to be asked, above the bars."""
        console = self._bar.console
        console.print(Text(safe(plan)), soft_wrap=not console.is_terminal)

    def start(self, title: str, total: int) -> None:
        """Show a new bar."""
        self._tally = Tally(total)
        self._task = self._bar.add_task(safe(title), total=total, trouble="", cost="", waiting="")

    def advance(self, answer: Answer, failure: Failure | None) -> None:
        """One more is there."""
        self._tally.add(answer, failure)
        self._show()

    def catch_up(self, so_far: SoFar) -> None:
        """So many are there that others got."""
        self._tally.catch_up(so_far)
        self._show()
        self.wait(so_far.waiting)

    def _show(self) -> None:
        if self._task is not None:
            tally = self._tally
            self._bar.update(self._task, completed=tally.done, trouble=flat(tally.trouble), cost=tally.spent)

    def wait(self, reason: str) -> None:
        """Say what is being waited for."""
        if self._task is not None:
            self._bar.update(self._task, waiting=flat(reason))


def print_table(content: Table) -> None:
    """A table on standard output, in parts where it is too wide; cells are plain text, never markup."""
    for number, part in enumerate(fitted(content, screen_width())):
        if number:
            say()
        if part.title:
            print_line(f"{part.title}:")
        grid = Grid(box=None, pad_edge=False, header_style="bold")
        for name in part.header:
            grid.add_column(Text(safe(name)), no_wrap=True)
        for row in part.rows:
            cells = (cell if isinstance(cell, Cell) else Cell(cell) for cell in row)
            grid.add_row(*(Text(safe(cell.text), style=cell.colour) for cell in cells))
        console = Console(width=natural_width(part))
        with console.capture() as printed:
            console.print(grid)
        write("".join(f"{line.rstrip()}\n" for line in printed.get().splitlines()))
        if part.note:
            print_line(part.note)


def print_blocks(blocks: Iterable[Block]) -> None:
    """A page on standard output."""
    before: Block | None = None
    for block in blocks:
        if before is not None and not (isinstance(block, Bullets) and isinstance(before, Line)):
            say()
        before = block
        match block:
            case Heading():
                print_line(f"{'#' * block.level} {block.text}")
            case Line():
                print_line(f"{block.name} {block.text}".strip(), indent=0)
            case Bullets():
                for line in block.lines:
                    print_line(f"- {line}")
            case _:
                print_table(block)


def print_line(text: str, indent: int = 2) -> None:
    """A text on standard output, broken between words where it is too long; what follows is indented."""
    for line in wrapped(safe(text), screen_width(), indent):
        say(line)


def print_summary(suite: Suite, summary: Summary) -> None:
    """Metrics and gates for a person."""
    print_table(metric_table(suite, summary))
    say(f"{size_of(summary)}.")
    for note in filter(None, (hidden_problems(summary), *model_notes(summary))):
        say(note)


def print_probes(suite: Suite, probed: Probed) -> None:
    """What cheating would score, and the rules that are broken."""
    print_table(probe_table(suite, probed)._replace(title=f"{suite.name}, {counted(probed.cases, 'case')}"))
    for note in probe_notes(probed):
        say(note)
    say()


def print_gates(suite: Suite, summary: Summary, scores: Scores) -> None:
    """The gates that do not pass, and what stands behind them by name."""
    for gate in summary.gates:
        if gate.status in ("warn", "fail"):
            say(f"{'⚠' if gate.status == 'warn' else '✗'} {gate.metric}: {gate.text}")
    print_causes(named_things(suite, summary, scores))


def print_causes(named: Mapping[str, Sequence[str]]) -> None:
    """What stands behind the gates that do not pass, by name."""
    for line in cause_lines(named):
        say(line)


def print_objections(against: Objections) -> None:
    """What speaks against an evaluation, the worst first."""
    for line in objection_lines(against):
        say(line)


def print_comparison(suite: Suite, standing: Standing, moments: Sequence[str]) -> None:
    """A comparison for a person: first what is compared, and of when; the conclusion last."""
    comparison = standing.comparison
    for line in side_lines(comparison, moments):
        print_line(line, indent=8)
    for note in comparison.notes:
        print_line(f"Note: {note}")
    contents = (comparison_table(suite, comparison), *tests_tables(suite, comparison))
    for content in (*contents, *moved_tables(suite, comparison)):
        say()
        print_table(content)
    say()
    for line in (*left_out(comparison), *reading_lines(comparison), standing.conclusion):
        print_line(line)
