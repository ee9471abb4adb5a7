"""What evaluations leave to be read is bounded, whatever the number of cases."""

from pathlib import Path

import pytest

from benchmarks.growth.chain import left_by_chain
from benchmarks.growth.project import AFTER, SUITE, write_project
from eval_pipeline.orchestration.checks import MOST_PROBLEMS, problems_check, problems_of
from eval_pipeline.problems import Problem
from eval_pipeline.reports import comparison as listing
from eval_pipeline.reports.page import cases as page_cases
from eval_pipeline.reports.page import report as page
from eval_pipeline.store import Store

FEW, MANY = 2_000, 20_000
FOR_EACH_CUSTOMER = 8
"""So that even the smaller project has more groups than are shown."""
SHOWN, LISTED = 300, 50
"""Cases on a page, and in a table: fewer than either project has."""


def test_ten_times_the_cases_leave_no_more_to_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(page, "MOST_CASES", SHOWN)
    monkeypatch.setattr(listing, "MOST_CASES", LISTED)
    few, many = (write_project(tmp_path / str(cases), cases, FOR_EACH_CUSTOMER) for cases in (FEW, MANY))
    before, after = left_by_chain(few), left_by_chain(many)
    assert {name: size <= 1.1 * before[name] for name, size in after.items()} == dict.fromkeys(after, True)
    compared = Store(many.state).compared(SUITE, AFTER)
    assert compared is not None
    (comparison,) = compared.comparisons
    assert len(comparison.groups) == 3 * (MANY // FOR_EACH_CUSTOMER + 4)
    assert len(comparison.regressed) > SHOWN > LISTED
    html = Store(many.state).page(SUITE, AFTER)
    assert html is not None
    assert f"{SHOWN} of {MANY:,} cases stand on this page" in html
    assert html.count('id="data-part-') == SHOWN // page_cases.PART


def test_very_many_problems_are_counted_and_not_all_kept() -> None:
    problems = [Problem("cases.jsonl", line, "id", "is missing", "Give it one.") for line in range(1, 5_001)]
    check = problems_check("well_formed", problems)
    assert check.metadata["count"].value == len(problems)
    kept = problems_of(check)  # type: ignore[arg-type]
    assert kept[:MOST_PROBLEMS] == problems[:MOST_PROBLEMS]
    assert str(kept[MOST_PROBLEMS]) == "cases.jsonl: 4,000 more problems. Correct the others first."
    assert len(kept) == MOST_PROBLEMS + 1
