"""Damaged files and odd file systems: every accepted change is either harmless or noticed."""

from __future__ import annotations

import json
import os
import random
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

from benchmarks.hostile.commands import Outcome, attempt
from benchmarks.hostile.mutations import DAMAGE, HARMLESS
from benchmarks.hostile.projects import Pristine
from benchmarks.hostile.tally import Tried, ended
from benchmarks.hostile.targets import Command, Target
from eval_pipeline import cli
from eval_pipeline.cli import BAD_INPUT
from eval_pipeline.project import Project
from eval_pipeline.timetable import read_automation

SPARSE = 2**40
UNSEEN = "a file that cannot be read goes unnoticed"


class Attack(NamedTuple):
    """One change of one file: its name, the file's place and how it is done."""

    name: str
    target: Target
    seed: str


def attacks(targets: list[Target], rounds: int) -> list[Attack]:
    """Every mutation of every kind of file, so many times, and every oddity once."""
    names = [name for name in (*DAMAGE, *HARMLESS) for _ in range(rounds if name in DAMAGE else 1)]
    return [
        Attack(name, target, f"{target.kind} {target.suite} {name} {number}")
        for target in targets
        for number, name in enumerate((*names, *ODDITIES))
    ]


class Attacker:
    """Attacks one project, again and again."""

    def __init__(self, pristine: Pristine, seed: int) -> None:
        self._pristine = pristine
        self._seed = seed
        self._known: dict[Command, Outcome] = {}

    def _run(self, command: Command) -> Outcome:
        project = self._pristine.project
        if command == ("automation",):
            return attempt(project, prepared=_reading_automation)
        return attempt(project, *command)

    def _usual(self, command: Command) -> Outcome:
        """What a command says where nothing is wrong."""
        if command not in self._known:
            self._known[command] = self._run(command)
            assert not self._known[command].trouble, (command, self._known[command])
            assert self._known[command].code != BAD_INPUT, self._known[command].err
            self._pristine.restore()
        return self._known[command]

    def do(self, attack: Attack) -> Tried:
        """Change a file, run what reads it, and have everything as before."""
        chance = random.Random(f"{self._seed} {attack.seed}")
        target = attack.target
        usual = [self._usual(command) for command in target.commands]
        file = chance.choice(target.files)
        if attack.name in ODDITIES:
            _put(ODDITIES[attack.name], file)
        else:
            mutation = DAMAGE.get(attack.name) or HARMLESS[attack.name]
            file.write_bytes(mutation(file.read_bytes(), chance))
        touched = self._pristine.changed()
        results: list[Outcome] = []
        trouble = ""
        for command in target.commands:
            results.append(self._run(command))
            trouble = _trouble(attack, usual[: len(results)], results)
            if not trouble and "run" not in command and "approve" not in command:
                rest = {path for path in self._pristine.changed() - touched if not path.startswith(".eval")}
                trouble = f"changed {sorted(rest)}" if rest else ""
            if trouble or results[-1].code == BAD_INPUT:
                break
        self._pristine.restore()
        shown = f"{trouble} [{file.name}, {' '.join(target.commands[len(results) - 1][:3])}]"
        name = f"{target.kind} ({target.suite})"
        return ended(attack.name, name, trouble and shown, refused=results[-1].code == BAD_INPUT)


def _reading_automation() -> None:
    """Read `automation.yaml` as the code location does, in place of a command."""
    cli.cli = lambda **_: read_automation(Project.find()) and None  # type: ignore[assignment]


def _trouble(attack: Attack, usual: list[Outcome], results: list[Outcome]) -> str:
    """What is wrong with the latest result; blank where nothing is."""
    result, before = results[-1], usual[-1]
    if result.trouble or result.code == BAD_INPUT:
        return result.trouble
    command = attack.target.commands[len(results) - 1]
    moved = _numbers(command, result.out) != _numbers(command, before.out)
    said = [(each.code, each.out, each.err) for each in results]
    unnoticed = said[0] == (usual[0].code, usual[0].out, usual[0].err)
    rule = attack.target.rule
    if attack.name in ODDITIES:
        is_last = len(results) == len(attack.target.commands)
        is_read = rule != "free" and not attack.target.kind.startswith("state")  # of the state only some is
        return UNSEEN if is_last and is_read and unnoticed and not moved else ""
    if not moved:
        return ""
    if attack.name in HARMLESS:
        is_noticed = rule in ("signed", "outputs") and not unnoticed and result.err != before.err
        return "" if is_noticed else "a silent change of numbers by what is harmless"
    if rule == "signed" and len(results) > 1 and unnoticed:
        return "a silent change of numbers in what was signed off"
    if rule == "same" and _told(result.out) == _told(before.out):
        return "a silent change of numbers"
    if rule == "outputs" and attack.name == "a key twice" and _errors(result.out) == _errors(before.out):
        return "a silent change of numbers by a key that is there twice"
    return ""


def _numbers(command: Command, out: str) -> Any:
    """The numbers that a command says; the state of a ledger counts as one."""
    if "--json" not in command:
        return out if command[0] == "review" else None
    said = json.loads(out)
    for each in said if isinstance(said, list) else [said]:
        each.pop("exported_at", None)
    return said.get("metrics", said) if isinstance(said, dict) else said


def _told(out: str) -> list[Any]:
    """What a comparison says about its two sides: such a change of numbers is not silent."""
    said = json.loads(out) if out.startswith("{") else {}
    return [said.get(name) for name in ("notes", "appeared", "vanished", "changed")]


def _errors(out: str) -> Any:
    return json.loads(out).get("errors_by_kind")


def _put(make: Callable[[Path], object], file: Path) -> None:
    file.unlink()
    make(file)


def _folder(file: Path) -> None:
    file.mkdir()
    (file / os.fsdecode(b"\xff.json")).write_text("{}")


def _sparse(file: Path) -> None:
    with file.open("wb") as opened:
        opened.truncate(SPARSE)


ODDITIES: dict[str, Callable[[Path], object]] = {
    "symlink loop": lambda file: file.symlink_to(file.name),
    "link to nowhere": lambda file: file.symlink_to("nowhere"),
    "FIFO": os.mkfifo,
    "/dev/zero": lambda file: file.symlink_to("/dev/zero"),
    "folder": _folder,
    "sparse terabyte": _sparse,
}
"""What may be there in place of a file."""
