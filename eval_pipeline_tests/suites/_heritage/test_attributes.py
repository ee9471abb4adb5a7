"""What makes a case hard is read from every golden format, and what is no label is named."""

import json
from pathlib import Path
from typing import Any

import pytest

from eval_pipeline.golden import read_cases
from eval_pipeline.problems import Problems
from eval_pipeline.suite import Suite
from eval_pipeline.suites import (
    heritage_linking,
    heritage_ner,
    heritage_qa,
    heritage_retrieval,
    heritage_typing,
)
from eval_pipeline.suites._heritage.attributes import GROUPS

QUESTION = {
    "id": "q",
    "question": "When?",
    "context": ["In 1911."],
    "gold_answer": "In 1911.",
    "supporting_facts": ["In 1911."],
    "answer_type": "temporal",
}
MENTION = {
    "mention_id": "m1",
    "mention": "Museum Oost",
    "start": 0,
    "gold_wikidata": "QX1",
    "gold_ghcid": "NL-X-M",
}
WITH_LABEL: dict[str, tuple[Suite, dict[str, str]]] = {
    "table": (
        heritage_typing.SUITE,
        {"a.tsv": "id\ttext\tgold_type\thard\tsplit\none\tA museum.\tM\tLABEL\ttrain\n"},
    ),
    "iob2": (heritage_ner.SUITE, {"a.iob2": "# id = one\n# hard = LABEL\nDelft\tB-TOP\n"}),
    "brat": (heritage_ner.SUITE, {"a.ann": "# hard = LABEL\nT1\tTOP 0 5\tDelft\n", "a.txt": "Delft\n"}),
    "json": (
        heritage_linking.SUITE,
        {
            "a.json": json.dumps(
                [{"id": "one", "context": "Museum Oost", "hard": "LABEL", "mentions": [MENTION]}]
            )
        },
    ),
    "json_lines": (heritage_qa.SUITE, {"a.jsonl": json.dumps({**QUESTION, "hard": "LABEL"})}),
    "topics": (
        heritage_retrieval.SUITE,
        {
            "a.topics": "<top>\n<num> one\n<title> Maps\n<hard> LABEL\n</top>\n",
            "a.qrels": "one 0 p1 1\n",
        },
    ),
}


def read(suite: Suite, files: dict[str, str], label: str, folder: Path) -> tuple[list[Any], list[str]]:
    for name, text in files.items():
        (folder / name).write_text(text.replace("LABEL", label))
    problems = Problems()
    cases = [each.case for each in read_cases(suite, folder, problems)]
    return cases, [str(each).removeprefix(f"{folder}/") for each in problems]


@pytest.mark.parametrize("format_", WITH_LABEL)
def test_what_makes_a_case_hard_is_read(format_: str, tmp_path: Path) -> None:
    (case,), problems = read(*WITH_LABEL[format_], "former_name", tmp_path)
    assert not problems
    assert case.attributes["hard"] == "former_name"


@pytest.mark.parametrize("format_", WITH_LABEL)
@pytest.mark.parametrize("label", ["A former name", "x" * 41])
def test_what_is_no_label_is_named(format_: str, label: str, tmp_path: Path) -> None:
    cases, problems = read(*WITH_LABEL[format_], label, tmp_path)
    assert not cases
    assert len(problems) == 1
    assert "hard" in problems[0]


def test_easy_cases_leave_it_out(tmp_path: Path) -> None:
    (case,), problems = read(*WITH_LABEL["table"], "", tmp_path)
    assert not problems
    assert "hard" not in case.attributes


def test_it_is_a_group_of_every_report() -> None:
    assert "hard" in GROUPS
    assert all("hard" in suite.groups for suite, _ in WITH_LABEL.values())


def test_a_mention_may_carry_its_ghcid(tmp_path: Path) -> None:
    (case,), _ = read(*WITH_LABEL["json"], "former_name", tmp_path)
    assert case.expected.links["m1"].ghcid == "NL-X-M"
