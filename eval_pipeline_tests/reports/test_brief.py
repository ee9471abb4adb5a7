"""Many evaluations at a glance."""

from __future__ import annotations

from unittest.mock import Mock

import pytest

from eval_pipeline.decisions import Objections
from eval_pipeline.decisions.objections import Objection
from eval_pipeline.problems import Problem
from eval_pipeline.reports.brief import Brief, brief_of, brief_of_problems, brief_table
from eval_pipeline.reports.rows import Cell
from eval_pipeline.suites.decomposition import SUITE

PASSES = Cell("✓ passes", "green")
BLOCKED = Cell("✗ is blocked", "red")


def evaluation() -> Mock:
    values = {"overall_index": Mock(value=0.8126)}
    return Mock(outage=None, summary=Mock(held_out=None, metrics=values))


@pytest.mark.parametrize(
    ("against", "verdict", "reason"),
    [
        ([], PASSES, ""),
        (
            [Objection("recall: 40 % is low. Look at it.", "warns")],
            Cell("⚠ passes with warnings", "yellow"),
            "recall: 40 % is low",
        ),
        (
            [Objection("a small thing.", "warns"), Objection("a large thing.", "blocks")],
            BLOCKED,
            "a large thing",
        ),
        ([Objection("x", "blocks", approved=True)], Cell("✓ passes, by approval", "green"), "x"),
        ([Objection("long\n" * 50, "blocks")], BLOCKED, " ".join(["long"] * 20)[:99] + "…"),
    ],
)
def test_the_verdict_and_what_weighs_most(against: list[Objection], verdict: Cell, reason: str) -> None:
    found = brief_of(SUITE, "v1", evaluation(), Objections(against))
    assert found == Brief("decomposition", "v1", "overall_index 81.3 %", verdict, reason)


def test_a_line_and_a_table() -> None:
    good = Brief("one", "v1", "accuracy 81.3 %", PASSES, "")
    bad = brief_of_problems(SUITE.name, "v2", [Problem("prompts/x.md", 3, "status", "is blank", "Fill it.")])
    assert good.line == "✓ one: v1 passes, accuracy 81.3 %"
    assert bad.line == "✗ decomposition: v2 was not evaluated"
    content = brief_table([good, bad])
    assert content.header == ("suite", "version", "headline", "verdict", "what to look at")
    assert content.rows[1][-1] == "prompts/x.md:3: status: is blank. Fill it."
