"""Every assertion of a configuration is measured, or it is listed: none gets lost."""

from __future__ import annotations

import json
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from eval_pipeline.importing import Imported, read_promptfoo
from eval_pipeline.problems import BadInput, Problem
from eval_pipeline_tests.importing.configuring import imported_from, write_config

TYPES = (
    "equals", "contains", "icontains", "starts-with", "contains-any", "icontains-all", "regex",
    "levenshtein", "rouge-n", "similar", "is-json", "is-refusal", "latency", "cost", "word-count",
    "not-equals", "not-contains", "not-regex", "not-rouge-n", "javascript", "llm-rubric", "bleu",
    "contains-json", "no-such-type",
)  # fmt: skip


def written(number: int, kind: str, extra: str) -> str:
    """An assertion on one line, whose value or threshold nothing else has."""
    value: Any = f"m{number}m"
    bare = kind.removeprefix("not-")
    if bare in ("latency", "cost"):
        return f"{{type: {kind}, threshold: {7_000_000 + number}{extra}}}"
    if bare == "is-refusal":
        return f"{{type: {kind}{extra}}}"
    if bare == "is-json":
        return f'{{type: {kind}, value: {{"type": "string", "title": "m{number}m"}}{extra}}}'
    if bare == "word-count":
        return f"{{type: {kind}, value: {{max: {7_000_000 + number}}}{extra}}}"
    if bare in ("contains-any", "icontains-all"):
        value = f"[{value}, other]"
    return f"{{type: {kind}, value: {value}{extra}}}"


extras = st.sampled_from(["", ", weight: 2", ", weight: 0", ", weight: -1", ", transform: x", ", metric: m"])
leaves = st.tuples(st.sampled_from(TYPES), extras)
sets = st.tuples(
    st.lists(leaves, min_size=1, max_size=3), st.sampled_from(["", "threshold: 0.5", "weight: 0"])
)
tests = st.tuples(
    st.lists(leaves | sets, max_size=4), st.sampled_from(["", "threshold: 0.5", "threshold: 2"])
)


class Config:
    """A configuration as text, and the line of each assertion."""

    def __init__(self, given: list[Any]) -> None:
        self.lines = ["prompts: ['Say {{ word }}']", "providers: [echo]", "tests:"]
        self.assertions: dict[int, tuple[str, int]] = {}
        """The type and the line of each assertion, by number."""
        for assertions, threshold in given:
            self.lines.append(f"  - vars: {{word: w{len(self.lines)}}}")
            self.lines += [f"    {threshold}"] if threshold else []
            self.lines += ["    assert:"] if assertions else []
            for each in assertions:
                if isinstance(each[0], list):
                    self.lines += ["      - type: assert-set", *([f"        {each[1]}"] if each[1] else [])]
                    self.lines.append("        assert:")
                    for part in each[0]:
                        self._add(part, "          ")
                else:
                    self._add(each, "      ")

    def _add(self, leaf: tuple[str, str], margin: str) -> None:
        number = len(self.assertions)
        self.lines.append(f"{margin}- {written(number, *leaf)}")
        self.assertions[number] = (leaf[0], len(self.lines))


def measured(imported: Imported, number: int, kind: str) -> bool:
    """Whether a suite.yaml or a cell holds the value of an assertion."""
    text = json.dumps([list(imported.scores), list(imported.rows)])
    if kind.removeprefix("not-") == "is-refusal":
        return '"refusal"' in text
    return f"m{number}m" in text or str(7_000_000 + number) in text


def is_listed(left: list[Problem], config: Config, line: int) -> bool:
    """Whether an assertion is listed, or the set or the test that it stands in."""
    lines = {each.line for each in left}
    starts = [
        number
        for number, text in enumerate(config.lines[:line], 1)
        if text.lstrip().startswith("- type: assert-set")
    ]
    return line in lines or (bool(starts) and starts[-1] in lines)


@settings(max_examples=150)
@given(st.lists(tests, min_size=1, max_size=3))
def test_none_gets_lost(given: list[Any]) -> None:
    config = Config(given)
    with TemporaryDirectory() as folder:
        path = write_config(Path(folder), "\n".join(config.lines))
        imported, left = taken_and_left(path)
    for number, (kind, line) in config.assertions.items():
        is_kept = imported is not None and measured(imported, number, kind)
        assert is_kept or is_listed(left, config, line), config.lines[line - 1]


def taken_and_left(path: Path) -> tuple[Imported | None, list[Problem]]:
    """What a configuration becomes, where anything of it is usable, and what is listed."""
    try:
        imported = read_promptfoo(path)
    except BadInput as bad:
        return None, bad.problems
    return imported, imported.leftovers.dropped


def asserting(folder: Path, *assertions: dict[str, Any], **fields: Any) -> Imported:
    test = {"vars": {"word": "yes"}, "assert": list(assertions), **fields}
    return imported_from(folder, tests=[test, {**test, "vars": {"word": "no"}}])


def test_what_all_share_stands_in_the_suite(tmp_path: Path) -> None:
    imported = asserting(
        tmp_path,
        {"type": "icontains", "value": "{{word}}", "metric": "said it"},
        {"type": "not-contains", "value": "as an AI", "weight": 2},
        {"type": "equals", "value": "{{ word }}"},
    )
    assert imported.scores == [
        {"contains": "{{ word }}", "ignore": ["case"], "exact": True, "name": "said_it"},
        {"not_contains": ["as an AI"], "exact": True, "weight": 2},
        {"equals": "{{ expected_equals }}", "exact": True},  # no template may see an answer
    ]
    assert [row["expected_equals"] for row in imported.rows] == ["yes", "no"]


def test_a_threshold_is_a_mean(tmp_path: Path) -> None:
    parts: list[dict[str, Any]] = [
        {"type": "contains", "value": "a", "weight": 3},
        {"type": "contains-all", "value": ["b", "c"]},
    ]
    imported = asserting(tmp_path, *parts, threshold=0.6)
    assert imported.scores == [
        {
            "mean_of": [
                {"contains": "a", "exact": True},
                {"all_of": [{"contains_all": ["b", "c"], "exact": True}]},
            ],
            "weights": [3.0, 1.0],
            "at_least": 0.6,
        }
    ]


def test_a_metric_of_several_assertions_is_shown_one_by_one(tmp_path: Path) -> None:
    parts = [{"type": kind, "value": "a", "metric": "quality"} for kind in ("contains", "starts-with")]
    imported = asserting(tmp_path, *parts)
    assert [each["name"] for each in imported.scores] == ["quality", "quality_2"]
    assert [each.message for each in imported.leftovers.changed] == [
        "the metric 'quality' is one of several here, since several scorers make it up"
    ]


@pytest.mark.parametrize(
    "name", ["javascript", "python", "llm-rubric", "webhook", "g-eval", "is-sql", "select-best"]
)
def test_what_has_no_counterpart_says_what_to_do(tmp_path: Path, name: str) -> None:
    imported = asserting(tmp_path, {"type": name, "value": "x"}, {"type": "contains", "value": "x"})
    (first, second) = imported.leftovers.dropped
    assert first.message == second.message == "has no counterpart"
    assert name in first.field
    assert first.remedy
    assert [each.field.partition(" ")[0] for each in (first, second)] == [
        "tests[0].assert[0]",
        "tests[1].assert[0]",
    ]
