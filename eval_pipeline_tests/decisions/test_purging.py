"""Texts go, figures stay."""

from __future__ import annotations

import datetime
import os
import shutil
from pathlib import Path

import pytest

from eval_pipeline.decisions import purge, purgeable
from eval_pipeline.improvement import (
    answers_to_rate,
    make_queue,
    plain_lines,
    rated_accuracy,
    ratings_of,
    suggest,
    take,
    write,
)
from eval_pipeline.loading import find_suite
from eval_pipeline.monitoring import (
    Delivery,
    EventStore,
    Production,
    Refusal,
    figures_of,
    measure_day,
    quality_of,
)
from eval_pipeline.project import Project
from eval_pipeline.reports.reviewing import write_review
from eval_pipeline_tests.declaring import CLASSIFIER, NAME, declare
from eval_pipeline_tests.improvement.producing import CLOSES, END, NOON, START, event, keep, thumbs

TOLD = "the parcel for Ottoline"
EVERYTHING = Production.model_validate({"sampling": {"rate": 1.0}})
DAY = datetime.timedelta(days=1)


@pytest.fixture
def project(tmp_path: Path) -> Project:
    """A day in production with everything that is made of it."""
    project = declare(tmp_path, CLASSIFIER)
    (project.root / "production.yaml").write_text("sampling: {rate: 1.0}\n")
    events = [event(n, NAME, {"text": f"Where is {TOLD} {n}?"}, f"bug {TOLD}", concepts=n) for n in range(8)]
    events.append(event(50, NAME, {"text": f"Lost: {TOLD}"}, None, error="timeout"))
    keep(project, events, [thumbs(1, 1.0, f"I want {TOLD}"), thumbs(2, 5.0)])
    with EventStore.of(project) as store:
        with store.staging() as staging:
            refusal = Refusal(1, "is not JSON", TOLD, True)
            store.publish(Delivery("digest", "bad.jsonl", 1, "flat", 0, 0, 0, (), (refusal,)), staging)
        suite = find_suite(project, NAME)
        measure_day(project, store, suite, NOON.date(), EVERYTHING)
        rows = list(answers_to_rate(project, store, NAME, EVERYTHING, [NOON.date()]))
    (sheet,) = make_queue(project, NAME, rows, 1, 50)
    path = project.root / "production/ratings" / NAME / f"rate-{sheet.queue.queue}-1.jsonl"
    text = plain_lines(sheet).decode()
    path.write_text(
        text.replace('"ruling":""', '"ruling":"acceptable"').replace('"rater":""', '"rater":"Ada"')
    )
    take(project, path)
    write(project, suggest(project, suite, START, END, CLOSES))
    write_review(project, suite, "weekly", NOON.replace(hour=0) + DAY)
    return project


def state(project: Project) -> object:
    """Every number that there is."""
    suite = find_suite(project, NAME)
    with EventStore.of(project) as store:
        figures = figures_of(store, NAME, START.replace(hour=0), END.replace(hour=0), 7, ["hour", "version"])
        day = measure_day(project, store, suite, NOON.date(), EVERYTHING)
    quality = quality_of(suite, [day], ratings=ratings_of(project, NAME).acceptable)
    assert quality is not None
    return figures, quality.estimates, rated_accuracy(project, suite, EVERYTHING, 4, END)


def holding(project: Project) -> list[str]:
    """Files in which it can be read."""
    import pyarrow.parquet as pq

    found = []
    for path in sorted(each for each in project.root.rglob("*") if each.is_file()):
        content = (
            str(pq.read_table(path).to_pylist())
            if path.suffix == ".parquet"
            else path.read_bytes().decode(errors="replace")
        )
        if TOLD in content:
            found.append(path.name)
    return found


def test_texts_go_and_every_figure_stays(project: Project) -> None:
    before = state(project)
    assert len(holding(project)) >= 5
    old = NOON.timestamp()
    for path in project.root.rglob("*"):
        os.utime(path, (old, old))
    now = datetime.datetime.now(datetime.UTC) + datetime.timedelta(minutes=1)
    planned = {each.kind: each.things for each in purge(project, now, [NAME], dry=True)}
    assert holding(project)
    purged = {each.kind: each.things for each in purge(project, now, [NAME])}
    assert purged == planned
    assert set(purged) == {
        "sample",
        "report or brief",
        "sheet for raters",
        "undecided suggestion",
        "line in quarantine",
        "segment of events of tickets",
        "segment of feedback",
    }
    # What a database freed is written over later.
    assert [name for name in holding(project) if "sqlite" not in name] == []
    assert purge(project, now, [NAME]) == []
    with EventStore.of(project) as store:
        assert store.ledger.quarantined() == []
    assert state(project) == before


def test_what_is_younger_stays(project: Project) -> None:
    before = holding(project)
    assert purge(project, NOON - 2 * DAY, [NAME]) == []
    assert holding(project) == before


def purge_all(project: Project) -> list[str]:
    """Delete every text, and say in which files it can still be read."""
    now = datetime.datetime.now(datetime.UTC) + datetime.timedelta(minutes=1)
    purge(project, now, purgeable(project))
    return [name for name in holding(project) if "sqlite" not in name]


@pytest.mark.parametrize("links", [True, False])
def test_texts_go_from_a_project_that_was_moved(project: Project, tmp_path: Path, links: bool) -> None:
    """Also where second names of segments were made in another place, or became files of their own."""
    place = tmp_path / "moved"
    if links:
        place.mkdir()
        for path in [each for each in project.root.iterdir() if each != place]:
            path.rename(place / path.name)
    else:
        shutil.copytree(project.root, place, ignore=shutil.ignore_patterns("moved"))
    moved = Project(place, place / ".eval")
    (own,) = (moved.state / "events/.ledgers").iterdir()
    own.rename(own.with_name("of-another-place"))
    assert purge_all(moved) == []


def test_second_names_that_an_earlier_purge_left_go(project: Project) -> None:
    (own,) = (project.state / "events/.ledgers").iterdir()
    shutil.copytree(own, own.with_name("of-another-place"))
    with EventStore.of(project) as store:
        for path in [each for each in own.rglob("*.parquet") if NAME in str(each)]:
            (store.folder / path.relative_to(own)).unlink()
        assert store.sweep(dry=True) == store.sweep() == 1
        assert store.sweep() == 0
    assert not list(own.with_name("of-another-place").rglob(f"{NAME}/*/*.parquet"))


def test_texts_of_a_suite_that_was_renamed_go(project: Project) -> None:
    project.golden(NAME).rename(project.golden("renamed"))
    assert purgeable(project) == ["renamed", NAME]
    old = NOON.timestamp()
    for path in project.root.rglob("*"):
        os.utime(path, (old, old))
    assert purge_all(project) == []
