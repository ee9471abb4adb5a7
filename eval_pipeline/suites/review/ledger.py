"""The ledger of the blind protocol: rows that are only ever added, each carrying the hash of the one before.

Changing, removing or reordering a row breaks the chain, and adding an answer to what was sealed contradicts
the seal; both are found whenever the ledger is read. Cutting off its end leaves a whole chain, which is why
the last row that was added is remembered in a file beside it, which every reader looks at, and in the
project's state. Against rewriting everything, these memories included, only version control helps.
"""

import datetime
import fcntl
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Literal, get_args

import msgspec

from eval_pipeline.files import content_hash, file_bytes, is_there, read_json, read_json_lines, write_json
from eval_pipeline.golden import HEAD_FILE
from eval_pipeline.problems import Problems

START = "0" * 32
Step = Literal["findings", "predict", "adjudicate", "second", "settle", "bias"]
STEPS: tuple[Step, ...] = get_args(Step)
Act = Literal["answer", "match", "seal", "refused"]
REMEDY = "Restore the ledger from version control; rows are only ever added, by eval-pipeline review."


class Row(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Something that a person said in a step of the protocol, or that the protocol recorded."""

    number: int
    step: Step
    act: Act
    evaluation: str
    """The answers of a version that the step is about."""
    version: str
    task: str
    subject: str
    """The key of a finding, or the id of an expected error; blank for a seal."""
    answers: dict[str, str]
    author: str
    at: str
    previous: str
    hash: str = ""

    @property
    def digest(self) -> str:
        """What its hash must be: of everything else in it, the hash of the row before included."""
        return content_hash({**msgspec.to_builtins(self), "hash": ""})

    @property
    def stage(self) -> tuple[str, str, str]:
        """What is sealed as one: a step of an evaluation on a task."""
        return self.step, self.evaluation, self.task


class Head(msgspec.Struct, frozen=True):
    """The last row that somebody saw."""

    number: int
    hash: str


def commitment(rows: Sequence[Row]) -> str:
    """What a seal vouches for: the hashes of all answers, in order."""
    return content_hash([row.hash for row in rows])


def read_ledger(path: Path, problems: Problems) -> list[Row]:
    """The rows of a ledger; whatever shows that somebody tampered with it goes to `problems`."""
    rows = _chained(path, problems) if is_there(path) and path.stat().st_size else []
    _compare(rows, head_file(path), path, problems)
    if len(rows) > 1 and not is_there(head_file(path)):  # who dies over the first row leaves none
        problems.add(path, f"has no {head_file(path).name} beside it, so it may have been rewritten", REMEDY)
    return rows


def head_file(path: Path) -> Path:
    """Where the last row of a ledger is remembered for every reader."""
    return path.with_name(HEAD_FILE)


def _compare(rows: Sequence[Row], memory: Path, path: Path, problems: Problems) -> None:
    """Whether the last row that somebody remembers is still there."""
    for seen, _ in read_json(memory, Head, problems) if is_there(memory) else ():
        if not 0 < seen.number <= len(rows) or rows[seen.number - 1].hash != seen.hash:
            message = f"was cut off or rewritten: row {seen.number} is not the one that was seen"
            problems.add(path, message, REMEDY)


def _chained(path: Path, problems: Problems) -> list[Row]:
    previous = START
    rows: list[Row] = []
    answers: dict[tuple[str, str, str], list[Row]] = {}
    sealed: set[tuple[str, str, str]] = set()
    for row, line in read_json_lines(path, Row, problems):
        wrong = ""
        if row.hash != row.digest:
            wrong = "was changed: its content does not have its hash"
        elif row.previous != previous or row.number != len(rows) + 1:
            wrong = "does not follow the row before it: rows were removed, added or moved"
        elif row.act in ("answer", "match") and row.stage in sealed:
            wrong = "changes an answer that was sealed"
        elif row.act == "seal" and row.answers.get("commitment") != commitment(answers.get(row.stage, [])):
            wrong = "seals other answers than those before it"
        if wrong:
            problems.add(path, wrong, REMEDY, line=line)
        if row.act == "seal":
            sealed.add(row.stage)
        elif row.act in ("answer", "match"):
            answers.setdefault(row.stage, []).append(row)
        previous = row.hash
        rows.append(row)
    return rows


class Ledger:
    """A ledger that a person works on, and the memory of the last row seen."""

    def __init__(self, path: Path, memory: Path) -> None:
        self._path = path
        self._memory = memory
        self.rows = self._read()

    def _read(self) -> list[Row]:
        problems = Problems()
        rows = read_ledger(self._path, problems)
        _compare(rows, self._memory, self._path, problems)
        problems.stop_if_any()
        return rows

    def add(
        self,
        step: Step,
        act: Act,
        *,
        evaluation: str,
        version: str,
        task: str,
        author: str,
        subject: str = "",
        answers: Mapping[str, str] | None = None,
    ) -> Row:
        """Append a row; two people at once wait for each other."""
        self._path.parent.mkdir(parents=True, exist_ok=True)
        with self._path.open("ab") as file:
            fcntl.flock(file, fcntl.LOCK_EX)
            self.rows = self._read()
            now = datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds")
            previous = self.rows[-1].hash if self.rows else START
            number = len(self.rows) + 1
            given = dict(answers or {})
            row = Row(number, step, act, evaluation, version, task, subject, given, author, now, previous)
            row = msgspec.structs.replace(row, hash=row.digest)
            begin = b"" if _ends_with_a_line(self._path) else b"\n"
            file.write(begin + msgspec.json.encode(row) + b"\n")
            file.flush()
            os.fsync(file.fileno())
            self.rows.append(row)
            for memory in (head_file(self._path), self._memory):
                write_json(memory, Head(row.number, row.hash))
        return row

    def seal(self, step: Step, *, evaluation: str, version: str, task: str, author: str) -> Row:
        """Vouch for all answers of a step on a task: from now on none can be changed."""
        rows = [row for row in self.rows if row.stage == (step, evaluation, task)]
        given = [row for row in rows if row.act in ("answer", "match")]
        sealed = {"commitment": commitment(given), "answers": str(len(given))}
        return self.add(
            step, "seal", evaluation=evaluation, version=version, task=task, author=author, answers=sealed
        )

    def seal_of(self, step: Step, evaluation: str, task: str) -> Row | None:
        """The seal of a step on a task, if it is sealed."""
        stage = (step, evaluation, task)
        return next((row for row in self.rows if row.act == "seal" and row.stage == stage), None)

    def answers(self, step: Step, evaluation: str, task: str) -> dict[str, Row]:
        """What was answered last on each subject of a step."""
        stage = (step, evaluation, task)
        return {row.subject: row for row in self.rows if row.act == "answer" and row.stage == stage}


def _ends_with_a_line(path: Path) -> bool:
    """Whether what is added stands on a line of its own: an editor may have taken the last line end away."""
    return file_bytes(path)[-1:] in (b"", b"\n")


def sealed_answers(rows: Sequence[Row], step: Step) -> dict[tuple[str, str], Row]:
    """The last sealed answer of a step on every subject of every task, whatever the evaluation."""
    sealed = {row.stage for row in rows if row.act == "seal"}
    return {
        (row.task, row.subject): row
        for row in rows
        if row.act == "answer" and row.step == step and row.stage in sealed
    }
