"""A comparison for people: what is listed where there is too much of it."""

from __future__ import annotations

from pathlib import Path

from eval_pipeline.reports.comparison import MOST_CASES, left_out, moved_tables
from eval_pipeline.results import Results, Row, compare_results


def results(name: str, value: float, start: int, count: int) -> Results:
    rows = [Row(f"case-{number:04}", 1, {"score": value}) for number in range(start, start + count)]
    return Results(Path(name), "CSV", rows)


def test_of_very_many_cases_the_first_are_listed() -> None:
    count = 2 * MOST_CASES
    suite, comparison = compare_results(
        results("a", 1.0, 0, count), results("b", 0.5, MOST_CASES - 1, count), "score", "higher"
    )
    (moved,) = moved_tables(suite, comparison)
    assert len(moved.rows) == MOST_CASES
    assert moved.note == f"{MOST_CASES} of {MOST_CASES + 1}."
    appeared, vanished = left_out(comparison)
    assert appeared.startswith("New cases, not compared (499): case-1000, ")
    assert not vanished.endswith(" ….")
    whole = compare_results(results("a", 1.0, 0, count), results("b", 0.5, count, 1), "score", "higher")
    _, vanished = left_out(whole.comparison)
    assert vanished.endswith(", case-0499 ….")
