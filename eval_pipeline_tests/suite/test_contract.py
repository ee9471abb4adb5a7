"""What a suite may leave out, and what does not go together."""

from __future__ import annotations

from typing import Any

import msgspec
import numpy as np
import pytest

from eval_pipeline.suite import (
    EXACT_MATCH,
    Metric,
    Requirement,
    Suite,
    Sums,
    TextInput,
    mean,
    per_case,
    ratio_of,
)


class Output(msgspec.Struct):
    label: str


def score(item: Any, context: Any) -> Any:
    raise NotImplementedError


OTHER = mean("other", "Another.", on_error=0.0)
POOLED = Metric("pooled", "A ratio.", ratio_of("a", "b"))
WAIT = mean("wait", "How long.", on_error=9.0, direction="lower", unit="milliseconds")
SCORE = per_case(score)


def test_an_error_counts_as_the_worst_fraction() -> None:
    assert mean("other", "Another.").on_error == 0.0
    assert mean("other", "Another.", direction="lower").on_error == 1.0
    assert WAIT.on_error == 9.0
    with pytest.raises(ValueError, match="say with `on_error`"):
        mean("wait", "How long.", unit="milliseconds")


def test_a_name_is_enough() -> None:
    suite = Suite("plain")
    assert (suite.input, suite.expected, suite.output) == (TextInput, str, str)
    assert suite.metrics == (EXACT_MATCH,)
    assert suite.headline == "exact_match"
    assert suite.variables == ("text",)
    assert suite.embedded is None


def test_the_first_metric_is_the_headline() -> None:
    assert Suite("plain", score=SCORE, metrics=(OTHER, EXACT_MATCH)).headline == "other"
    assert Suite("plain", score=SCORE, metrics=(OTHER, EXACT_MATCH), headline="exact_match").headline == (
        "exact_match"
    )


@pytest.mark.parametrize(
    ("direction", "passes"), [("higher", [True, False, False, False]), ("lower", [False, False, True, False])]
)
def test_a_case_passes_where_its_headline_is_perfect(direction: Any, passes: list[bool]) -> None:
    metric = mean("other", "Another.", on_error=0.0, direction=direction)
    suite = Suite("plain", score=SCORE, metrics=(metric,))
    counts = {"other": np.array([1.0, 0.99, 0.0, 0.0]), "other:defined": np.array([1.0, 1.0, 1.0, 0.0])}
    assert suite.passes(Sums(counts, {})).tolist() == passes


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"metrics": (OTHER,)}, "say with `score` what the metrics are made from"),
        ({"metrics": (EXACT_MATCH, OTHER)}, "say with `score` what the metrics are made from"),
        ({"output": Output}, "say with `score` how outputs that are not texts are compared"),
        ({"score": SCORE, "metrics": (POOLED,)}, "say with `errored` what an error counts as in pooled"),
        ({"held_out": ("split", "test")}, "held out by 'split', which is not among `groups`"),
        ({"score": SCORE, "metrics": (OTHER, OTHER)}, "two metrics share a name"),
        ({"score": SCORE, "metrics": ()}, "the headline '' is not one of its metrics"),
        ({"headline": "accuracy"}, "the headline 'accuracy' is not one of its metrics"),
        ({"score": SCORE, "metrics": (WAIT,)}, "say with `case_passes` which cases pass"),
        ({"carried": ("text",)}, "a text cannot carry fields"),
        ({"input": str}, r"is not a msgspec\.Struct"),
        (
            {"score": SCORE, "metrics": (mean("F 1", "", on_error=0.0),)},
            "'F 1' has other characters",
        ),
        ({"requirements": (Requirement("a-b", "", lambda _: []),)}, "'a-b' has other characters"),
        ({"requirements": (Requirement("a", "", lambda _: []),) * 2}, "two requirements share a name"),
    ],
)
def test_what_does_not_go_together(fields: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=f"plain: .*{message}"):
        Suite("plain", **fields)


def test_a_name_that_cannot_be_a_key() -> None:
    with pytest.raises(ValueError, match="the name has other characters"):
        Suite("a-b")
