"""What requirements look at."""

from __future__ import annotations

from pathlib import Path

from eval_pipeline.golden import (
    OverviewBuilder,
    shortfalls,
)
from eval_pipeline.suites.decomposition import SUITE
from eval_pipeline_tests.golden.test_reading import entry, read, write


def test_an_overview_holds_what_requirements_look_at(folder: Path) -> None:
    write(folder / "a.jsonl", entry("a"), entry("b", domain="social"))
    builder = OverviewBuilder(SUITE)
    assert all(missing == ["the golden set is empty"] for _, missing in shortfalls(SUITE, builder.build()))
    for case in read(folder)[0]:
        builder.add(case)
    overview = builder.build()
    assert overview.case_ids == ["a", "b"]
    assert overview.files == ["golden/a.jsonl"] * 2
    assert overview.attributes == {"domain": ["ecological", "social"]}
    assert [requirement for requirement, _ in shortfalls(SUITE, overview)] == list(SUITE.requirements)
