"""No measure rewards cheating: the rules on made-up measures, and on every suite that ships."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import msgspec
import pytest

import eval_pipeline.suite as kit
from eval_pipeline.gates import ERROR_GATE, Gate, MeasuredModel
from eval_pipeline.project import Project
from eval_pipeline.reports import probe_section
from eval_pipeline.scoring import probe_suite
from eval_pipeline.stages import Workbench, load_golden, probe_golden
from eval_pipeline.suites import find_suite, suite_names
from eval_pipeline_tests.conftest import REPOSITORY, copy_project

DOCS = (REPOSITORY / "docs" / "suites.md").read_text()
GATES = {"right": Gate(fail="< 0.8", passes=">= 0.8"), "error_rate": ERROR_GATE}
CASES = [
    kit.Case(name, kit.TextInput(f"{name} – {name} or another?"), name)
    for name in ("ada lovelace", "alan turing", "grace hopper", "kurt goedel", "emmy noether")
]


def made_up(judge: Any, **more: Any) -> kit.Suite:
    """A suite whose only measure is that function of expected and given text."""

    def score(item: kit.Item, context: kit.Context) -> kit.CaseScore:
        return kit.CaseScore(kit.mean_counts({"right": judge(item.case.expected, item.output)}))

    return kit.Suite(name="small", score=kit.per_case(score), metrics=(kit.mean("right", "…"),), **more)


def broken(suite: kit.Suite, models: tuple[MeasuredModel, ...] = ()) -> set[tuple[str, str]]:
    probed = probe_suite(suite, CASES, kit.Context(), GATES, models, {})
    return {(each.rule, each.probe) for each in probed.broken}


def test_an_exact_measure_breaks_no_rule() -> None:
    assert not broken(made_up(lambda expected, given: float(expected == given)))


def test_a_measure_that_looks_for_the_answer_somewhere_is_caught() -> None:
    """An echo holds it, and so does all that was given, or a denial."""
    caught = {("gates", name) for name in ("echo", "everything", "negated")}
    caught |= {("permuted", name) for _, name in caught}
    assert broken(made_up(lambda expected, given: float(expected in given))) == caught


def test_a_measure_of_letters_is_caught_by_their_order() -> None:
    measure = made_up(lambda expected, given: float(sorted(expected) == sorted(given)))
    assert broken(measure) == {("gates", "shuffled"), ("permuted", "shuffled")}


def test_a_measure_that_golden_answers_fail_is_caught_unless_its_judge_errs_that_much() -> None:
    measure = made_up(lambda expected, given: 0.7 * (expected == given))
    assert ("oracle", "oracle") in broken(measure)
    judge = MeasuredModel("judge", ("right",), 0.75, "75 % right")
    assert ("oracle", "oracle") not in broken(measure, (judge,))
    assert ("oracle", "oracle") in broken(measure, (msgspec.structs.replace(judge, accuracy=0.95),))


def test_an_order_that_counts_is_caught_unless_it_is_a_ranking() -> None:
    class Listed(msgspec.Struct):
        names: list[str]

    def first(item: kit.Item, context: kit.Context) -> kit.CaseScore:
        right = item.output.names[:1] == item.case.expected.split()[:1]
        return kit.CaseScore(kit.mean_counts({"right": float(right)}))

    def suite(*ranked: str) -> kit.Suite:
        probing = kit.Probing(lambda case: Listed(case.expected.split()), ranked=ranked)
        metrics = (kit.mean("right", "…"),)
        return kit.Suite(
            name="small", output=Listed, score=kit.per_case(first), metrics=metrics, probing=probing
        )

    assert ("invariance", "oracle") in broken(suite())
    assert "invariance" not in {rule for rule, _ in broken(suite("names"))}


def test_of_very_many_cases_some_are_drawn() -> None:
    many = [kit.Case(f"case {number}", kit.TextInput("x"), f"{number}") for number in range(600)]
    suite = made_up(lambda expected, given: float(expected == given))
    assert probe_suite(suite, many, kit.Context(), GATES, (), {}).cases == 500


@pytest.mark.rehearsal
@pytest.mark.parametrize("name", suite_names(Project.find()))
def test_every_shipped_suite_keeps_the_rules_and_its_table_is_current(tmp_path: Path, name: str) -> None:
    """`eval-pipeline golden probe --docs docs/suites.md` writes the tables."""
    project = copy_project(tmp_path / "project", name)
    suite = find_suite(project, name)
    bench = Workbench(project, suite)
    probed = probe_golden(bench, load_golden(bench).table)
    assert not probed.broken
    assert probed.probes[0].name == "oracle"
    assert not [note for note in probed.oracle_notes if "no reason is given" in note]
    assert probe_section(suite, probed) in DOCS
