"""Files of recorded answers that follow the cases line by line."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from io import BytesIO
from operator import attrgetter
from pathlib import Path
from typing import Any

import msgspec

from eval_pipeline.answers.record import FIRST_TRIAL, Answer
from eval_pipeline.answers.recorded import LineFormat, Shortcut, ended
from eval_pipeline.files import Block, Part, line_blocks
from eval_pipeline.problems import Problems


class OutOfStep(Exception):
    """The lines of a file do not follow the cases one by one, or are not all in order."""


class AnswersInStep:
    """A file whose lines follow the cases one by one, all of the first trial.

    It is read once, along with the cases, and nothing of it is kept. Whatever does not fit is `OutOfStep`:
    then an `AnswerFile` tells everything about it.
    """

    trials = (FIRST_TRIAL,)
    repeated = 0

    def __init__(self, path: Path, format_: LineFormat[Any], shortcut: Shortcut[Any], part: Part) -> None:
        self.warnings = Problems()
        self._blocks = line_blocks(path, self.warnings, part)
        self._format = format_
        self._shortcut = shortcut
        self._id = attrgetter(format_.id_field)
        self._decoder = msgspec.json.Decoder(format_.line)
        self._ids: list[str] = []
        self._outputs: list[Any] = []
        self._unusual: dict[str, Answer] = {}

    def outputs(self, case_ids: Sequence[str], trial: int) -> list[Any]:
        """The outputs on the next lines, which must belong to these cases; None where `get` must be asked."""
        count = len(case_ids)
        while len(self._ids) < count and (block := next(self._blocks, None)):
            self._read(block)
        if self._ids[:count] != case_ids:
            raise OutOfStep
        found = self._outputs[:count]
        del self._ids[:count], self._outputs[:count]
        return found

    def get(self, case_id: str, trial: int, input_hash: str = "") -> Answer:
        """The answer on a line that was just read and deserves a closer look."""
        try:
            return self._unusual.pop(case_id)
        except KeyError:
            raise OutOfStep from None

    def without_case(self, known: Collection[str]) -> list[str]:
        """Nothing: where lines are left over, they are out of step."""
        if self._ids or any(self._blocks) or len(self.warnings):
            raise OutOfStep
        return []

    def _read(self, block: Block) -> None:
        data = ended(block.data)
        lines = self._shortcut.lines(data)
        if len(lines) != data.count(b"\n"):  # some are blank
            data = b"".join(ended(line.data) for line in block.lines())
            lines = self._shortcut.lines(data)
        ids: list[Any] = [line and self._id(line) for line in lines]
        outputs = [line and self._shortcut.output(line) for line in lines]
        trials = {line.trial for line in lines if line}
        closer = [number for number, output in enumerate(outputs) if output is None]
        for number, line in zip(closer, _picked(data, closer), strict=True):
            answer = self._answer(line)
            ids[number] = answer.case_id
            trials.add(answer.trial)
            self._unusual[answer.case_id] = answer
        if trials != {FIRST_TRIAL}:
            raise OutOfStep
        self._ids += ids
        self._outputs += outputs

    def _answer(self, line: bytes) -> Answer:
        try:
            return self._format.answer(self._decoder.decode(line))
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
            raise OutOfStep from None


def _picked(data: bytes, numbers: Sequence[int]) -> list[bytes]:
    """Some of the lines in a block."""
    lines = BytesIO(data).readlines() if numbers else []
    return [lines[number] for number in numbers]
