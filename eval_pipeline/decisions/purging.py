"""Texts of production that are older than people want to keep. Every figure stays as it is.

What holds text goes: samples, lines in quarantine, the journal's answers, reports and briefs, sheets for
raters, suggestions that nobody decided on, and the texts within events. What holds numbers, ids and rulings
stays: cells, measures, history, ledgers.
"""

from __future__ import annotations

import datetime
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from eval_pipeline.engines import Journal
from eval_pipeline.files import remove
from eval_pipeline.improvement import ratings_folder, suggestions_folder
from eval_pipeline.loading import suite_names
from eval_pipeline.monitoring import EventStore
from eval_pipeline.project import Project
from eval_pipeline.store import PAGE, TWIN, Store, database_file, database_url

PAGES = ("briefs", "weekly")
"""Folders of the state folder with pages on suites."""
SAMPLES = "samples"


class Purged(NamedTuple):
    """How much of a kind was deleted, or would be."""

    kind: str
    things: int


def purgeable(project: Project) -> list[str]:
    """The suites that may have texts of production; also those that were renamed or removed since."""
    folders = (project.state / SAMPLES, ratings_folder(project, ""), suggestions_folder(project, ""))
    found = {each.name for folder in folders for each in folder.glob("[!.]*") if each.is_dir()}
    with EventStore.of(project) as store:
        return sorted({*suite_names(project), *store.suites(), *found})


def purge(
    project: Project, before: datetime.datetime, suites: list[str], *, dry: bool = False
) -> list[Purged]:
    """Delete texts from before a moment, and say how many of each kind that were."""
    purged = [
        _files("sample", _samples(project, before, suites), dry),
        _files("report or brief", _pages(project, before), dry),
        _files("sheet for raters", _sheets(project, before, suites), dry),
        _files("undecided suggestion", _suggestions(project, before, suites), dry),
    ]
    shared = Store(project.state).forget_reports(before.timestamp(), dry=dry)
    purged.append(Purged("shared report", shared))
    with EventStore.of(project) as store:
        purged.append(Purged("leftover of events", store.sweep(dry=dry)))
        purged.append(Purged("line in quarantine", store.ledger.purge_quarantine(before, dry=dry)))
        for suite in suites:
            count = store.forget_texts(suite, before.date(), dry=dry)
            purged.append(Purged(f"segment of events of {suite}", count))
        purged.append(Purged("segment of feedback", store.forget_texts(None, before.date(), dry=dry)))
    url = database_url(project)
    file = database_file(url)
    if not dry and (file is None or file.is_file()):
        with Journal.open(url) as journal:
            forgotten = journal.purge(suite=None, before=before.isoformat())
            purged.append(Purged("answer in the journal", forgotten))
    return [each for each in purged if each.things]


def _files(kind: str, paths: Iterator[Path], dry: bool) -> Purged:
    found = list(paths)
    for path in found:
        if not dry:
            remove(path)
    return Purged(kind, len(found))


def _samples(project: Project, before: datetime.datetime, suites: list[str]) -> Iterator[Path]:
    for suite in suites:
        for path in sorted((project.state / SAMPLES / suite).glob("*.parquet")):
            if path.stem < before.date().isoformat():
                yield path


def _pages(project: Project, before: datetime.datetime) -> Iterator[Path]:
    for folder in PAGES:
        yield from _older((project.state / folder).rglob("*.*"), before)
    for name in (PAGE, TWIN):
        yield from _older(project.state.rglob(name), before)


def _sheets(project: Project, before: datetime.datetime, suites: list[str]) -> Iterator[Path]:
    for suite in suites:
        yield from _older(ratings_folder(project, suite).glob("rate-*"), before)


def _suggestions(project: Project, before: datetime.datetime, suites: list[str]) -> Iterator[Path]:
    for suite in suites:
        yield from _older(suggestions_folder(project, suite).glob("*.json"), before)


def _older(paths: Iterator[Path], before: datetime.datetime) -> Iterator[Path]:
    limit = before.timestamp()
    for path in sorted(paths):
        if path.is_file() and path.stat().st_mtime < limit:
            yield path
