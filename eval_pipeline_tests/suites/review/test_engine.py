"""The checklist runs on every golden task, and finds what its words are about."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from functools import cache
from pathlib import Path

import pytest

from eval_pipeline.answers import Answer
from eval_pipeline.engines import Request
from eval_pipeline.engines.embedded import EmbeddedEngine
from eval_pipeline.golden import GoldenCase, OverviewBuilder, read_cases, shortfalls
from eval_pipeline.language import patterns
from eval_pipeline.problems import BadInput, Problems
from eval_pipeline.scoring import context_for
from eval_pipeline.suites.review import SUITE
from eval_pipeline.suites.review.cases import Prepared, prepare
from eval_pipeline.suites.review.engine import Checklist, Parameters, load_checklist, review
from eval_pipeline_tests.conftest import REPOSITORY
from eval_pipeline_tests.suites.review.examples import summary

GOLDEN = REPOSITORY / "golden" / "review"


@cache
def checklist() -> Checklist:
    return load_checklist(GOLDEN / "resources")


@cache
def cases() -> tuple[GoldenCase, ...]:
    problems = Problems()
    found = tuple(read_cases(SUITE, GOLDEN, problems))
    problems.stop_if_any()
    return found


def document(*lines: str) -> Prepared:
    return Prepared("t", "plan", "\n".join(lines), "")


def test_the_golden_set_has_all_that_is_required() -> None:
    overview = OverviewBuilder(SUITE)
    for golden in cases():
        overview.add(golden)
    assert not [missing for _, missing in shortfalls(SUITE, overview.build()) if missing]


def test_it_runs_on_all_golden_tasks_and_each_setting_makes_a_difference() -> None:
    settings = (
        Parameters(layers=("A", "B"), excuses=False),
        Parameters(),
        Parameters(eager=True, most_per_method=5),
    )
    numbers = []
    for parameters in settings:
        outputs = {
            golden.case.id: review(prepare(golden.case.input, None, None), parameters, checklist())
            for golden in cases()
        }
        found = summary(cases(), outputs)
        assert found.error_count == 0
        numbers.append({name: found.metrics[name].value or 0.0 for name in ("detection_rate", "precision")})
    first, second, third = numbers
    assert first["detection_rate"] < second["detection_rate"] < third["detection_rate"]
    assert third["precision"] < second["precision"]


def test_a_finding_quotes_its_line_and_says_what_was_spent() -> None:
    found = review(document("First.", "We assume that it works."), Parameters(), checklist())
    (one,) = found.findings
    assert (one.location, one.quote, one.category, one.concern) == (
        "2",
        "We assume that it works.",
        "ASSUME",
        "A2",
    )
    assert set(found.methods_applied) == set(checklist())
    assert found.tokens is not None
    assert found.tokens.agent > 6 * 30
    excused = review(document("We assume 3 ms, as measured in May."), Parameters(), checklist())
    assert not excused.findings
    assert review(
        document("We assume 3 ms, as measured in May."), Parameters(excuses=False), checklist()
    ).findings


def test_a_way_back_anywhere_excuses_the_rollout() -> None:
    assert review(document("Rollout on Monday."), Parameters(), checklist()).findings
    assert not review(
        document("Rollout on Monday.", "We roll back within an hour."), Parameters(), checklist()
    ).findings


@pytest.mark.parametrize("text", ["", "\0", "(" * 5000, "a" * 200_000, "🎬\u202e" * 100])
def test_hostile_documents_are_read_and_survived(text: str) -> None:
    assert review(document(text), Parameters(eager=True), checklist()).tokens is not None


CHECKLIST = "A1: {name: x, methods: [{name: y, category: EDGE, depth: CAUSE, says: z, find: '%s'}]}"


def test_a_checklist_with_a_pattern_that_fills_the_memory_is_refused(tmp_path: Path) -> None:
    (tmp_path / "checklist.yaml").write_text(CHECKLIST % "(a{999}){999}")
    with pytest.raises(BadInput, match="more than 10,000 times"):
        load_checklist(tmp_path)


def test_a_checklist_that_takes_for_ever_stops_the_engine_and_names_the_case(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An errored answer would be a score that depends on the machine."""
    monkeypatch.setattr(patterns, "MOST_SECONDS", 0.05)
    (tmp_path / "checklist.yaml").write_text(CHECKLIST % "(a|aa){30}c")
    engine = EmbeddedEngine("embedded", SUITE, Parameters(), load_checklist(tmp_path))

    async def requests() -> AsyncIterator[Request]:
        yield Request("slow-one", 1, document("a" * 3000))

    async def ask() -> list[Answer]:
        return [answer async for answer in engine.answer(requests())]

    with pytest.raises(BadInput, match=r"case slow-one: the pattern '\(a\|aa\)\{30\}c' was stopped after"):
        asyncio.run(ask())


def test_the_context_of_the_golden_set_can_be_loaded() -> None:
    assert context_for(SUITE, GOLDEN).resources
