"""The command line. Exit codes: 0 fine, 1 a gate or comparison blocks, 2 bad input, 70 a defect."""

from __future__ import annotations

import atexit
import errno
import gc
import importlib
import os
import re
import sys
import traceback
from collections.abc import Iterator
from contextlib import suppress
from io import TextIOWrapper
from keyword import iskeyword
from typing import TYPE_CHECKING, Any

import click

from eval_pipeline.numbers import counted
from eval_pipeline.own_code import use_code_of
from eval_pipeline.problems import BadInput, first_lines
from eval_pipeline.project import Project
from eval_pipeline.terminal import say

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem

# fmt: off
__all__ = [
    "BAD_INPUT", "BLOCKED", "COMMANDS", "CRASHED", "INTERRUPTED", "Group", "cli", "main", "module_of",
]
# fmt: on

COMMANDS = {
    "init": "Begin a project of your own, from a table of cases.",
    "doctor": "Say what is missing or wrong before a run would.",
    "run": "Evaluate prompt versions: the same assets as in the UI.",
    "compare": "Compare a version with its baseline or another version, or two files of results.",
    "import": "Bring a configuration of promptfoo, as a suite.",
    "investigate": "Say why a version fails, as far as the data tell.",
    "report": "Write the report on an evaluation as one page for a browser, with every case.",
    "case": "Show one case: question, expectation, answers, mistakes and scores.",
    "gate": "Decide whether a change may go in: for CI.",
    "baseline": "Promote an evaluation to baseline, or show the baseline.",
    "approve": "Let a result pass that the numbers speak against: who, why, until when.",
    "dashboard": "Write one page over all suites: where everything stands, and how it went.",
    "systems": "Put the classical systems of a task side by side.",
    "history": "Show how a suite's numbers went over time, or export them.",
    "production": "Show the figures of a suite in production.",
    "quality": "Estimate how good answers in production are, from samples.",
    "alerts": "Show what is watched in production, and which incidents are open.",
    "events": "Take in events of production, and show what became of them.",
    "prompt": "Begin a new prompt version, or make one the active one.",
    "cases": "Make golden cases of what failed in production.",
    "ratings": "Let people rate sampled answers, and show what they say.",
    "brief": "Say what a week, a month or a quarter in production brought.",
    "golden": "Check golden sets, probe them, and sign them off.",
    "suite": "Turn a suite that a file declares into Python.",
    "score": "Score a file of recorded outputs against a golden set.",
    "review": "Judge findings by the blind protocol, step by step.",
    "journal": "Show what metered calls have cost, and forget their answers.",
    "schema": "Write JSON Schemas of the YAML files, so that editors complete and check them.",
    "purge": "Delete texts of production that are older than people want to keep; figures stay.",
    "prune": "Delete old evaluations, runs and leftovers; baselines and history stay.",
    "move-state": "Move to the PostgreSQL and the object storage that several machines share.",
    "completion": "Print a script that completes commands in a shell.",
    "ui": "Serve Dagster's UI and reports, on loopback.",
    "demo": "Evaluate everything there is, a line each, and serve the UI meanwhile.",
}
"""In the order in which people meet them."""

NO_ROOM = {errno.ENOSPC, errno.EFBIG, errno.EDQUOT, errno.EROFS, errno.EIO}
NO_DATABASE = re.compile("disk|open database|readonly|locked")
RARELY = 50_000
"""So many objects are made before memory is searched for garbage: most of what a command loads, it keeps."""

LONGEST_SENTENCE = 200

BLOCKED, BAD_INPUT, CRASHED, INTERRUPTED = 1, 2, 70, 130


class Group(click.Group):
    """Lists its commands with a whole sentence for each, where click would cut it."""

    def sentences(self, context: click.Context) -> dict[str, str]:
        """What each command does, in the order in which they are listed."""
        commands = {name: self.get_command(context, name) for name in self.list_commands(context)}
        return {
            name: command.get_short_help_str(LONGEST_SENTENCE).removesuffix(".") + "."
            for name, command in commands.items()
            if command is not None
        }

    def format_commands(self, context: click.Context, formatter: click.HelpFormatter) -> None:
        """List the commands."""
        with formatter.section("Commands"):
            formatter.write_dl(list(self.sentences(context).items()))


def module_of(name: str) -> str:
    """The module of a command; a word that Python keeps for itself has a mark at its end."""
    return f"{__name__}.{name}_" if iskeyword(name) else f"{__name__}.{name.replace('-', '_')}"


class LazyGroup(Group):
    """Imports a command only when it is called, so that `--help` answers in a moment."""

    def list_commands(self, context: click.Context) -> list[str]:
        """The commands in the order in which people meet them."""
        return list(COMMANDS)

    def get_command(self, context: click.Context, name: str) -> click.Command | None:
        """The command of that name."""
        if name not in COMMANDS:
            return None
        command: click.Command = importlib.import_module(module_of(name)).command
        return command

    def sentences(self, context: click.Context) -> dict[str, str]:
        """What each command does, without importing any."""
        return COMMANDS

    def shell_complete(self, context: click.Context, incomplete: str) -> list[CompletionItem]:
        """The commands that begin as typed, without importing any, or the options."""
        from click.shell_completion import CompletionItem

        commands = [
            CompletionItem(name, help=text) for name, text in COMMANDS.items() if name.startswith(incomplete)
        ]
        return [*commands, *click.Command.shell_complete(self, context, incomplete)]


@click.group(cls=LazyGroup, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(package_name="eval-pipeline")
def cli() -> None:
    """Tells whether a change to a prompt, a model or a retrieval pipeline made it better or worse."""
    with suppress(BadInput):  # whoever needs a project says what is wrong with it
        use_code_of(Project.find())


def _leave() -> None:
    """What is there at the end goes with the process: nobody searches it, but who counts what is left."""
    if "duckdb" not in sys.modules:
        gc.freeze()


def main() -> Any:
    """Run the command line; what a person can mend is printed, never a traceback."""
    gc.set_threshold(RARELY)
    atexit.register(_leave)
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):  # not every one is UTF-8
            stream.reconfigure(errors="backslashreplace")
    try:
        sys.exit(cli(standalone_mode=False))
    except click.ClickException as error:
        error.show()
        sys.exit(BAD_INPUT)
    except BadInput as bad:
        for line in first_lines(bad.problems):
            say(line, err=True)
        say(f"{counted(len(bad.problems), 'problem')}; nothing was changed.", err=True)
        sys.exit(BAD_INPUT)
    except (click.Abort, KeyboardInterrupt):
        say("Interrupted.", err=True)
        sys.exit(INTERRUPTED)
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(BLOCKED)
    except Exception as error:  # never to be taken for a gate that blocks
        if cause := _cause_outside(error):
            say(f"{cause}.", err=True)
            sys.exit(BAD_INPUT)
        say(traceback.format_exc(), err=True)
        say("This is a defect of eval-pipeline, or of a suite; nothing was decided.", err=True)
        sys.exit(CRASHED)


def _cause_outside(error: BaseException) -> str | None:
    """What the machine has against it: a file that cannot be opened, a disk that is full."""
    import sqlite3

    if isinstance(error, OSError):
        return f"{error.filename or 'input'}: {error.strerror or error}"
    for inner in _behind(error):
        if isinstance(inner, OSError) and inner.errno in NO_ROOM:
            return f"{inner.filename or 'the disk of the state folder'}: {inner.strerror}"
        if isinstance(inner, sqlite3.OperationalError) and NO_DATABASE.search(str(inner)):
            return f"a database in the state folder cannot be used: {inner}; see its disk and permissions"
    return None


def _behind(error: BaseException) -> Iterator[BaseException]:
    """The errors that led to one."""
    inner = error.__cause__ or error.__context__
    if inner is not None:
        yield inner
        yield from _behind(inner)
