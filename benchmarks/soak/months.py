"""Nights with everything that may happen in them, month after month, and the books that are kept of it."""

from __future__ import annotations

import datetime
import random
import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import Self

import msgspec

from benchmarks.soak import books
from benchmarks.soak.clock import Clock
from benchmarks.soak.daemon import Look, Ran, Report
from benchmarks.soak.world import ACTIVE, CANDIDATE, SHIPPED, TOY, Mood, Target, World, world
from eval_pipeline.automation.alerts import TARGETS
from eval_pipeline.numbers import megabytes
from eval_pipeline_tests.conftest import REPOSITORY
from eval_pipeline_tests.running import environment

MONTH = 30
"""Nights."""
SETTLED = 4
"""Months until old evaluations go as fast as new ones come: 90 days, and what was there before."""
MOST_GROWTH = 0.02
"""Of the disk, in a month, once it has settled. History grows: it is kept."""
MOST_MEMORY_GROWTH = 0.1
"""Of the daemon's memory, from the first month to the last."""
BY = ("--reason", "as it is", "--by", "Ada")
LONGEST_RUN = 2.5
"""Seconds in which a run is killed, if it is to be."""
DAY, HOUR = datetime.timedelta(days=1), datetime.timedelta(hours=1)
WRONG = (400 * DAY, -3 * DAY, -5 * HOUR)
"""How far a clock is off when it is."""


@dataclass
class Month:
    """What was measured at the end of a month; the first is the beginning."""

    disk: dict[str, int]
    kilobytes: int

    @property
    def size(self) -> int:
        """All of the state folder."""
        return sum(self.disk.values())


@dataclass
class Weather:
    """What goes on for some nights: how the model feels, and whether the second target is down."""

    chance: random.Random
    mood: Mood = "well"
    nights: int = 0
    deaf_nights: int = 0
    outages: int = 0
    deaf: int = 0

    def next_night(self) -> None:
        """Go on as it is, or change."""
        self.nights -= 1
        self.deaf_nights -= 1
        if self.nights <= 0:
            moods: list[Mood] = ["well", "ill", "down", "busy"]
            self.mood = self.chance.choices(moods, (88, 5, 4, 3))[0]
            self.nights = self.chance.randint(1, 3)
            self.outages += self.mood in ("down", "busy")
        if self.deaf_nights <= 0 and self.chance.random() < 0.1:
            self.deaf_nights = self.chance.randint(1, 2)
            self.deaf += 1


@dataclass
class Counts:
    """What was done."""

    nights: int = 0
    wrong_clocks: int = 0
    edits: int = 0
    ran: list[Ran] = field(default_factory=list)

    def states(self, state: str) -> int:
        """How many runs ended in a state."""
        return sum(each.state == state for each in self.ran)


class Soak:
    """A daemon and its world, through the months."""

    def __init__(self, folder: Path, seed: int) -> None:
        self._folder, self._chance = folder, random.Random(seed)
        self._stack = ExitStack()
        self.weather, self.counts = Weather(self._chance), Counts()
        self.months: list[Month] = []
        self.troubles: list[str] = []
        self._kilobytes = 0
        self._dated = time.time()

    def __enter__(self) -> Self:
        self.world: World = self._stack.enter_context(world(self._folder / "project"))
        self._clock = Clock(self._folder)
        self._today = datetime.datetime.now(datetime.UTC).replace(hour=0, minute=0, second=0, microsecond=0)
        targets = dict.fromkeys(TARGETS.values(), self.world.alerts)
        self._log = self._stack.enter_context((self._folder / "log").open("wb"))
        self._daemon = self._stack.enter_context(
            subprocess.Popen(
                [sys.executable, "-m", "benchmarks.soak.daemon", str(self.world.project.root)],
                env={**environment(self.world.project), **self._clock.environment, **targets},
                cwd=REPOSITORY,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=self._log,
            )
        )
        return self

    def __exit__(self, *_: object) -> None:
        self._daemon.kill()
        self._stack.close()

    def live(self, seconds: float, nights: int, say: Callable[[str], object]) -> None:
        """Live through nights for so long, or so many."""
        until = time.monotonic() + seconds
        self._begin()
        while time.monotonic() < until and self.counts.nights < nights and not self.troubles:
            self._night()
            if self.counts.nights % MONTH == 0:
                self._end_month()
                say(
                    f"month {len(self.months) - 1}: {megabytes(self.months[-1].size)}, {self._kilobytes:,} kB"
                )
        self._settle()
        self.troubles += self.growth()

    def _begin(self) -> None:
        """A first evaluation of each, and a baseline of the toy."""
        self._at(12 * HOUR)
        for command in (
            ("run", TOY, "--prompt", ACTIVE),
            ("run", SHIPPED),
            ("golden", "freeze", TOY, *BY),
            ("baseline", "promote", TOY, ACTIVE, *BY),
        ):
            report = self._ask(Look(self._now, command=list(command)))
            assert report.code in (0, 1), f"{' '.join(command)} ended with {report.code}"
        self.counts.ran += books.begun(self.world.project)
        self._look_at("prompt_files")
        self._look_at("golden_sets")
        self._look_at("alerts")
        self.months.append(Month(books.disk(self.world.project), self._kilobytes))

    @property
    def _now(self) -> str:
        return self._moment.isoformat()

    def _at(self, hour: datetime.timedelta) -> None:
        """Let it be an hour of today."""
        self._moment = self._today + hour
        self._clock.show(self._moment)

    def _night(self) -> None:
        """One night and its day."""
        self._today += DAY
        self.counts.nights += 1
        self.weather.next_night()
        self.world.model.mood = self.weather.mood
        self.world.targets[1].down = self.weather.deaf_nights > 0
        self._at(1 * HOUR)
        self._edit()
        self._look_at("prompt_files")
        self._look_at("golden_sets")
        for hour, often in ((2, "nightly"), (4, "weekly")):
            if often == "weekly" and self._today.weekday() != 0:
                continue
            for suite in (TOY, SHIPPED):
                self._at(hour * HOUR)
                self._put_wrong()
                self._look_at(f"{suite}_{often}")
            self._at(hour * HOUR + HOUR)
            self._look_at("alerts")
        self._at(5.5 * HOUR)
        self._date_files()
        self._look_at("prune")
        self._at(6 * HOUR)
        self._look_at("alerts")

    def _edit(self) -> None:
        """A person saves a prompt or the gates."""
        number = self.counts.nights
        if self._chance.random() < 0.1:
            self.world.edit(CANDIDATE, "candidate", number)
            self.counts.edits += 1
        if self._chance.random() < 0.04:
            self.world.touch_gates(number)
            self.counts.edits += 1

    def _put_wrong(self) -> None:
        """Now and then the clock is off during an evaluation; it is right again at the next look."""
        if self._chance.random() < 0.03:
            self._clock.show(self._moment + self._chance.choice(WRONG))
            self.counts.wrong_clocks += 1

    def _look_at(self, name: str) -> None:
        deaths: list[float] = []
        while self._chance.random() < 0.12:
            deaths.append(self._chance.uniform(0.0, LONGEST_RUN))
        self.counts.ran += self._ask(Look(self._now, name, deaths)).ran

    def _ask(self, look: Look) -> Report:
        assert self._daemon.stdin is not None
        assert self._daemon.stdout is not None
        self._daemon.stdin.write(msgspec.json.encode(look) + b"\n")
        self._daemon.stdin.flush()
        answer = self._daemon.stdout.readline()
        if not answer:
            self._log.flush()
            said = (self._folder / "log").read_text(errors="replace")
            raise RuntimeError(f"the daemon died over {look}:\n{said[-3000:]}")
        report = msgspec.json.decode(answer, type=Report)
        self._kilobytes = report.kilobytes
        return report

    def _date_files(self) -> None:
        since, self._dated = self._dated, time.time()
        books.date_files(self.world.project.root, since, self._moment.timestamp())

    def _end_month(self) -> None:
        """A person forgets old answers of the journal; then everything is looked at."""
        report = self._ask(Look(self._now, command=["journal", "purge", "--older-than", "90", "--yes"]))
        if report.code:
            self.troubles.append(f"journal purge ended with {report.code}")
        self.months.append(Month(books.disk(self.world.project), self._kilobytes))
        self.troubles += books.broken(self.world.project, self.counts.ran, self._hearing)

    @property
    def _hearing(self) -> list[Target]:
        """The targets that had the time to hear everything."""
        return [each for each in self.world.targets if not each.down]

    def _settle(self) -> None:
        """Everybody is well and listens, for two nights; then the books have to be right."""
        self.weather.nights = self.weather.deaf_nights = 0
        for day in (1, 2):
            self._today += DAY
            self.world.model.mood = "well"
            self.world.targets[1].down = False
            self._at(day * HOUR)
            for suite in (TOY, SHIPPED):
                self._look_at(f"{suite}_nightly")
            self._at(day * HOUR + HOUR)
            self._look_at("alerts")
            self.counts.nights += 1
        self.troubles += books.broken(self.world.project, self.counts.ran, self.world.targets)

    def growth(self) -> list[str]:
        """What grew that must not."""
        found = []
        settled = self.months[SETTLED:]
        if len(settled) > 1:
            by_month = (settled[-1].size - settled[0].size) / (len(settled) - 1)
            if by_month > MOST_GROWTH * settled[0].size:
                found.append(f"the disk grows by {megabytes(round(by_month))} a month")
        if len(self.months) > 2:
            first, last = self.months[1].kilobytes, self.months[-1].kilobytes
            if last > (1 + MOST_MEMORY_GROWTH) * first:
                found.append(f"the daemon's memory grew from {first:,} to {last:,} kB")
        return list(dict.fromkeys(found))


def table(soak: Soak) -> str:
    """What was done, and what is left of it."""
    counts, project = soak.counts, soak.world.project
    opened, closed = books.incidents(project)
    told = books.messages(project)
    evaluations = [each for each in counts.ran if not each.key.startswith("prune")]
    rows = [
        ("nights", f"{counts.nights:,}"),
        ("evaluations that finished", f"{sum(each.state == 'finished' for each in evaluations):,}"),
        ("prunes", f"{counts.states('finished') - sum(each.state == 'finished' for each in evaluations):,}"),
        ("runs killed", f"{counts.states('killed'):,}"),
        ("outages of the model", f"{soak.weather.outages:,}"),
        ("times the second target was down", f"{soak.weather.deaf:,}"),
        ("times the clock was wrong", f"{counts.wrong_clocks:,}"),
        ("edits of prompts and gates", f"{counts.edits:,}"),
        ("incidents opened, closed", f"{opened:,}, {closed:,}"),
        ("messages to send", f"{told.total():,}"),
        *(
            (f"messages heard by target {number}", f"{each.titles.total():,} ({each.refused:,} refused)")
            for number, each in enumerate(soak.world.targets, 1)
        ),
    ]
    lines = [f"{name:<35}{value}" for name, value in rows]
    lines += ["", f"{'':<12}{'disk':>10}{'daemon':>12}   by part"]
    for number, month in enumerate(soak.months):
        name = "start" if number == 0 else f"month {number}"
        parts = ", ".join(f"{part} {megabytes(size)}" for part, size in month.disk.items())
        lines.append(f"{name:<12}{megabytes(month.size):>10}{month.kilobytes:>9,} kB   {parts}")
    return "\n".join(lines)
