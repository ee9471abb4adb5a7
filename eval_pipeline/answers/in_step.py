"""Files of answers whose lines follow the cases one by one."""

from collections.abc import Collection, Sequence
from io import BytesIO
from operator import attrgetter
from pathlib import Path
from typing import Any

import msgspec

from eval_pipeline.answers.line_files import UNREADABLE, LineFormat, ended
from eval_pipeline.answers.record import FIRST_TRIAL, Answer
from eval_pipeline.files import Block, Part, line_blocks, may_repeat_keys
from eval_pipeline.problems import Problems


class OutOfStep(Exception):
    """The lines of a file do not follow the cases one by one, or one of them has a problem."""


class AnswersInStep:
    """A part of a file whose lines follow the cases one by one, all in the first trial.

    The file is read once, along with the cases; only the lines of the cases asked for last are kept.
    Anything else is `OutOfStep`: an `AnswerFile` reads such a file, and names its problems.
    """

    trials = (FIRST_TRIAL,)
    repeated = 0

    def __init__(self, path: Path, format_: LineFormat[Any], part: Part) -> None:
        self.warnings = Problems()
        self._blocks = line_blocks(path, self.warnings, part)
        self._format = format_
        self._id = attrgetter(format_.id_field)
        self._decoder = msgspec.json.Decoder(format_.line)
        self._ids: list[str] = []
        self._outputs: list[Any] = []
        self._lines: list[bytes] = []
        self._current: dict[str, bytes] = {}

    def outputs(self, case_ids: Sequence[str], trial: int) -> list[Any]:
        """The outputs on the next lines, which must belong to these cases; None where `get` must be asked."""
        count = len(case_ids)
        while len(self._ids) < count and (block := next(self._blocks, None)):
            self._read(block)
        if self._ids[:count] != case_ids:
            raise OutOfStep
        outputs = self._outputs[:count]
        self._current = dict(zip(case_ids, self._lines[:count], strict=True))
        del self._ids[:count], self._outputs[:count], self._lines[:count]
        return outputs

    def get(self, case_id: str, trial: int, input_hash: str = "") -> Answer:
        """The answer for one of the cases that `outputs` was asked for last."""
        return self._format.answer(self._decoder.decode(self._current[case_id]))

    def without_case(self, known: Collection[str]) -> list[str]:
        """Nothing: lines that are left over are out of step."""
        if self._ids or any(self._blocks) or len(self.warnings):
            raise OutOfStep
        return []

    def _read(self, block: Block) -> None:
        if may_repeat_keys(block.data):
            raise OutOfStep
        lines = [line for line in BytesIO(ended(block.data)) if not line.isspace()]
        shortcut = self._format.shortcut
        usual = shortcut.lines(b"".join(lines)) if shortcut else [None] * len(lines)
        ids: list[Any] = [line and self._id(line) for line in usual]
        outputs = [line and shortcut.output(line) for line in usual] if shortcut else usual
        trials = {line.trial for line in usual if line}
        for number in [number for number, output in enumerate(outputs) if output is None]:
            try:
                ids[number], trial = self._format.key(self._decoder.decode(lines[number]))
            except UNREADABLE:
                raise OutOfStep from None
            trials.add(trial)
        if trials - {FIRST_TRIAL}:
            raise OutOfStep
        self._ids += ids
        self._outputs += outputs
        self._lines += lines
