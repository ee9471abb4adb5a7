"""Slots: never more than there are, shared fairly, and given up with whoever held them."""

from __future__ import annotations

import math
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from eval_pipeline.engines import Journal
from eval_pipeline_tests.engines.journals import Clock

LEASE = 60.0
SCOPE = "engine"


class Holder:
    """A run as far as slots are concerned: it uses what it was granted, and says what it holds."""

    def __init__(self, owner: str, journal: Journal, slots: int) -> None:
        self.owner = owner
        self.journal = journal
        self.slots = slots
        self.granted = 0
        self.in_use = 0

    def share(self, wanted: int, *, idle: bool = False, dead: frozenset[str] = frozenset()) -> None:
        held = max(self.in_use, self.granted)
        self.granted = self.journal.slots.share(
            SCOPE,
            self.owner,
            self.slots,
            wanted=wanted,
            held=held,
            idle=idle,
            seconds=LEASE,
            is_gone=dead.__contains__,
        )


@pytest.fixture(scope="module")
def shared_journal(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Journal, Clock]]:
    clock = Clock()
    url = f"sqlite:///{tmp_path_factory.mktemp('slots')}/journal.sqlite"
    with Journal.open(url, clock=clock) as journal:
        yield journal, clock


steps = st.lists(
    st.tuples(
        st.integers(0, 3),
        st.sampled_from(["share", "share", "use", "use", "finish", "idle", "leave", "die", "wait"]),
        st.integers(1, 12),
    ),
    max_size=40,
)


@settings(max_examples=60, deadline=None)
@given(slots=st.integers(1, 10), steps=steps)
def test_no_more_slots_are_used_than_there_are(
    shared_journal: tuple[Journal, Clock], slots: int, steps: list[tuple[int, str, int]]
) -> None:
    journal, clock = shared_journal
    holders = [Holder(f"owner-{number}", journal, slots) for number in range(4)]
    dead: set[str] = set()
    for each in holders:
        journal.slots.leave(each.owner)
    for number, action, amount in steps:
        holder = holders[number]
        if holder.owner in dead:
            continue
        if action in ("share", "idle"):
            holder.share(amount, idle=action == "idle", dead=frozenset(dead))
        elif action == "use":
            holder.in_use = max(holder.in_use, min(amount, holder.granted))
        elif action == "finish":
            holder.in_use = max(0, holder.in_use - amount)
        elif action == "leave":
            journal.slots.leave(holder.owner)
            holder.granted = holder.in_use = 0
        elif action == "die":
            dead.add(holder.owner)
            holder.granted = holder.in_use = 0
        elif action == "wait":
            clock.now += amount
            for other in holders:  # a run that is alive keeps its place
                if other.owner not in dead and other.granted:
                    other.share(amount)
        assert sum(max(each.granted, each.in_use) for each in holders) <= slots


@settings(max_examples=40, deadline=None)
@given(slots=st.integers(1, 20), wishes=st.lists(st.integers(1, 25), min_size=1, max_size=5))
def test_everybody_gets_a_fair_share_in_the_end(
    shared_journal: tuple[Journal, Clock], slots: int, wishes: list[int]
) -> None:
    journal, clock = shared_journal
    holders = [Holder(f"owner-{number}", journal, slots) for number in range(len(wishes))]
    for number in range(5):
        journal.slots.leave(f"owner-{number}")
    clock.now = math.ceil(clock.now / 1000) * 1000  # no turn changes meanwhile
    for _ in range(4):
        for holder, wish in zip(holders, wishes, strict=True):
            holder.share(wish)
    granted = [holder.granted for holder in holders]
    assert sum(granted) == min(slots, sum(wishes))
    level = max(granted)
    for share, wish in zip(granted, wishes, strict=True):
        assert share == wish or share >= level - 1


def test_what_cannot_be_divided_goes_round(tmp_path: Path) -> None:
    clock = Clock()
    with Journal.open(f"sqlite:///{tmp_path}/journal.sqlite", clock=clock) as journal:
        both = [Holder(name, journal, 1) for name in ("a", "b")]
        turns = set()
        for _ in range(40):
            clock.now += 5
            for holder in both:
                holder.share(1)
            turns.add(tuple(holder.granted for holder in both))
        assert {(0, 1), (1, 0)} <= turns <= {(0, 0), (0, 1), (1, 0)}


def test_who_is_idle_stands_in_nobody_s_way(tmp_path: Path) -> None:
    with Journal.open(f"sqlite:///{tmp_path}/journal.sqlite", clock=Clock()) as journal:
        idle, busy = Holder("a", journal, 4), Holder("b", journal, 4)
        idle.share(4, idle=True)
        assert idle.granted == 4
        for _ in range(2):
            busy.share(4)
            idle.share(4, idle=True)
            idle.share(4, idle=True)
        assert (idle.granted, busy.granted) == (0, 4)


def test_a_dead_process_s_slots_are_free_at_once_and_a_silent_one_s_after_its_lease(tmp_path: Path) -> None:
    clock = Clock()
    with Journal.open(f"sqlite:///{tmp_path}/journal.sqlite", clock=clock) as journal:
        first, second = Holder("first", journal, 10), Holder("second", journal, 10)
        first.share(10)
        second.share(10)
        assert (first.granted, second.granted) == (10, 0)
        second.share(10, dead=frozenset({"first"}))
        assert second.granted == 10
        third = Holder("third", journal, 10)
        third.share(10)
        assert third.granted == 0
        clock.now += LEASE
        third.share(10)
        assert third.granted == 10


def test_slots_are_handed_over_only_once_they_are_empty(tmp_path: Path) -> None:
    with Journal.open(f"sqlite:///{tmp_path}/journal.sqlite", clock=Clock()) as journal:
        old, new = Holder("old", journal, 10), Holder("new", journal, 10)
        old.share(10)
        old.in_use = 10
        for _ in range(3):
            new.share(10)
            old.share(10)
        assert (old.granted, new.granted) == (5, 0)
        old.in_use = 7
        old.share(10)
        new.share(10)
        assert new.granted == 3
