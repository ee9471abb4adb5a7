"""Tables: the unit of every number, and one label for the result of a gate."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pyarrow as pa
import pytest

from eval_pipeline.gates import GateResult
from eval_pipeline.numbers import Unit
from eval_pipeline.reports import Cell, Table, cross_tables, gate_label, group_tables
from eval_pipeline.reports.console import print_table
from eval_pipeline.scoring import HeldOut, Scores, Summary
from eval_pipeline.suite import Reporting
from eval_pipeline.suites.decomposition import SUITE


@pytest.mark.parametrize(
    ("units", "row", "cells"),
    [
        ({}, {"kind": "a", "n": 1234, "rate": 0.5}, ["a", "1,234", "0.500"]),
        ({"rate": "fraction"}, {"kind": "a", "n": 1, "rate": 0.6468}, ["a", "1", "64.7 %"]),
        ({"rate": "fraction"}, {"kind": "a", "rate": None}, ["a", "–"]),
        ({"rate": "fraction"}, {"kind": "a", "rate": 1.0}, ["a", "100.0 %"]),
        ({"a": "fraction"}, {"kind": "a", "run 1": 0.5, "run 2": 0.25}, ["a", "50.0 %", "25.0 %"]),
        (
            {"a": "fraction", "RS": "number"},
            {"kind": "a", "mean": 0.5, "RS": 0.875},
            ["a", "50.0 %", "0.875"],
        ),
        ({"a": "points"}, {"kind": "b", "mean": 0.5}, ["b", "0.500"]),
        ({}, {"": "a", "x": 21.0, "y": True}, ["a", "21", "True"]),
    ],
)
def test_a_number_has_the_unit_of_its_column_or_of_its_row(
    units: dict[str, Unit], row: dict[str, Any], cells: list[str]
) -> None:
    shown = Reporting(table_units=units, cross_tables={"by_kind": lambda experiments: [row]})
    suite = replace(SUITE, reporting=shown)
    assert cross_tables(suite, {}) == [Table(tuple(row), [cells], "by kind")]


def test_groups_say_how_many_cases_they_have() -> None:
    """Of those alone that the numbers rest on, and each once, however many trials it has."""
    counts = pa.table(
        {
            "case_id": ["a", "a", "b", "c", "d"],
            "trial": [1, 2, 1, 1, 1],
            "attribute:language": ["de", "de", "de", None, "en"],
            "attribute:split": ["test", "test", "test", "test", "train"],
        }
    )
    scores = Scores(counts, pa.table({"case_id": ["a"]}), pa.table({"case_id": ["a"]}))
    gate = GateResult("error_rate", 0.0, "excellent", "pass", "critical", "")
    groups: dict[str, dict[str, dict[str, float | None]]] = {
        "language": {"": {"error_rate": 0.5}, "de": {"error_rate": 0.0}}
    }
    held_out = HeldOut("split", "test", 3, {}, {})
    summary = Summary("decomposition", 3, 2, {}, {}, groups, {}, (gate,), held_out=held_out)
    (shown,) = group_tables(SUITE, summary, scores)
    assert shown.header == ("language", "cases", "error_rate")
    assert shown.rows == [("–", "1", "50.0 %"), ("de", "2", "0.0 %")]


@pytest.mark.parametrize(
    ("zone", "status", "label"),
    [
        ("excellent", "pass", Cell("★ excellent", "green")),
        ("pass", "pass", Cell("✓ pass", "green")),
        ("pass", "warn", Cell("✓ pass (⚠ look)", "yellow")),
        ("excellent", "warn", Cell("★ excellent (⚠ look)", "yellow")),
        ("between", "warn", Cell("⚠ between", "yellow")),
        ("fail", "warn", Cell("⚠ misses target", "yellow")),
        ("fail", "fail", Cell("✗ fail", "red")),
        (None, "fail", Cell("✗ undefined", "red")),
        (None, "not_applicable", Cell("not applicable", "dim")),
    ],
)
def test_a_gate_has_one_label(zone: Any, status: Any, label: Cell) -> None:
    assert gate_label(GateResult("recall", None, zone, status, "critical", "")) == label


def test_the_console_shows_the_same_cells_and_takes_none_as_markup(
    capsys: pytest.CaptureFixture[str],
) -> None:
    print_table(Table(("case", "zone"), [("[red]a[/red]", Cell("✗ fail", "red"))], "By kind", "and 2 more"))
    lines = [line.rstrip() for line in capsys.readouterr().out.splitlines()]
    print_table(Table(("a", "b"), [("x" * 90, "y" * 90)]))
    assert f"{'x' * 90}  {'y' * 90}" in capsys.readouterr().out
    assert lines == ["By kind:", "case          zone", "[red]a[/red]  ✗ fail", "and 2 more"]
