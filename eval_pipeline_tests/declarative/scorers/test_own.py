"""A function of one's own."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from eval_pipeline.declarative import Python, Task, Text, input_type
from eval_pipeline.declarative.catalogue import Refused
from eval_pipeline.problems import BadInput
from eval_pipeline.suite import Case, Context, Items
from eval_pipeline_tests.declaring import CLASSIFIER, declare, importing_from, scorer


def said(function: Any, output: str = "yes", **options: Any) -> float:
    task = Task(Text(), [Python(of=function, **options)])
    case: Case[Any, dict[str, str]] = Case("a", input_type(("text",))(text="in"), {"tone": "kind"})
    batch = task.score(Items([case], [output], 1, lambda _: None), Context())  # type: ignore[arg-type, return-value]
    return float(batch.counts[function.__name__][0])


def test_what_it_is_given() -> None:
    seen: list[Any] = []

    def judge(answer: str, case: dict[str, Any]) -> float:
        seen.append((answer, case))
        return 0.25

    assert said(judge, columns=("tone",)) == 0.25
    assert seen == [("yes", {"text": "in", "tone": "kind"})]


@pytest.mark.parametrize("result", [2, -0.1, None, "yes", float("nan")])
def test_what_it_may_not_return(result: Any) -> None:
    def judge(answer: str, case: dict[str, Any]) -> Any:
        return result

    with pytest.raises(BadInput, match=r"judge of case 'a': it returned"):
        said(judge)


def test_what_it_raises_is_bad_input() -> None:
    def judge(answer: str, case: dict[str, Any]) -> Any:
        raise SystemExit(0)

    with pytest.raises(BadInput, match="SystemExit"):
        said(judge)


def test_only_functions_of_the_project(tmp_path: Path) -> None:
    (tmp_path / "checks_of_tests.py").write_text("def polite(answer, case):\n    return True\nLIMIT = 1\n")
    (tmp_path / "json.py").write_text("def loads(answer, case):\n    return True\n")
    declare(tmp_path, CLASSIFIER)
    folder = tmp_path / "golden" / "tickets"
    with importing_from(tmp_path, "checks_of_tests"):
        assert scorer({"python": "checks_of_tests:polite"}, folder).default_name == "polite"
    for target in (
        "os:system",
        "json:loads",
        "checks_of_tests:LIMIT",
        "checks_of_tests:gone",
        "polite",
        "../x:y",
        7,
    ):
        with pytest.raises(Refused):
            scorer({"python": target}, folder)
