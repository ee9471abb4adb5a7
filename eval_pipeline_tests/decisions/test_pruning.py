"""What may be deleted, and what never is."""

from __future__ import annotations

import datetime
import os
import shutil
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from eval_pipeline.decisions import Approval, Keeping, keep_approval, superfluous_files
from eval_pipeline.files import readable_json, remove
from eval_pipeline.problems import BadInput
from eval_pipeline.project import Project
from eval_pipeline.scoring import Evaluation
from eval_pipeline.store import Store
from eval_pipeline_tests.running import command, invoke

VERSION = "guess-v1.0"
NOW = datetime.datetime(2026, 6, 1, tzinfo=datetime.UTC)
DAY = datetime.timedelta(days=1)
BOTH = Keeping()
OLD = (NOW - 200 * DAY).timestamp()


@given(
    ages=st.lists(st.integers(0, 400), max_size=30),
    last=st.none() | st.integers(0, 40),
    days=st.none() | st.integers(0, 400),
)
def test_either_rule_keeps_and_the_newest_always_stays(
    ages: list[int], last: int | None, days: int | None
) -> None:
    keeping = Keeping(last, None if days is None else days * DAY)
    items = list(enumerate(ages))
    gone = keeping.superfluous(items, lambda item: NOW - item[1] * DAY, NOW)
    places = {item: place for place, item in enumerate(sorted(items, key=lambda item: item[1]))}
    for item in items:
        beyond = places[item] >= max(1, last or 0)
        old = days is None or item[1] >= days
        assert (item in gone) == (beyond and old)


@pytest.fixture
def evaluated(toy: Project) -> Project:
    assert command(toy, "run", "toy").returncode in {0, 1}
    return toy


def latest(project: Project) -> Evaluation:
    evaluation = Store(project.state).evaluation("toy", VERSION)
    assert evaluation is not None
    return evaluation


def another(project: Project, name: str, days: int) -> Path:
    """A copy of the latest evaluation under another name, made so many days ago, with answers of its own."""
    store, evaluation = Store(project.state), latest(project)
    folder = store.evaluations_folder("toy", VERSION)
    shutil.copytree(folder / evaluation.id, folder / name)
    answers = store.outputs_folder("toy", VERSION)
    shutil.copy(answers / f"{evaluation.identity.outputs.id}.parquet", answers / f"{name}.parquet")
    os.utime(answers / f"{name}.parquet", (OLD, OLD))
    text = readable_json(evaluation).replace(f'"id": "{evaluation.id}"', f'"id": "{name}"')
    made = (NOW - days * DAY).isoformat()
    (folder / name / "evaluation.json").write_text(text.replace(evaluation.created_at, made))
    return folder / name


def gone(project: Project, keeping: Keeping = BOTH) -> list[tuple[str, str]]:
    return [(each.kind, each.path.name) for each in superfluous_files(project, keeping, NOW)]


def test_what_is_old_goes_and_the_latest_stays(evaluated: Project) -> None:
    another(evaluated, "older", 120)
    another(evaluated, "younger", 30)
    assert gone(evaluated) == [("answer table", "older.parquet"), ("answer table", "younger.parquet")]
    for table in Store(evaluated.state).outputs_folder("toy", VERSION).glob("*er.parquet"):
        table.unlink()
    assert gone(evaluated) == []
    assert gone(evaluated, Keeping(1)) == [("evaluation", "older")]
    assert gone(evaluated, Keeping(2, None)) == [("evaluation", "older")]
    assert gone(evaluated, Keeping(1, None)) == [("evaluation", "older"), ("evaluation", "younger")]
    assert gone(evaluated, Keeping(None, 10 * DAY)) == [("evaluation", "older"), ("evaluation", "younger")]
    for each in superfluous_files(evaluated, Keeping(1, None), NOW):
        remove(each.path)
    assert gone(evaluated, Keeping(1, None)) == []
    assert latest(evaluated)


def test_what_a_baseline_needs_stays(evaluated: Project) -> None:
    assert invoke(evaluated, "golden", "freeze", "toy", "--reason", "read", "--by", "me").returncode == 0
    promoted = invoke(evaluated, "baseline", "promote", "toy", VERSION, "--reason", "first", "--by", "me")
    assert promoted.returncode == 0, promoted.stderr
    another(evaluated, "older", 120)
    assert ("evaluation", "older") not in gone(evaluated, Keeping(1, None))
    shutil.rmtree(evaluated.golden("toy") / "baseline")
    assert ("evaluation", "older") in gone(evaluated, Keeping(1, None))


def test_what_an_approval_needs_stays(evaluated: Project) -> None:
    another(evaluated, "older", 120)
    assert ("evaluation", "older") in gone(evaluated, Keeping(1, None))
    outputs = latest(evaluated).identity.outputs
    moments = {"approved_at": NOW.isoformat(), "expires_at": NOW.isoformat()}
    said = {"metrics": ("accuracy",), "reason": "r", "approved_by": "Ada", "result": "x", "conclusion": "c"}
    approval = Approval("toy", VERSION, "baseline", before=None, after=outputs, **said, **moments)  # type: ignore[arg-type]
    path = keep_approval(evaluated.golden("toy"), approval)
    assert ("evaluation", "older") not in gone(evaluated, Keeping(1, None))
    path.write_text("{")
    with pytest.raises(BadInput):
        gone(evaluated)


@pytest.mark.parametrize("name", ["latest", "evaluation.json"])
def test_a_damaged_file_without_end_is_named_or_left_alone(evaluated: Project, name: str) -> None:
    older, current = another(evaluated, "older", 120), latest(evaluated).id
    damaged = older.with_name(current) / name if "." in name else older.with_name(name)
    with damaged.open("wb") as file:
        file.truncate(2**40)
    if name == "latest":
        with pytest.raises(BadInput, match=r"latest:1: the file has 1,099,511,627,776 bytes"):
            gone(evaluated, Keeping(1, None))
    else:
        assert ("evaluation", current) not in gone(evaluated, Keeping(1, None))
        with pytest.raises(BadInput, match=r"evaluation\.json:1: the file has 1,099,511,627,776 bytes"):
            latest(evaluated)
    damaged.write_bytes(b"\xff")
    if name == "latest":
        with pytest.raises(BadInput, match="latest: is damaged"):
            gone(evaluated)


@pytest.mark.parametrize("days", [0, 200])
def test_leftovers_of_killed_processes_go_after_a_day(evaluated: Project, days: int) -> None:
    changed = (NOW - days * DAY).timestamp()
    places = [
        evaluated.state / "outputs" / "toy" / VERSION / ".loading-77.parquet",
        evaluated.state / "evaluations" / "toy" / VERSION / ".x.removed.tmp",
        evaluated.golden("toy") / "baseline" / ".guess.json.k3.tmp",
        evaluated.state / "evaluations" / "toy" / VERSION / "piece" / "counts.parquet",
        evaluated.state / "shards" / "toy" / VERSION / "answers-k3.parquet",
        evaluated.state / "shards" / "toy" / VERSION / "scores-k3" / "counts.parquet",
    ]
    for path in places:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.touch()
        for each in (path, path.parent):
            os.utime(each, (changed, changed))
    names = {name for kind, name in gone(evaluated) if kind == "leftover"}
    expected = {".loading-77.parquet", ".x.removed.tmp", ".guess.json.k3.tmp", "piece"}
    expected |= {"answers-k3.parquet", "scores-k3"}
    assert names == (expected if days else set())


def test_old_weekly_pages_go_and_the_last_stays(toy: Project) -> None:
    for suite, weeks in {"toy": 3, "gone": 1}.items():
        folder = toy.state / "weekly" / suite
        folder.mkdir(parents=True)
        for week in range(1, weeks + 1):
            page = folder / f"2025-W{week:02}.html"
            page.write_text("<p>a week")
            os.utime(page, (OLD + week, OLD + week))
    assert gone(toy) == [], "three are few"
    assert gone(toy, Keeping(last=1)) == [("weekly page", "2025-W01.html"), ("weekly page", "2025-W02.html")]
    assert gone(toy, Keeping(1, 300 * DAY)) == [], "and they are young"
