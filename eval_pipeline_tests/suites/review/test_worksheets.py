"""A step by file: what it holds, what is refused, and that importing seals it."""

import re
from pathlib import Path

import pytest

from eval_pipeline.files import read_yaml
from eval_pipeline.problems import Problems
from eval_pipeline.suites.review.ledger import Step
from eval_pipeline.suites.review.protocol import Session
from eval_pipeline.suites.review.worksheets import (
    Worksheet,
    blank_worksheet,
    check_worksheet,
    import_task,
    left_blank,
)
from eval_pipeline_tests.suites.review.examples import finding
from eval_pipeline_tests.suites.review.test_protocol import TASK, assess, reviewed, session

TASKS = {TASK.id: TASK}


def written(folder: Path, one: Session, step: Step, **answers: str) -> Path:
    """A worksheet with the same answers on every subject."""
    text = blank_worksheet(one, step, [TASK])
    for name, answer in answers.items():
        text = re.sub(rf'^( +{name}: )""', rf"\g<1>{answer}", text, flags=re.MULTILINE)
    file = folder / "sheet.yaml"
    file.write_text(text)
    return file


def read(file: Path, one: Session) -> tuple[Worksheet | None, list[str]]:
    problems = Problems()
    sheet = read_yaml(file, Worksheet, problems, lambda given: check_worksheet(given, one, TASKS))
    return sheet, [f"{each.line} {each.field}: {each.message}" for each in problems]


def test_a_filled_in_sheet_is_imported_and_sealed(tmp_path: Path) -> None:
    one = session(tmp_path)
    said = {"category": "edge".upper(), "error": "'x'", "evidence": "'y'", "confidence": "LOW"}
    sheet, problems = read(written(tmp_path, one, "findings", **said), one)
    assert not problems
    assert sheet is not None
    assert import_task(sheet, one, TASK) == 3
    seal = one.ledger.seal_of("findings", "e", TASK.id)
    assert seal is not None
    assert seal.answers["answers"] == "3"
    assert {row.answers["category"] for row in one.ledger.answers("findings", "e", TASK.id).values()} == {
        "EDGE"
    }


def test_a_bare_yes_or_no_is_what_it_looks_like(tmp_path: Path) -> None:
    one = session(tmp_path)
    assess(one, {})
    sheet, problems = read(written(tmp_path, one, "predict", prediction="NO", why="hard"), one)
    assert not problems
    assert sheet is not None
    import_task(sheet, one, TASK)
    assert {row.answers["prediction"] for row in one.ledger.answers("predict", "e", TASK.id).values()} == {
        "NO"
    }


@pytest.mark.parametrize(
    ("answers", "message"),
    [
        ({"category": "EDGE"}, "is blank"),
        (
            {"category": "BORDER", "error": "x", "evidence": "y", "confidence": "LOW"},
            "is none of the choices",
        ),
    ],
)
def test_every_problem_has_its_line_and_field(tmp_path: Path, answers: dict[str, str], message: str) -> None:
    one = session(tmp_path)
    file = written(tmp_path, one, "findings", **answers)
    sheet, problems = read(file, one)
    assert sheet is None
    assert len(problems) == 3 * (3 if message == "is blank" else 1)
    lines = file.read_text().splitlines()
    for problem in problems:
        line, field = re.match(r"(\d+) \S+\.(\w+):", problem).groups()  # type: ignore[union-attr]
        assert lines[int(line) - 1].strip().startswith(f"{field}:")
        assert message in problem
    assert one.ledger.rows == []


def test_a_task_left_blank_stays_open_and_another_evaluation_is_refused(tmp_path: Path) -> None:
    one = session(tmp_path)
    sheet, problems = read(written(tmp_path, one, "findings"), one)
    assert not problems
    assert sheet is not None
    assert left_blank(sheet, TASK)
    _, problems = read(tmp_path / "sheet.yaml", session(tmp_path, "later"))
    assert "is not the latest evaluation" in problems[0]


def test_what_a_model_wrote_stays_a_comment(tmp_path: Path) -> None:
    hostile = reviewed(finding(1, text="harmless\ntasks: {}\x85step: bias\x1b[2J"))
    text = blank_worksheet(session(tmp_path), "findings", [hostile])
    assert [line for line in text.splitlines() if line.startswith(("tasks", "step"))] == [
        "step: findings",
        "tasks:",
    ]
    assert "\x1b" not in text


def test_a_task_with_nothing_to_ask_is_sealed_by_its_import(tmp_path: Path) -> None:
    one = session(tmp_path)
    empty = reviewed()
    sheet = tmp_path / "sheet.yaml"
    sheet.write_text(blank_worksheet(one, "findings", [empty]))
    result = read_yaml(
        sheet, Worksheet, Problems(), lambda given: check_worksheet(given, one, {"task": empty})
    )
    assert result is not None
    assert not left_blank(result, empty)
    assert import_task(result, one, empty) == 0
    assert one.ledger.seal_of("findings", "e", "task") is not None
