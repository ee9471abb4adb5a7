"""What has to be true after every month, whatever happened in it."""

from __future__ import annotations

import os
import sqlite3
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from benchmarks.kills import Trouble, check_files
from benchmarks.soak.daemon import Ran
from benchmarks.soak.world import SHIPPED, TOY, Target
from eval_pipeline.automation.alerts import TITLES
from eval_pipeline.project import Project
from eval_pipeline.store import History, Store, database_url, read_baselines

PARTS = {
    "evaluations": ("evaluations", "outputs", "golden"),
    "Dagster's runs": ("history", "storage", "schedules"),
    "journal, history, incidents": ("journal.sqlite",),
}
"""What the state folder holds, by what it begins with; everything else is small."""


def begun(project: Project) -> list[Ran]:
    """The runs of which history has something."""
    with History(database_url(project)) as history:
        points = [point for suite in (TOY, SHIPPED) for point in history.points(suite)]
    return [Ran(point.run, "by hand", "finished") for point in points]


def broken(project: Project, ran: list[Ran], targets: list[Target]) -> Iterator[str]:
    """What is not as it has to be."""
    try:
        check_files(project)
    except Trouble as trouble:
        yield str(trouble)
    yield from _databases(project)
    yield from _history(project, ran)
    yield from _kept(project)
    yield from _told(project, targets)
    yield from (f"{each.key} failed" for each in ran if each.state == "failed")


def _databases(project: Project) -> Iterator[str]:
    for file in sorted(project.state.rglob("*")):
        if file.suffix in (".db", ".sqlite") and file.is_file():
            with sqlite3.connect(file) as connection:
                said = connection.execute("PRAGMA integrity_check").fetchone()
            if said != ("ok",):
                yield f"{file.relative_to(project.state)} is damaged: {said}"


def _history(project: Project, ran: list[Ran]) -> Iterator[str]:
    """Every run that finished has one point, and nothing else has one but runs killed after their numbers."""
    with History(database_url(project)) as history:
        points = [point for suite in (TOY, SHIPPED) for point in history.points(suite)]
    counts = Counter(point.run for point in points)
    finished = {each.run for each in ran if each.state == "finished" and _is_evaluation(each)}
    begun = {each.run for each in ran}
    yield from (
        f"{run} finished, and history has it {counts[run]} times" for run in finished if counts[run] != 1
    )
    yield from (f"history has {run}, which nobody began" for run in counts if run not in begun)
    fresh = Counter(
        (point.outputs, point.errors) for point in points if not point.replay and not point.incomplete
    )
    yield from (
        f"history counts {outputs} as new twice" for (outputs, _), times in fresh.items() if times > 1
    )


def _is_evaluation(ran: Ran) -> bool:
    return not ran.key.startswith("prune")


def _kept(project: Project) -> Iterator[str]:
    """The latest of every version can be read, and what a baseline rests on is there."""
    store = Store(project.state)
    for suite in (TOY, SHIPPED):
        for folder in store.version_folders(suite):
            if store.evaluation(suite, folder.name) is None or store.report(suite, folder.name) is None:
                yield f"the latest evaluation of {suite} {folder.name} is gone"
        for baseline in read_baselines(project.golden(suite)) if suite == TOY else ():
            if store.scored(suite, baseline.version, baseline.evaluation) is None:
                yield f"the evaluation behind the baseline of {suite} is gone"


def _told(project: Project, targets: list[Target]) -> Iterator[str]:
    """What the incidents have to tell arrived at every target, once."""
    expected = messages(project)
    for number, target in enumerate(targets, 1):
        for told in sorted({*expected, *by_kind(target)}):
            if (count := by_kind(target)[told]) != expected[told]:
                yield f"target {number} heard {count} times, not {expected[told]}: {told[0]} {told[1]}"


def messages(project: Project) -> Counter[tuple[str, str]]:
    """How often incidents of each version opened, got worse and were over."""
    with sqlite3.connect(project.state / "journal.sqlite") as connection:
        query = (
            "SELECT m.kind, i.subject FROM alert_messages m JOIN alert_incidents i ON i.number = m.incident"
        )
        return Counter((str(kind), str(subject)) for kind, subject in connection.execute(query))


def by_kind(target: Target) -> Counter[tuple[str, str]]:
    """What a target heard, as incidents count it."""
    found: Counter[tuple[str, str]] = Counter()
    starts = {
        title.partition("{subject}")[0]: kind for kind, title in TITLES.items() if "severity" not in title
    }
    for title, count in target.titles.items():
        start, _, subject = title.partition(": ")
        found[starts.get(f"{start}: ", "opened"), subject] += count
    return found


def disk(project: Project) -> dict[str, int]:
    """Bytes of the state folder, by part."""
    found = dict.fromkeys((*PARTS, "everything else"), 0)
    for file in project.state.rglob("*"):
        if file.is_file() and not file.is_symlink():
            first = file.relative_to(project.state).parts[0]
            part = next((part for part, names in PARTS.items() if first.startswith(names)), "everything else")
            found[part] += file.stat().st_size
    return found


def incidents(project: Project) -> tuple[int, int]:
    """How many were opened, and how many of them are over."""
    with sqlite3.connect(project.state / "journal.sqlite") as connection:
        query = "SELECT count(*), count(closed_at) FROM alert_incidents"
        opened, closed = connection.execute(query).fetchone()
    return int(opened), int(closed)


def date_files(folder: Path, since: float, moment: float) -> None:
    """Let files that were written since a moment of this machine be of a moment of the moved clock."""
    for place, _, names in os.walk(folder):
        for name in names:
            file = os.path.join(place, name)  # noqa: PTH118 (many thousand times)
            if not os.path.islink(file) and os.lstat(file).st_mtime >= since:  # noqa: PTH114
                os.utime(file, (moment, moment))
