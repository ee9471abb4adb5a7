"""Results of promptfoo: tests by name, repetitions as trials, failed assertions are no errors."""

from __future__ import annotations

import copy
import json
from pathlib import Path
from typing import Any

import pytest

from eval_pipeline.results import Results
from eval_pipeline_tests.results.files_of_results import FIXTURES, problems_of, results

FOUR = FIXTURES / "promptfoo_four.json"


def document(name: str = "promptfoo_first.json") -> Any:
    return json.loads((FIXTURES / name).read_text())


def read(tmp_path: Path, content: Any) -> list[Results]:
    path = tmp_path / "a.json"
    path.write_text(json.dumps(content))
    return results(path)


def test_an_evaluation_of_one_provider_and_prompt() -> None:
    (second,) = results(FIXTURES / "promptfoo_second.json")
    assert (second.kind, second.model, second.part) == ("promptfoo", "second", "")
    assert second.created.startswith("2026-")
    assert sorted(second.metrics) == ["brevity", "right", "score", "success"]
    by_name = {row.case_id: row for row in second.rows}
    assert list(by_name)[:4] == [
        "capital of France",
        "capital of Spain",
        "capital of Peru",
        "country=Japan, capital=Tokyo",
    ]
    peru = by_name["capital of Peru"]
    assert peru.scores == {"right": 0.0, "brevity": 0.74, "success": 0.0, "score": 0.37}
    assert (peru.error, peru.passed, peru.output) == ("", False, "I believe it is Peru City.")
    iraq = by_name["country=Iraq, capital=Baghdad"]
    assert (iraq.error, iraq.scores) == ("503 the endpoint is down", {"success": 0.0, "score": 0.0})


def test_lines_say_the_same() -> None:
    (whole,), (lines,) = (results(FIXTURES / f"promptfoo_second.{ending}") for ending in ("json", "jsonl"))
    assert (lines.rows, lines.model, lines.created) == (whole.rows, "second", "")


def test_lines_that_are_none_are_named(tmp_path: Path) -> None:
    path = tmp_path / "a"
    first = (FIXTURES / "promptfoo_second.jsonl").read_text().splitlines()[0]
    path.write_text(f'{first}\n{{"vars": 3}}\n')
    assert problems_of(path)[0].startswith(":2: cannot be understood: Expected `object`, got `int`")


def test_providers_prompts_and_repetitions_are_told_apart() -> None:
    parts = results(FOUR)
    asks, names = "What is the capital of {{country}}?", "Name the capital of {{country}}."
    assert [each.part for each in parts] == [
        f"{provider} · {prompt}" for provider in ("first", "second") for prompt in (asks, names)
    ]
    for each in parts:
        assert sorted({row.trial for row in each.rows}) == [1, 2]
        assert len({row.case_id for row in each.rows}) == 4


def test_the_order_of_results_does_not_matter(tmp_path: Path) -> None:
    content = document()
    turned = copy.deepcopy(content)
    turned["results"]["results"].reverse()
    assert read(tmp_path, content)[0].rows == read(tmp_path, turned)[0].rows


def test_other_tests_of_the_same_name_get_a_number(tmp_path: Path) -> None:
    content = document()
    again = copy.deepcopy(content["results"]["results"][0])
    again["testIdx"] = 12
    again["testCase"]["assert"].append({"type": "is-json"})
    content["results"]["results"].append(again)
    (one,) = read(tmp_path, content)
    names = [(row.case_id, row.trial) for row in one.rows if row.case_id.startswith("capital of France")]
    assert names == [("capital of France", 1), ("capital of France (2)", 1)]


def test_what_promptfoo_adds_to_variables_does_not_make_another_test(tmp_path: Path) -> None:
    content = document()
    before = read(tmp_path, content)[0].rows
    for number, each in enumerate(content["results"]["results"]):
        each["vars"] |= {"_conversation": [number], "sessionId": str(number)}
    assert read(tmp_path, content)[0].rows == before


def test_older_files_that_name_no_reason(tmp_path: Path) -> None:
    content = document("promptfoo_second.json")
    for each in content["results"]["results"]:
        if each.pop("failureReason") == 2:
            del each["gradingResult"]
        del each["testIdx"], each["promptIdx"]
        each["provider"] = "second"
    (old,) = read(tmp_path, content)
    assert old.model == "second"
    assert [row.error for row in old.rows if row.error] == ["503 the endpoint is down"]


@pytest.mark.parametrize(
    ("field", "value", "message"),
    [
        (
            "score",
            "high",
            ": results.results[0].score: cannot be understood: Expected `float | null`, got `str`.",
        ),
        ("vars", None, ": results.results[0].vars: cannot be understood: Expected `object`, got `null`."),
    ],
)
def test_a_result_of_another_shape_is_named(tmp_path: Path, field: str, value: Any, message: str) -> None:
    content = document()
    content["results"]["results"][0][field] = value
    path = tmp_path / "a.json"
    path.write_text(json.dumps(content))
    assert problems_of(path)[0].startswith(message)
    content["results"]["results"] = []
    path.write_text(json.dumps(content))
    assert problems_of(path) == [": results.results: holds no results. Run the evaluation again."]
