"""A golden set at a glance: what requirements look at, also where it was read in parts."""

from __future__ import annotations

from eval_pipeline.golden import OverviewBuilder, joined, shortfalls
from eval_pipeline.suite import Case, Overview
from eval_pipeline.suites.decomposition import SUITE
from eval_pipeline.suites.decomposition.cases import DecompositionExpected, DecompositionInput


def overview_of(*cases: tuple[str, dict[str, str]]) -> Overview:
    builder = OverviewBuilder(SUITE)
    nothing = DecompositionExpected([], [], [], [])
    for case_id, attributes in cases:
        case = Case(case_id, DecompositionInput("Reefs", "Reefs."), nothing, attributes)
        builder.add_block([case], "golden/a.jsonl")
    return builder.build()


def test_an_overview_holds_what_requirements_look_at() -> None:
    assert all(missing == ["the golden set is empty"] for _, missing in shortfalls(SUITE, overview_of()))
    overview = overview_of(("a", {"domain": "ecological"}), ("b", {"domain": "social"}))
    assert overview.case_ids == ["a", "b"]
    assert overview.files == ["golden/a.jsonl"] * 2
    assert overview.attributes == {"domain": ["ecological", "social"]}
    assert [requirement for requirement, _ in shortfalls(SUITE, overview)] == list(SUITE.requirements)


def test_parts_are_joined_as_if_read_at_once() -> None:
    cases = [("a", {"domain": "social"}), ("b", {"split": "test"}), ("c", {}), ("d", {"domain": "legal"})]
    whole = overview_of(*cases)
    for cut in range(1, len(cases)):
        assert joined([overview_of(*cases[:cut]), overview_of(*cases[cut:])]) == whole
