"""Where a project stands: everything is there, and what cannot be read is there with the reason."""

from __future__ import annotations

import datetime

import pytest

from eval_pipeline.decisions import Finding, Incidents, SuiteSurvey, survey_of
from eval_pipeline.project import Project
from eval_pipeline.store import History, database_url
from eval_pipeline.suites import suite_names
from eval_pipeline_tests.surveying import VERSION, evaluate, freeze

NOW = datetime.datetime(2026, 2, 1, 12, tzinfo=datetime.UTC)


def toy_of(project: Project) -> SuiteSurvey:
    (found,) = survey_of(project, NOW).suites
    return found


def test_every_shipped_suite_is_there_and_was_never_evaluated(whole_project: Project) -> None:
    found = survey_of(whole_project)
    assert [each.name for each in found.suites] == suite_names(whole_project)
    assert found.gone == ()
    for each in found.suites:
        assert each.suite is not None
        assert not each.problems
        assert each.cases > 0
        assert each.active
        assert {version.state for version in each.versions} == {"unknown"}
        assert each.baselines
        assert each.unsigned == ()


def test_suites_that_the_project_does_not_use_are_not_there(toy: Project) -> None:
    assert [each.name for each in survey_of(toy).suites] == ["toy"]


def test_a_version_stands_as_its_latest_evaluation_says(toy: Project) -> None:
    result = evaluate(toy)
    each = toy_of(toy)
    (version,) = each.versions
    assert (version.version, version.status, version.state) == (VERSION, "active", "warn")
    assert version.evaluation == result.evaluation
    assert version.changed == ()
    assert version.report is not None
    assert each.unsigned == ("it was never signed off",)
    assert each.baselines == {}
    (point,) = each.points
    assert point.intervals["accuracy"] == pytest.approx((0.3006, 0.9544), abs=1e-4)  # Wilson's, 3 of 4


def test_answers_are_as_old_as_when_they_were_scored_first(toy: Project) -> None:
    evaluate(toy, run="run-1")
    with History(database_url(toy)) as history:
        (first,) = history.points("toy")
    evaluate(toy, run="run-2")
    each = toy_of(toy)
    assert [point.replay for point in each.points] == [False, True]
    assert each.versions[0].answered_at == first.evaluated_at


def test_what_changed_since_it_was_evaluated_is_told(toy: Project) -> None:
    freeze(evaluate(toy))
    prompt = toy.prompts("toy") / f"{VERSION}.md"
    prompt.write_text(prompt.read_text() + "\nBe brief.\n")
    cases = toy.golden("toy") / "cases" / "sounds.jsonl"
    cases.write_text(cases.read_text() + '{"id": "cow", "sound": "moo", "animal": "cow"}\n')
    gates = toy.golden("toy") / "gates.yaml"
    gates.write_text(gates.read_text().replace('">= 0.8"', '">= 0.7"'))
    assert toy_of(toy).versions[0].changed == (
        "the prompt was edited",
        "the golden set changed",
        "the gates of accuracy changed",
        "a baseline was promoted",
    )


def test_a_baseline_that_is_gone_or_another_one_is_told(toy: Project) -> None:
    freeze(evaluate(toy))
    evaluate(toy, run="run-2")
    assert toy_of(toy).versions[0].changed == ()
    for file in (toy.golden("toy") / "baseline").iterdir():
        file.unlink()
    assert toy_of(toy).versions[0].changed == ("the baseline was removed",)


@pytest.mark.parametrize(
    ("file", "text", "told"),
    [
        ("golden/toy/gates.yaml", "metrics: 7\n", "gates.yaml"),
        ("golden/toy/cases/sounds.jsonl", "{\n", "sounds.jsonl"),
        ("prompts/toy/guess-v1.0.md", "---\nsuite: toy\nstatus: odd\n---\n", "guess-v1.0.md"),
        ("golden/toy/signoff.json", "[]", "signoff.json"),
        ("golden/toy/baseline/guess.json", "{}", "guess.json"),
    ],
)
def test_a_file_that_cannot_be_used_is_a_problem_and_hides_nothing_else(
    toy: Project, file: str, text: str, told: str
) -> None:
    evaluate(toy)
    (toy.root / file).parent.mkdir(exist_ok=True)
    (toy.root / file).write_text(text)
    each = toy_of(toy)
    assert any(told in problem.file for problem in each.problems)
    assert each.unsigned
    assert [version.version for version in each.versions] == [VERSION]
    assert len(each.points) == 1


def test_a_damaged_evaluation_is_a_problem(toy: Project) -> None:
    result = evaluate(toy)
    folder = result.bench.store.evaluations_folder("toy", VERSION) / result.evaluation.id
    (folder / "evaluation.json").write_text("{}")
    each = toy_of(toy)
    assert any("evaluation.json" in problem.file for problem in each.problems)
    assert each.versions[0].state == "unknown"


def test_a_suite_that_cannot_be_loaded_keeps_its_place(toy: Project) -> None:
    (toy.root / "suites" / "toy" / "__init__.py").write_text("raise RuntimeError('no')\n")
    each = toy_of(toy)
    assert each.suite is None
    assert "RuntimeError: no" in str(each.problems[0])


def test_a_suite_that_left_results_and_is_none_any_more_is_named(toy: Project) -> None:
    (toy.state / "evaluations" / "departed" / "v1").mkdir(parents=True)
    assert survey_of(toy).gone == ("departed",)


def test_incidents_are_there_with_their_suite(toy: Project) -> None:
    with Incidents(database_url(toy)) as incidents:
        incidents.look_at("r1", f"toy {VERSION}", [Finding("trend", "critical", "it slides")])
        incidents.look_at("r2", "toy guess-v2.0", [Finding("complete", "critical", "an outage")])
    found = survey_of(toy).incidents
    assert [(each.suite, each.is_outage) for each in found] == [("toy", True), ("toy", False)]
