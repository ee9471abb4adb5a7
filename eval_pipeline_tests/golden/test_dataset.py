"""What a golden set says about itself: read, shown, and wrong in words that help."""

from __future__ import annotations

from pathlib import Path

import pytest

from eval_pipeline.golden import DATASET_FILE, read_dataset
from eval_pipeline.loading import family
from eval_pipeline.problems import Problems
from eval_pipeline.project import Project
from eval_pipeline.stages import Workbench, load_golden
from eval_pipeline.suites import find_suite
from eval_pipeline_tests.running import invoke

GOOD = """name: "Heritage Custodian Evaluation v1.0"
created_date: "2025-12-01"
languages: ["nl", "en", "de", "fr"]
domains: ["museums", "archives", "libraries"]
"""


def read(folder: Path, text: str) -> tuple[str, list[tuple[int, str]]]:
    (folder / DATASET_FILE).write_text(text)
    problems = Problems()
    dataset = read_dataset(folder, problems)
    return dataset.text if dataset else "", [(each.line, each.field) for each in problems]


@pytest.mark.parametrize("text", [GOOD, GOOD.replace('"2025-12-01"', "2025-12-01")])
def test_the_metadata_of_the_document_are_read(tmp_path: Path, text: str) -> None:
    assert read(tmp_path, text) == (
        "Heritage Custodian Evaluation v1.0, 2025-12-01; languages: nl, en, de, fr; "
        "domains: museums, archives, libraries",
        [],
    )


def test_a_folder_may_say_nothing(tmp_path: Path) -> None:
    problems = Problems()
    assert read_dataset(tmp_path, problems) is None
    assert not problems


def test_every_problem_is_named(tmp_path: Path) -> None:
    told, problems = read(
        tmp_path, 'name: ""\ncreated_date: yesterday\nlanguages: [Dutch]\ndomains: []\ncolour: red\n'
    )
    assert not told
    assert {field for _, field in problems} == {
        "name", "created_date", "languages[0]", "domains", "colour"
    }  # fmt: skip
    assert all(line for line, _ in problems)


def test_golden_check_and_the_asset_show_it(whole_project: Project) -> None:
    for name in family(whole_project, "heritage"):
        assert (whole_project.golden(name) / DATASET_FILE).is_file()
    done = invoke(whole_project, "golden", "check", "heritage_typing")
    assert "  dataset: Heritage Custodian Evaluation: custodian types v1.0, 20" in done.stdout
    assert "  variety: " in done.stdout
    loaded = load_golden(Workbench(whole_project, find_suite(whole_project, "heritage_typing")))
    assert loaded.dataset is not None
    file = whole_project.golden("heritage_typing") / DATASET_FILE
    file.write_text("name: x\n")
    done = invoke(whole_project, "golden", "check", "heritage_typing")
    assert done.returncode == 2
    assert "created_date: is missing" in done.stderr
