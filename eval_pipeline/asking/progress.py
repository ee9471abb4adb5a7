"""How long work shows that it is going on."""

from __future__ import annotations

import time
from collections import Counter
from typing import Protocol

import msgspec

from eval_pipeline.answers import Answer, Failure
from eval_pipeline.numbers import counted, number
from eval_pipeline.terminal import safe

MOST_KINDS = 3
LONGEST_KIND = 40


class SoFar(msgspec.Struct, frozen=True, omit_defaults=True):
    """How far work is that others do: answers, errors by kind, cost, and what is waited for."""

    done: int = 0
    errors: dict[str, int] = {}
    cost: float = 0.0
    is_cost_known: bool = True
    waiting: str = ""

    def __add__(self, other: SoFar) -> SoFar:
        return SoFar(
            self.done + other.done,
            dict(Counter(self.errors) + Counter(other.errors)),
            self.cost + other.cost,
            self.is_cost_known and other.is_cost_known,
            self.waiting or other.waiting,
        )


class Progress(Protocol):
    """Told of every answer."""

    def announce(self, plan: str) -> None:
        """What is going to be asked, and what that takes."""

    def start(self, title: str, total: int) -> None:
        """That many answers are to be got."""

    def advance(self, answer: Answer, failure: Failure | None) -> None:
        """One more is there; `failure` says why it cannot be used."""

    def catch_up(self, so_far: SoFar) -> None:
        """So many are there that others got, all in all since the start."""

    def wait(self, reason: str) -> None:
        """What is being waited for at the moment; empty for nothing in particular."""


class Silence:
    """For work that nobody watches."""

    def announce(self, plan: str) -> None:
        """Say nothing."""

    def start(self, title: str, total: int) -> None:
        """Say nothing."""

    def advance(self, answer: Answer, failure: Failure | None) -> None:
        """Say nothing."""

    def catch_up(self, so_far: SoFar) -> None:
        """Say nothing."""

    def wait(self, reason: str) -> None:
        """Say nothing."""


class Tally:
    """What has come in so far: answers, errors by kind, cost, and how fast."""

    def __init__(self, total: int) -> None:
        self.total = total
        self.done = 0
        self.errors: Counter[str] = Counter()
        self.cost = 0.0
        self._is_known = True
        self._started = time.monotonic()

    def add(self, answer: Answer, failure: Failure | None) -> None:
        """Count an answer; `failure` says why it cannot be used."""
        self.done += 1
        self.cost += answer.cost_usd or 0.0
        if answer.tokens is not None and answer.cost_usd is None:
            self._is_known = False
        if failure is not None:
            self.errors[failure.kind] += 1

    def catch_up(self, so_far: SoFar) -> None:
        """Count what others counted, in place of what was counted before."""
        self.done, self.cost, self._is_known = so_far.done, so_far.cost, so_far.is_cost_known
        self.errors = Counter(so_far.errors)

    @property
    def so_far(self) -> SoFar:
        """The same for others to count."""
        return SoFar(self.done, dict(self.errors), self.cost, self._is_known)

    @property
    def spent(self) -> str:
        """What the answers cost; blank where it is nothing."""
        if not self._is_known:
            return "cost unknown"
        return number(self.cost, "dollars") if self.cost else ""

    @property
    def trouble(self) -> str:
        """The errors in words: the most frequent kinds, and how many there are of others."""
        shown = self.errors.most_common(MOST_KINDS)
        rest = self.errors.total() - sum(count for _, count in shown)
        kinds = [f"{count:,} × {safe(' '.join(kind.split()))[:LONGEST_KIND]}" for kind, count in shown]
        return ", ".join([*kinds, *([f"{rest:,} × other kinds"] if rest else [])]) or "no errors"

    def __str__(self) -> str:
        seconds = max(time.monotonic() - self._started, 1e-9)
        rate = self.done / seconds
        left = (self.total - self.done) / rate if rate else 0.0
        cost = f", {self.spent}" if self.spent else ""
        pace = f"{rate:.1f} a second, {left:.0f} s left"
        return f"{self.done:,} of {counted(self.total, 'answer')}, {self.trouble}{cost}, {pace}"
