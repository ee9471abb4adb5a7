"""docs/suite-yaml.md: every scorer, kind and field is there, and every example loads."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
import yaml

from eval_pipeline.declarative import KINDS, SCORERS, read_suite
from eval_pipeline.declarative.file import SuiteFile
from eval_pipeline.declarative.scorers.assertions import TYPES
from eval_pipeline_tests.conftest import REPOSITORY
from eval_pipeline_tests.declaring import declare, importing_from

TEXT = (REPOSITORY / "docs" / "suite-yaml.md").read_text()
BLOCKS: list[Any] = [yaml.safe_load(block) for block in re.findall(r"```yaml\n(.*?)```", TEXT, re.DOTALL)]
SUITES = [block for block in BLOCKS if isinstance(block, dict)]
ENTRIES = [entry for block in BLOCKS if isinstance(block, list) for entry in block]
ROW = {
    "ticket_id": "1",
    "language": "en",
    "channel": "mail",
    "text": "Where does it say so?",
    "label": "bug",
    "answer": "Paris",
    "keywords": "red, green",
    "person": '{"name": "Ada"}',
    "relevant": "a, b",
    "sources": "a1",
    "refuse": "no",
}


def key_of(entry: dict[str, Any]) -> str:
    (key,) = [name for name in entry if name in SCORERS]
    return key


def test_everything_is_documented() -> None:
    assert {key_of(entry) for entry in ENTRIES} == SCORERS.keys()
    assert set(re.findall(r"^### (\w+)$", TEXT, re.MULTILINE)) == SCORERS.keys()
    assert all(f"| `{name}` |" in TEXT for name in (*KINDS, *SuiteFile.model_fields))
    assert all(re.search(rf"`{name}(?:[:(`]| )", TEXT) for name in TYPES)
    fields = {name for each in SCORERS.values() for name in each.__struct_fields__} - {"of"}
    assert all(f"`{name}" in TEXT for name in fields)


@pytest.mark.parametrize("suite", SUITES, ids=lambda each: str(each["cases"]))
def test_examples_of_suites(suite: dict[str, Any], tmp_path: Path) -> None:
    folder = declare(tmp_path, suite, [ROW]).golden("tickets")
    (folder / "cases").mkdir()
    (folder / "cases" / "more.jsonl").write_text((folder / "cases.jsonl").read_text())
    cells = ['"{}"'.format(cell.replace('"', '""')) for cell in ROW.values()]
    (folder / "cases" / "tickets.csv").write_text(f"{','.join(ROW)}\n{','.join(cells)}\n")
    read_suite(folder)


@pytest.mark.parametrize("entry", ENTRIES, ids=key_of)
def test_examples_of_scores(entry: dict[str, Any], tmp_path: Path) -> None:
    kinds = SCORERS[key_of(entry)].kinds
    kind = "text" if not kinds or "text" in kinds else "list" if "list" in kinds else kinds[0]
    suite = {"cases": "cases.jsonl", "id": "ticket_id", "answer": {"kind": kind}, "scores": [entry]}
    (tmp_path / "checks.py").write_text("def polite(answer, case):\n    return True\n")
    with importing_from(tmp_path, "checks"):
        loaded = read_suite(declare(tmp_path, suite, [ROW]).golden("tickets"))
    assert len(loaded.metrics) == 1
