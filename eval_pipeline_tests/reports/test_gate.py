"""The summary of a pull request: the cases that got worse, whatever a model wrote in them."""

from __future__ import annotations

import pytest
from markdown_it import MarkdownIt
from msgspec.structs import replace

from eval_pipeline.comparison import Comparison
from eval_pipeline.comparison.records import CaseChange, CaseExample
from eval_pipeline.reports.comparison import example_text
from eval_pipeline.suites.decomposition import SUITE

HOSTILE = (
    "</details><script>alert(1)</script>",
    "[click](https://example.org) ![x](https://example.org/x.png)",
    "# A heading\n\n- a list\n\n| a | b |\n|---|---|\n| 1 | 2 |",
    "`code` **bold** ~~gone~~ <!-- comment --> &lt;b&gt;",
    "@everyone https://example.org www.example.org",
    "```\nfence\n```\n---\n> quote",
)
COMPARISON = Comparison(
    "decomposition",
    "baseline",
    "candidate",
    (),
    1,
    (),
    (),
    (),
    (),
    (),
    (CaseChange("a", 1.0, 0.5, -0.5),),
    "regressed",
    "block",
)


@pytest.mark.parametrize("text", HOSTILE)
def test_what_models_write_acts_nowhere_in_a_summary(text: str) -> None:
    example = CaseExample("a", text, text, text, text)
    shown = example_text(SUITE, replace(COMPARISON, examples=(example,)))
    markdown = MarkdownIt("gfm-like", {"linkify": False}).enable("table")
    inline = [child for token in markdown.parse(shown) for child in token.children or ()]
    blocks = [token.type for token in markdown.parse(shown) if token.nesting >= 0]
    assert {child.type for child in inline} <= {"text", "text_special", "strong_open", "strong_close"}
    assert sum(child.type == "strong_open" for child in inline) == 1  # the case's name
    assert set(blocks) <= {"paragraph_open", "inline", "bullet_list_open", "list_item_open"}
    assert blocks.count("list_item_open") == 4
    assert "(overall_index 100.0 % → 50.0 %)" in shown


def test_a_long_answer_is_bounded() -> None:
    example = CaseExample("a", "x" * 10_000, "y", "z", "w")
    assert len(example_text(SUITE, replace(COMPARISON, examples=(example,)))) < 1_000
