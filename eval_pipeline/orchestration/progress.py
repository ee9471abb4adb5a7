"""How far a run is, in Dagster's log."""

import time

import dagster as dg
from pydantic import Field

from eval_pipeline.answers import Answer, Failure
from eval_pipeline.asking import SoFar, Tally
from eval_pipeline.numbers import counted


class LogProgress:
    """Progress as lines in Dagster's log: at most one every few seconds."""

    def __init__(self, log: dg.DagsterLogManager, seconds: float) -> None:
        self._log = log
        self._seconds = seconds
        self._title = ""
        self._tally = Tally(0)
        self._next = 0.0

    def announce(self, plan: str) -> None:
        """Say what is going to be asked."""
        self._log.info(plan)

    def start(self, title: str, total: int) -> None:
        """Say what begins."""
        self._title, self._tally = title, Tally(total)
        self._next = time.monotonic() + self._seconds
        self._log.info(f"{title}: {counted(total, 'answer')} to get")

    def advance(self, answer: Answer, failure: Failure | None) -> None:
        """Say how far it is, now and then."""
        self._tally.add(answer, failure)
        self._say_how_far()

    def catch_up(self, so_far: SoFar) -> None:
        """Say how far others are, now and then."""
        is_further = so_far.done > self._tally.done
        self._tally.catch_up(so_far)
        if is_further:
            self._say_how_far()
        self.wait(so_far.waiting)

    def _say_how_far(self) -> None:
        if self._tally.done == self._tally.total or self._is_time():
            self._log.info(f"{self._title}: {self._tally}")

    def wait(self, reason: str) -> None:
        """Say what is being waited for, now and then."""
        if reason and self._is_time():
            self._log.info(f"{self._title}: waiting: {reason}")

    def _is_time(self) -> bool:
        if time.monotonic() < self._next:
            return False
        self._next = time.monotonic() + self._seconds
        return True


class ProgressLog(dg.ConfigurableResource[LogProgress]):
    """Says in Dagster's log how far a run is."""

    seconds_between_lines: float = Field(
        default=5.0, ge=0, description="At most one line in so many seconds."
    )

    def __call__(self, log: dg.DagsterLogManager) -> LogProgress:
        """Progress in a step's log."""
        return LogProgress(log, self.seconds_between_lines)
