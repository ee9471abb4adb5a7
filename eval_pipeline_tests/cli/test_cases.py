from __future__ import annotations

import datetime
import json
from pathlib import Path

import pytest

from eval_pipeline.project import Project
from eval_pipeline_tests.declaring import CLASSIFIER, NAME, declare
from eval_pipeline_tests.improvement.producing import event, keep
from eval_pipeline_tests.running import invoke

RECENT = datetime.datetime.now(datetime.UTC) - datetime.timedelta(hours=2)


@pytest.fixture
def project(tmp_path: Path) -> Project:
    project = declare(tmp_path, CLASSIFIER)
    texts = ("My invoice is wrong", "The printer burns\x1b[31m")
    keep(
        project,
        [event(n, NAME, {"text": text}, None, error="timeout", at=RECENT) for n, text in enumerate(texts)],
    )
    return project


@pytest.mark.slow
def test_from_failure_to_golden_case(project: Project) -> None:
    tried = invoke(project, "cases", "suggest", NAME, "--dry-run")
    assert tried.returncode == 0, tried.stderr
    assert "2 cases and 0 canaries suggested" in tried.stdout
    assert "\x1b" not in tried.stdout
    assert "0 suggestions undecided" in invoke(project, "cases", "list").stdout
    suggested = invoke(project, "cases", "suggest", NAME, "--json")
    assert [each["case"]["text"] for each in json.loads(suggested.stdout)]
    files = sorted((project.root / "production/suggested" / NAME).glob("*.json"))
    assert len(files) == 2
    assert "2 suggestions undecided" in invoke(project, "cases", "list", NAME).stdout
    refused = invoke(project, "cases", "accept", *files)
    assert refused.returncode == 2
    assert "case.label: is blank" in refused.stderr
    assert refused.stderr.count("is blank") == 2
    content = json.loads(files[0].read_text())
    content["case"] |= {"label": "other", "language": "en"}
    files[0].write_text(json.dumps(content))
    accepted = invoke(project, "cases", "accept", files[0])
    assert accepted.returncode == 0, accepted.stderr
    assert f"golden freeze {NAME}" in accepted.stdout
    assert "5 cases can be read" in invoke(project, "golden", "check", NAME).stdout
    dropped = invoke(project, "cases", "drop", files[1], "--reason", "an outage", "--by", "Ada")
    assert dropped.returncode == 0, dropped.stderr
    again = invoke(project, "cases", "suggest", NAME)
    assert "0 cases and 0 canaries suggested" in again.stdout
    assert "dropped before" in again.stdout


@pytest.mark.parametrize(
    "arguments",
    [
        ("suggest", "nothing"),
        ("accept", "absent.json"),
        ("drop", "absent.json", "--reason", "x"),
        ("drop", "absent.json", "--reason", " "),
        ("accept",),
    ],
)
def test_bad_input_exits_with_2(project: Project, arguments: tuple[str, ...]) -> None:
    done = invoke(project, "cases", *arguments)
    assert done.returncode == 2
    assert "Traceback" not in done.stderr


def suggested(project: Project) -> list[Path]:
    """The two files that are suggested."""
    assert invoke(project, "cases", "suggest", NAME).returncode == 0
    return sorted((project.root / "production/suggested" / NAME).glob("*.json"))


def edit(path: Path, **fields: object) -> None:
    path.write_text(json.dumps(json.loads(path.read_text()) | fields))


def everything(project: Project) -> dict[str, bytes]:
    """What lies in the folder of suggestions and of golden cases."""
    folders = (project.root / "production", project.root / "golden")
    return {
        str(path): path.read_bytes() for folder in folders for path in folder.rglob("*") if path.is_file()
    }


@pytest.mark.slow
def test_files_are_dropped_together_or_not_at_all(project: Project) -> None:
    first, second = suggested(project)
    before = everything(project)
    refused = invoke(project, "cases", "drop", first, "absent.json", "--reason", "x")
    assert (refused.returncode, "absent.json" in refused.stderr) == (2, True)
    assert everything(project) == before
    twice = invoke(project, "cases", "drop", first, first.parent / ".." / NAME / first.name, "--reason", "x")
    assert (twice.returncode, twice.stdout.count("is dropped")) == (0, 1)
    assert second.exists()


@pytest.mark.parametrize("suite", ["../x", "nope", "", "/x"])
@pytest.mark.parametrize("step", [("accept",), ("drop", "--reason", "x")])
def test_a_suite_that_is_none_is_refused_with_its_file(
    project: Project, suite: str, step: tuple[str, ...]
) -> None:
    first, second = suggested(project)
    edit(first, suite=suite)
    second.write_text('{"suite": ')
    before = everything(project)
    refused = invoke(project, "cases", *step, first, second)
    assert refused.returncode == 2
    assert f"{first.name}: suite: {suite!r} is not a suite" in refused.stderr
    assert second.name in refused.stderr
    assert everything(project) == before


def test_one_and_several_are_told_apart(project: Project) -> None:
    keep(project, [event(7, NAME, None, None, error="timeout", at=RECENT)])
    first, second = suggested(project)
    edit(first, case={**json.loads(first.read_text())["case"], "label": "other", "language": "en"})
    assert invoke(project, "cases", "accept", first).returncode == 0
    waiting = invoke(project, "cases", "suggest", NAME).stdout
    assert "1 input is suggested already" in waiting
    assert f"1 failure asks what the golden case {first.stem} asks" in waiting
    assert "1 failure has no input text" in waiting
    invoke(project, "cases", "drop", second, "--reason", "x")
    assert "1 input was dropped before" in invoke(project, "cases", "suggest", NAME).stdout
