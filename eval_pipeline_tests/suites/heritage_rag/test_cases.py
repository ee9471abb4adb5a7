"""A golden file of questions over a corpus: every contradiction is named, all of them at once."""

import json
from pathlib import Path

from eval_pipeline.golden import read_cases
from eval_pipeline.problems import Problems
from eval_pipeline.suites.heritage_rag import SUITE

GOOD = {
    "id": "one",
    "question": "When?",
    "gold_answer": "In 1911.",
    "supporting_facts": ["It opened in 1911."],
    "supporting_passages": [["p1", "p2"]],
    "answer_type": "temporal",
}


def test_every_contradiction_is_named(tmp_path: Path) -> None:
    lines = [
        GOOD,
        {**GOOD, "id": "two", "supporting_passages": []},
        {**GOOD, "id": "three", "supporting_passages": [[]]},
        {**GOOD, "id": "four", "supporting_passages": [[" "]]},
        {**GOOD, "id": "five", "gold_answer": "The sources do not say.", "question": " "},
        {**GOOD, "id": "six", "answerable": False},
    ]
    path = tmp_path / "all.jsonl"
    path.write_text("".join(f"{json.dumps(each)}\n" for each in lines))
    problems = Problems()
    cases = [each.case for each in read_cases(SUITE, path, problems)]
    assert [case.expected.passages for case in cases] == [[["p1", "p2"]]]
    assert {(each.line, each.field) for each in problems} == {
        (2, "supporting_passages"),
        (3, "supporting_passages[0]"),
        (4, "supporting_passages[0]"),
        (5, "question"),
        (5, "gold_answer"),
        (6, "gold_answer"),
        (6, "supporting_facts"),
    }
