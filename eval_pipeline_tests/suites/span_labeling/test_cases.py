"""The golden format, the taxonomy, and what the golden set of this project holds."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from eval_pipeline.golden import GoldenCase, OverviewBuilder, read_cases, shortfalls
from eval_pipeline.problems import BadInput, Problems
from eval_pipeline.suites.span_labeling import SUITE
from eval_pipeline.suites.span_labeling.cases import KINDS
from eval_pipeline.suites.span_labeling.resources import load_resources, read_taxonomy
from eval_pipeline_tests.conftest import REPOSITORY

GOLDEN = REPOSITORY / "golden" / "span_labeling"
PROMPT = "👩🏽‍🚀 cafe\u0301: a red dress"
RED = {"text": "red dress", "start": 14, "end": 23, "category": "subject.wardrobe"}


def read(
    folder: Path, spans: list[dict[str, Any]], prompt: str = PROMPT
) -> tuple[list[GoldenCase], list[str]]:
    (folder / "cases").mkdir(exist_ok=True)
    entry = {"id": "one", "prompt": prompt, "spans": spans}
    (folder / "cases" / "core.json").write_text(json.dumps([entry]))
    problems = Problems()
    return list(read_cases(SUITE, folder, problems)), [str(problem) for problem in problems]


def test_a_prompt_is_read_with_the_name_of_its_file_as_its_kind(tmp_path: Path) -> None:
    (case,), problems = read(tmp_path, [RED])
    assert problems == []
    assert case.case.attributes == {"kind": "core"}
    assert case.case.input.prompt == PROMPT
    assert not hasattr(case.case.input, "spans")


@pytest.mark.parametrize(
    ("change", "told"),
    [
        ({"start": 13, "end": 22}, "does not stand at 13 to 22"),
        ({"start": 17, "end": 26}, "It first stands at 14 to 23; offsets count code points"),
        ({"start": -9, "end": len(PROMPT)}, "does not stand at -9"),
        ({"text": "blue dress"}, "Copy the text from the prompt to the letter"),
        ({"text": " ", "start": 13, "end": 14}, "is blank"),
        ({"category": "missed"}, "is not a category"),
        ({"category": " "}, "is not a category"),
        ({"start": "14"}, "Expected `int`"),
    ],
)
def test_a_span_that_is_not_what_stands_there_is_named(
    tmp_path: Path, change: dict[str, Any], told: str
) -> None:
    _, problems = read(tmp_path, [{**RED, **change}])
    assert any(told.replace("`", "'") in problem for problem in problems), problems
    assert all("core.json:1: [0].spans[0]" in problem for problem in problems)


def test_every_problem_is_told_at_once(tmp_path: Path) -> None:
    _, problems = read(tmp_path, [RED, RED, {**RED, "start": 0}], prompt=PROMPT)
    assert len(problems) == 2
    assert any("repeats another span" in problem for problem in problems)
    _, problems = read(tmp_path, [], prompt=" ")
    assert any("prompt: is blank" in problem for problem in problems)


def test_where_there_is_a_taxonomy_a_category_must_be_in_it(tmp_path: Path) -> None:
    (tmp_path / "resources").mkdir()
    (tmp_path / "resources" / "taxonomy.json").write_text('{"time": {"description": "When."}}')
    _, problems = read(tmp_path, [RED])
    assert len(problems) == 1
    assert "'subject.wardrobe' is not a category. Categories: time." in problems[0]
    _, problems = read(tmp_path, [{**RED, "category": "Time "}])
    assert problems == []


def test_problems_of_resources_are_told_together(tmp_path: Path) -> None:
    (tmp_path / "taxonomy.json").write_text('{"A.b": {"description": "?"}, "time": {"description": 7}}')
    (tmp_path / "lexicon.json").write_text('{"heads": {}}')
    with pytest.raises(BadInput) as bad:
        load_resources(tmp_path)
    assert {problem.file.rpartition("/")[2] for problem in bad.value.problems} == {
        "taxonomy.json",
        "lexicon.json",
    }
    assert len(bad.value.problems) >= 4
    (tmp_path / "taxonomy.json").write_text('{"A.b": {"description": "?"}}')
    with pytest.raises(BadInput, match=r"'A\.b' is not a name"):
        load_resources(tmp_path)


def test_a_category_is_a_child_or_a_parent_without_children() -> None:
    categories = read_taxonomy(GOLDEN / "resources" / "taxonomy.json", Problems())
    assert {"subject.identity", "camera.movement", "lighting"} <= categories
    assert "subject" not in categories
    assert len(categories) == 21


@pytest.fixture(scope="module")
def cases() -> list[GoldenCase]:
    problems = Problems()
    found = list(read_cases(SUITE, GOLDEN, problems))
    problems.stop_if_any()
    return found


def test_the_golden_set_has_the_sizes_and_the_distribution_it_should(cases: list[GoldenCase]) -> None:
    assert Counter(case.case.attributes["kind"] for case in cases) == KINDS
    overview = OverviewBuilder(SUITE)
    for case in cases:
        overview.add(case)
    assert [missing for _, missing in shortfalls(SUITE, overview.build()) if missing] == []


def test_every_category_has_a_fair_number_of_spans(cases: list[GoldenCase]) -> None:
    support = Counter(span.category for case in cases for span in case.case.expected.spans)
    assert support.keys() == load_resources(GOLDEN / "resources").categories
    assert min(support.values()) >= 15


def test_a_smaller_or_lopsided_set_falls_short(cases: list[GoldenCase]) -> None:
    overview = OverviewBuilder(SUITE)
    for case in cases[:60]:
        overview.add(case)
    short = {
        requirement.name: missing for requirement, missing in shortfalls(SUITE, overview.build()) if missing
    }
    assert {"case_count", "distribution", "sizes", "category_support"} <= short.keys()
    assert any("technical: 0 prompts, at least 20 needed" in line for line in short["sizes"])


def test_the_adversarial_prompts_hold_what_they_should(cases: list[GoldenCase]) -> None:
    prompts = [case.case.input.prompt for case in cases if case.case.attributes["kind"] == "adversarial"]
    together = "\n".join(prompts)
    for hostile in (
        "Ignore your instructions",
        "{{7*7}}",
        "<script>",
        "\u202e",
        "\u200d",
        "渋谷",
        "رجل",
        "e\u0301",
    ):
        assert hostile in together
    assert sum(len(prompt.split()) >= 2000 for prompt in prompts) == 2
