from __future__ import annotations

from pathlib import Path

from eval_pipeline.monitoring import EventStore
from eval_pipeline_tests.declaring import CLASSIFIER, NAME, declare
from eval_pipeline_tests.improvement.producing import END, START, event, keep
from eval_pipeline_tests.running import invoke


def test_texts_are_deleted_when_a_person_says_so(tmp_path: Path) -> None:
    project = declare(tmp_path, CLASSIFIER)
    keep(project, [event(1, NAME, {"text": "Help"}, "bug")])
    assert invoke(project, "purge").returncode == 2
    assert (
        "1 segment of events of tickets" in invoke(project, "purge", "--older-than", "30", "--dry-run").stdout
    )
    done = invoke(project, "purge", NAME, "--older-than", "30", "--yes")
    assert done.returncode == 0, done.stderr
    assert "Deleted." in done.stdout
    with EventStore.of(project) as store:
        (row,) = store.events(NAME, START, END).to_pylist()
    assert (row["request_id"], row["input"], row["output"]) == ("r1", None, None)
    assert "Nothing to delete." in invoke(project, "purge", "--older-than", "30", "--yes").stdout


def test_events_of_a_suite_that_was_renamed_are_purged_by_either_way(tmp_path: Path) -> None:
    project = declare(tmp_path, CLASSIFIER)
    keep(project, [event(1, NAME, {"text": "Help"}, "bug")])
    project.golden(NAME).rename(project.golden("renamed"))
    everything = invoke(project, "purge", "--older-than", "30", "--dry-run")
    assert f"1 segment of events of {NAME}" in everything.stdout
    done = invoke(project, "purge", NAME, "--older-than", "30", "--yes")
    assert f"1 segment of events of {NAME}" in done.stdout
    unknown = invoke(project, "purge", "never", "--older-than", "30", "--yes")
    assert (unknown.returncode, "'never' is not a suite" in unknown.stderr) == (2, True)
