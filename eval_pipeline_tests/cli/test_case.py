"""`eval-pipeline case`: one case on the screen, with nothing in it that acts."""

from __future__ import annotations

import json
import os
from unittest import mock

import pytest
from rich.cells import cell_len

from eval_pipeline.project import Project
from eval_pipeline_tests.conftest import copy_project
from eval_pipeline_tests.reports.page.evaluated import evaluated
from eval_pipeline_tests.running import baseline_outputs, invoke

SUITE, V10 = "decomposition", "decompose-concepts-v1.0"
HOSTILE = "\x1b[31m\u202ered"


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Project:
    """Two trials of recorded answers; the second of a case would turn the screen red, or is an error."""
    copied = copy_project(tmp_path_factory.mktemp("case") / "project", "decomposition")
    lines = []
    for line in baseline_outputs(copied).read_text().splitlines():
        answer = json.loads(line)
        wrong = {**answer["output"], "concepts": [{"label": HOSTILE, "source_quote": "x" * 30_000}]}
        lines += [{**answer, "trial": 1}, {**answer, "trial": 2, "output": wrong}]
    lines[3] = {"case_id": lines[3]["case_id"], "trial": 2, "error": "refused", "detail": HOSTILE}
    recorded = copied.root / "recorded" / SUITE / f"{V10}.jsonl"
    recorded.parent.mkdir(parents=True)
    recorded.write_text("".join(json.dumps(line) + "\n" for line in lines))
    evaluated(copied, SUITE, V10, engine="recorded", trials=2)
    return copied


def test_all_of_a_case_is_shown(project: Project) -> None:
    done = invoke(project, "case", SUITE, V10, "algorithmic-fairness", "--rendered")
    assert done.returncode == 0, done.stderr
    for text in (
        "(golden/decomposition/cases/algorithmic-fairness.gold.json:1): passed 0 of 2 trials\n",
        "Input, source_text:\n  Algorithmic fairness is the study of",
        "Prompt:\n",
        "Expected, concepts:\n  [",
        "Answer, trial 1: ✗ fails\n",
        "  ✗ missed concept: automated decisions\n",
        "Answer, trial 2: ✗ fails\n",
        "more characters; the report has them.",
        "  ✗ invented concept: [31m red\n",
        "  this version  baseline decompose-concepts-v1.0",
    ):
        assert text in done.stdout, text
    assert "\x1b" not in done.stdout
    assert "\u202e" not in done.stdout


def test_an_error_says_what_it_is(project: Project) -> None:
    done = invoke(project, "case", SUITE, V10, "antimicrobial-resistance")
    assert "✗ error: refused" in done.stdout


def test_it_fits_a_screen(project: Project) -> None:
    with mock.patch.dict(os.environ, {"COLUMNS": "80"}):
        done = invoke(project, "case", SUITE, V10, "blockchain")
    assert max(map(cell_len, done.stdout.splitlines())) <= 80
    assert '\n      "label": "' in done.stdout


def test_a_case_that_is_not_there_is_bad_input_that_names_others(project: Project) -> None:
    done = invoke(project, "case", SUITE, V10, "algorithmic-fairnes")
    assert done.returncode == 2
    assert "is not a case of decomposition. Cases: algorithmic-fairness" in done.stderr
