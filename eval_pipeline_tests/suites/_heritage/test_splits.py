"""Splits that never move and stay balanced, and annotators who agree."""

from __future__ import annotations

from collections import Counter

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from eval_pipeline.golden import OverviewBuilder, read_cases, shortfalls
from eval_pipeline.problems import Problems
from eval_pipeline.project import Project
from eval_pipeline.suite import Overview
from eval_pipeline.suites import find_suite
from eval_pipeline.suites._heritage.requirements import agreement, sizes
from eval_pipeline.suites._heritage.splits import FACTORS, SPLIT_REQUIREMENTS, SPLITS, assign_splits

ASSIGNED, BALANCE = SPLIT_REQUIREMENTS

_attributes = st.fixed_dictionaries({factor: st.sampled_from("abc") for factor in FACTORS})


def _cases(least: int) -> st.SearchStrategy[dict[str, dict[str, str]]]:
    return st.lists(_attributes, min_size=least, max_size=60).map(
        lambda found: {f"case-{number}": attributes for number, attributes in enumerate(found)}
    )


@settings(deadline=None, max_examples=50)
@given(_cases(1), _cases(1))
def test_what_is_assigned_stays_when_cases_are_added(
    first: dict[str, dict[str, str]], second: dict[str, dict[str, str]]
) -> None:
    before = assign_splits(first)
    assert before.keys() == first.keys()
    stored = {case_id: {**first[case_id], "split": split} for case_id, split in before.items()}
    added = {f"new-{case_id}": attributes for case_id, attributes in second.items()}
    after = assign_splits({**added, **stored})
    assert after.keys() == added.keys()
    assert assign_splits(dict(reversed({**stored, **added}.items()))) == after


@settings(deadline=None, max_examples=30)
@given(_cases(40))
def test_new_cases_come_out_near_the_target(cases: dict[str, dict[str, str]]) -> None:
    counts = Counter(assign_splits(cases).values())
    for split, share in SPLITS.items():
        assert abs(counts[split] / len(cases) - share) < 0.1


def _overview(splits: list[str], references: object = None) -> Overview:
    names = [f"c{number}" for number in range(len(splits))]
    attributes = {factor: ["x"] * len(splits) for factor in FACTORS}
    return Overview(
        names, names, {**attributes, "split": splits}, {"labels": ["AB"] * len(splits)}, references
    )


def test_a_case_without_a_split_is_told_which_to_take() -> None:
    assert ASSIGNED.shortfalls(_overview(["train"] * 7 + ["dev", "test", ""])) == [
        f"c9 has no split; write: {assign_splits(_rows(7))['c9']}"
    ]
    assert ASSIGNED.shortfalls(_overview(["train"])) == []


def _rows(train: int) -> dict[str, dict[str, str]]:
    splits = ["train"] * train + ["dev", "test", ""]
    return {
        f"c{number}": {**dict.fromkeys(FACTORS, "x"), "split": split} for number, split in enumerate(splits)
    }


def test_the_balance_shows_every_stratum_and_complains_of_bad_ones() -> None:
    good = _overview(["train"] * 14 + ["dev"] * 3 + ["test"] * 3)
    assert BALANCE.shortfalls(good) == []
    assert BALANCE.facts is not None
    assert BALANCE.facts(good)[0] == (
        "all, 20 cases: train 70.0 % (±0.0 pp), dev 15.0 % (±0.0 pp), test 15.0 % (±0.0 pp)"
    )
    assert len(BALANCE.facts(good)) == 1 + len(FACTORS)
    assert len(BALANCE.shortfalls(_overview(["train"] * 10 + ["test"] * 10))) == 1 + len(FACTORS)


@pytest.mark.parametrize(
    ("second", "complaint"),
    [
        ({"c0": "AB", "c1": "AB"}, ""),
        ({"c0": "AB"}, "1 of 10 cases annotated twice"),
        ({"c0": "AB", "c1": "BA"}, "κ is 0.000"),
        ({"c0": "AB", "c1": "ABC"}, "of another text"),
        ({"c0": "AB", "c1": "AB", "zz": "AB"}, "is no case"),
        (None, "0 of 10 cases"),
    ],
)
def test_agreement(second: object, complaint: str) -> None:
    found = agreement("labels").shortfalls(_overview(["train"] * 10, second))
    assert complaint in "\n".join(found)
    assert bool(complaint) == bool(found)


def test_sizes_say_how_far_there_is_to_go() -> None:
    requirement = sizes({"A": 4, "B": 2}, lambda overview: {"A": 1, "B": 2})
    assert requirement.shortfalls(_overview(["train"])) == ["A: 1 of 4 (25.0 %)"]


def test_labels_by_name_are_compared_where_both_have_them() -> None:
    first = [{"m1": "A", "m2": "B", "m3": "C"}, {"m1": "B"}]
    second = {"c0": {"m1": "A", "m2": "B"}, "c1": {"m1": "B", "m4": "A"}}
    overview = Overview(["c0", "c1"], ["c0", "c1"], {}, {"labels": first}, second)
    found = agreement("labels")
    assert found.shortfalls(overview) == ["c1: the second annotation is of another text"]
    assert found.facts is not None
    assert found.facts(overview) == ["Cohen's κ 1.000 over 2 labels of 2 cases (100.0 %)"]


@pytest.mark.parametrize(
    "name", ["heritage_ner", "heritage_typing", "heritage_linking", "heritage_retrieval", "heritage_qa"]
)
def test_golden_sets_fall_short_of_nothing_but_size(name: str) -> None:
    project = Project.find()
    suite = find_suite(project, name)
    problems = Problems()
    overview = OverviewBuilder(suite)
    for each in read_cases(suite, project.golden(name), problems):
        overview.add(each)
    problems.stop_if_any()
    assert suite.references is not None
    built = overview.build(suite.references(project.golden(name) / "references"))
    told = {each.name for each, missing in shortfalls(suite, built) if missing}
    assert told <= {"sizes", "case_count", "golden_answer_unfaithful"}  # what is computed or converted
