"""Which finding takes which error: against every possible assignment, and with hostile places."""

from __future__ import annotations

from itertools import permutations
from typing import Any

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from eval_pipeline.golden import read_cases
from eval_pipeline.problems import Problems
from eval_pipeline.suites.review import SUITE
from eval_pipeline.suites.review.cases import CATEGORIES, GoldenTask, check_task
from eval_pipeline.suites.review.findings import Finding, distinct
from eval_pipeline.suites.review.matching import fit, match_findings
from eval_pipeline.suites.review.places import line_range, locations_agree, quotes_agree
from eval_pipeline_tests.suites.review.examples import LINES, error, finding, task


@pytest.mark.parametrize(
    ("location", "lines"),
    [
        ("12", (12, 12)),
        ("12-14", (12, 14)),
        ("Lines 12–14", (12, 14)),
        ("L12-L14", (12, 14)),
        ("line 7", (7, 7)),
        ("l. 7 to 9", (7, 9)),
        ("14-12", None),
        ("0", None),
        ("", None),
        ("99999999", None),
        ("section 4", None),
        ("12-14-16", None),
        ("١٢", None),
    ],
)
def test_line_ranges(location: str, lines: tuple[int, int] | None) -> None:
    assert line_range(location) == lines


def test_locations_that_are_no_lines_agree_as_text() -> None:
    assert locations_agree("Section  4", "section 4")
    assert not locations_agree("section 4", "section 5")
    assert not locations_agree(None, None)
    assert not locations_agree("", " ")


@pytest.mark.parametrize(
    ("one", "other", "agree"),
    [
        ("the İstanbul office", "THE i̇stanbul OFFICE", True),
        ("Straße closed", "strasse closed.", True),
        ("retries until it succeeds", "the job retries until it succeeds", True),
        ("it", "the job retries until it succeeds", False),
        ("tries until it succeeds now", "retries until it succeeds now", False),
        ("…", "…", False),
        (None, None, False),
        ("a" * 100_000, "a" * 99_999, False),
    ],
)
def test_quotes(one: str | None, other: str | None, agree: bool) -> None:
    assert quotes_agree(one, other) is agree
    assert quotes_agree(other, one) is agree


def _best(findings: list[Finding], wanted: list[Any]) -> tuple[int, float, float]:
    """Most matches, then most credit, then most points, by trying everything."""
    size = max(len(findings), len(wanted))
    best = (0, 0.0, 0.0)
    for order in permutations(range(size), len(wanted)):
        fits = [
            (found.credit, found.credit * expected.weight)
            for index, expected in zip(order, wanted, strict=True)
            if index < len(findings) and (found := fit(findings[index], expected))
        ]
        best = max(best, (len(fits), sum(each for each, _ in fits), sum(each for _, each in fits)))
    return best


places = st.integers(1, 4)


@settings(max_examples=50, deadline=None)
@given(
    st.lists(st.tuples(places, places, st.sampled_from(CATEGORIES[:2])), max_size=5),
    st.lists(
        st.tuples(
            places, st.sampled_from(["CRITICAL", "IMPORTANT", "MINOR"]), st.sampled_from(CATEGORIES[:2])
        ),
        min_size=1,
        max_size=4,
    ),
)
def test_matching_is_the_best_of_all_assignments(
    said: list[tuple[int, int, str]], wanted: list[tuple[int, str, str]]
) -> None:
    case = task(
        *(
            {**error(place, severity, category), "id": f"E{number}"}
            for number, (place, severity, category) in enumerate(wanted)
        )
    )
    findings = [
        msgspec.convert(finding(quoted, category, quote=LINES[quoted - 1], location=str(located)), Finding)
        for quoted, located, category in said
    ]
    outcome = match_findings("task", findings, case.case.expected.errors, {})
    points = sum(match.credit * match.error.weight for match in outcome.matches)
    found = (len(outcome.matches), sum(match.credit for match in outcome.matches), points)
    assert found == _best(distinct(findings), case.case.expected.errors)
    placed = len(outcome.matches) + len(outcome.pending) + len(outcome.duplicates)
    assert placed + outcome.repeated == len(findings)


def test_every_problem_of_a_golden_task_is_named_at_once() -> None:
    entry = {
        "id": "t",
        "title": "t",
        "kind": "plan",
        "document": ["one", "two\nthree"],
        "expected_errors": [
            error(1, quote="one", location="9"),
            error(1, quote="nowhere", location="1"),
            error(3, quote=None, location=None),
        ],
    }
    told = [violation.message for violation in check_task(msgspec.convert(entry, GoldenTask))]
    assert told == [
        "holds a line break",
        "'E1' is the id of two errors",
        "'9' names no lines of the document",
        "'nowhere' does not stand there",
        "has neither quote nor location",
    ]


def test_a_broken_golden_file_says_where(tmp_path: Any) -> None:
    (tmp_path / "t.json").write_text(
        '{"id": "t", "title": "t", "kind": "novel", "document": [], "expected_errors": []}'
    )
    problems = Problems()
    assert not list(read_cases(SUITE, tmp_path, problems))
    assert "kind" in str(next(iter(problems)))
