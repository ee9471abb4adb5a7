"""The golden table, and the embedded engine on it."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from eval_pipeline.golden import read_cases
from eval_pipeline.problems import Problems
from eval_pipeline.project import Project
from eval_pipeline.suites._heritage.vocabulary import CUSTODIAN_TYPES
from eval_pipeline.suites.heritage_typing import SUITE
from eval_pipeline.suites.heritage_typing.cases import TypingInput
from eval_pipeline.suites.heritage_typing.engine import ALPHABETICAL, SPECIFIC_FIRST, Parameters, classify


def typed(text: str, **chosen: Any) -> str:
    return classify(TypingInput(text), Parameters(**chosen), None).type


def test_orders_name_every_type_once() -> None:
    assert sorted(SPECIFIC_FIRST) == list(ALPHABETICAL) == sorted(CUSTODIAN_TYPES)


@pytest.mark.parametrize(
    ("text", "letter"),
    [
        ("A monastery where pilgrims pray.", "H"),
        ("Het Streekarchief bewaart registers.", "A"),
        ("Eine Datenbank, nur online.", "D"),
        ("Rien à dire.", "U"),
        ("Musée et bibliothèque.", "X"),
    ],
)
def test_small_texts(text: str, letter: str) -> None:
    assert typed(text) == letter


def test_parameters_matter() -> None:
    assert typed("Het Streekarchief.", compounds=False) == "U"
    assert typed("Musée et bibliothèque.", mixed=False) != "X"
    tie = "A library about cheese."
    assert (typed(tie), typed(tie, specific_first=False)) == ("T", "L")


@settings(deadline=None, max_examples=60)
@given(st.text(max_size=60))
def test_any_text_has_a_type(text: str) -> None:
    assert typed(text) in CUSTODIAN_TYPES


def test_every_golden_case_is_answered() -> None:
    problems = Problems()
    cases = [each.case for each in read_cases(SUITE, Project.find().golden("heritage_typing"), problems)]
    problems.stop_if_any()
    assert Counter(case.expected.type for case in cases) == dict.fromkeys(CUSTODIAN_TYPES, 50)
    for case in cases:
        classify(case.input, Parameters(), None)


def test_every_fault_of_a_table_is_named(tmp_path: Path) -> None:
    table = (
        "text\tgold_type\tsecondary_types\tlanguage\n"
        "A text\tM\tA,Q\ten\n"
        "A text\tZ\t\ten\n"
        "too few\tM\n"
        "\tM\t\ten\n"
        "Fine\tM\tM\tnl\n"
        "Fine too\tM\tA, L\tlatin\n"
    )
    (tmp_path / "rows.tsv").write_text(table)
    problems = Problems()
    list(read_cases(SUITE, tmp_path, problems))
    assert [(each.line, each.field) for each in problems] == [
        (2, "secondary_types"),
        (3, "gold_type"),
        (4, ""),
        (5, "text"),
        (6, "secondary_types"),
        (7, "language"),
    ]


@pytest.mark.parametrize(
    ("table", "message"),
    [
        ("text\tlanguage\nA\tnl\n", "is missing in the header"),
        ("text\ttext\tgold_type\nA\tB\tM\n", "stands twice"),
        ("text\tgold_type\n\n", "has no rows"),
        ("", "is empty"),
    ],
)
def test_a_table_without_its_columns_is_a_problem(tmp_path: Path, table: str, message: str) -> None:
    (tmp_path / "rows.tsv").write_text(table)
    problems = Problems()
    assert not list(read_cases(SUITE, tmp_path, problems))
    assert message in "\n".join(map(str, problems))


def test_rows_are_numbered_where_a_table_has_no_ids(tmp_path: Path) -> None:
    """Made of the text, the ids of two equal rows were the same, and nobody could write outputs by hand."""
    (tmp_path / "rows.tsv").write_text("text\tgold_type\nOne\tM\n\nOne\tA\nTwo\tM\n")
    found = [(each.case.id, each.case.input.text) for each in read_cases(SUITE, tmp_path, Problems())]
    assert found == [("rows-1", "One"), ("rows-2", "One"), ("rows-3", "Two")]
