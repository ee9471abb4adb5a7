"""The chain on a real Dagster instance: what it computes, what its checks say, and what stops it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import dagster as dg
import pytest

from eval_pipeline.project import Project
from eval_pipeline.store import Store
from eval_pipeline_tests.running import baseline_outputs, checks, instance_in, run_chain

VERSION = "decompose-concepts-v1.0"
DOWNSTREAM = {"model_outputs", "case_scores", "metrics", "baseline_comparison", "report", "active_version"}


def materialized(result: dg.ExecuteInProcessResult) -> set[str]:
    """The stages that a run materialized."""
    return {
        event.asset_key.path[-1]
        for event in result.all_events
        if event.is_step_materialization and event.asset_key
    }


def evaluate(
    project: Project, instance: dg.DagsterInstance, version: str = VERSION, **config: Any
) -> dg.ExecuteInProcessResult:
    return run_chain(project, instance, "decomposition", version, **config)


def edit_case(project: Project, case: str, **changes: Any) -> None:
    """Change fields of a golden file."""
    path = project.golden("decomposition") / "cases" / f"{case}.gold.json"
    path.write_text(json.dumps({**json.loads(path.read_text()), **changes}))


def test_a_version_goes_from_the_golden_set_to_the_report(
    project: Project, instance: dg.DagsterInstance
) -> None:
    result = evaluate(project, instance)
    assert result.success
    assert materialized(result) == {"golden_set", *DOWNSTREAM}
    found = checks(result)
    failed = {name: check.description for name, check in found.items() if not check.passed}
    assert failed == {"active_version_passes": "decompose-concepts-v1.2 ✗ was not evaluated"}
    metadata = result.asset_materializations_for_node("decomposition__metrics")[0].metadata
    assert isinstance(metadata["concept_recall"].value, float)
    assert "data:image/svg+xml;base64," in str(metadata["chart"].value)
    assert "passed 0 of 1 trial" in str(metadata["worst_cases"].value)
    report = Store(project.state).report("decomposition", VERSION)
    assert report is not None
    assert report.startswith(f"# {VERSION}: ✓ passes")


def test_a_worse_version_is_red_but_still_gets_its_report(
    project: Project, instance: dg.DagsterInstance
) -> None:
    result = evaluate(project, instance, "decompose-concepts-v2.0")
    assert result.success
    assert materialized(result) == {"golden_set", *DOWNSTREAM}
    found = checks(result)
    assert not found["gate_concept_precision"].passed
    assert found["gate_concept_precision"].severity is dg.AssetCheckSeverity.ERROR
    assert not found["regression"].passed
    assert "regressed; block" in str(found["regression"].description)


def test_a_broken_golden_set_stops_everything(project: Project, instance: dg.DagsterInstance) -> None:
    edit_case(project, "blockchain", id=7, domain="legal")
    edit_case(project, "quantum-computing", expectedConcepts="none")
    result = evaluate(project, instance)
    assert not result.success
    assert materialized(result) == set()
    told = str(checks(result)["well_formed"].description)
    for place in (
        "blockchain.gold.json:1: id:",
        "blockchain.gold.json:1: domain:",
        "quantum-computing.gold.json:1: expectedConcepts:",
    ):
        assert place in told


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("---\nsuite: decomposition\nstatus: [\n---\nx", "not valid YAML"),
        ("---\nsuite: decomposition\nstatus: active\n---\n{{ answers }}", "unknown variable 'answers'"),
        ("---\nsuite: decomposition\nstatus: candidate\n---\n{{ ''.__class__.__mro__ }}", "unsafe"),
        (
            "---\nsuite: decomposition\nstatus: candidate\nengine: http://evil\n---\n{{ topic }}",
            "is not an engine",
        ),
    ],
)
def test_an_unusable_prompt_is_a_failed_check(
    project: Project, instance: dg.DagsterInstance, text: str, told: str
) -> None:
    (project.prompts("decomposition") / "bad-v1.0.md").write_text(text)
    result = evaluate(project, instance, "bad-v1.0")
    assert not result.success
    assert materialized(result) == {"golden_set"}
    check = checks(result)["prompt_valid"]
    assert not check.passed
    assert told in str(check.description)


def test_unusable_gates_are_a_failed_check(project: Project, instance: dg.DagsterInstance) -> None:
    (project.golden("decomposition") / "gates.yaml").write_text(
        "metrics:\n  recall:\n    fail: low\n    pass: '>= 1'\n"
    )
    result = evaluate(project, instance)
    assert not checks(result)["gates_valid"].passed
    assert "gates.yaml:3: metrics.recall.fail: 'low' is not a bound" in str(
        checks(result)["gates_valid"].description
    )
    assert "metrics" not in materialized(result)


def test_an_unreadable_baseline_is_a_failure_not_an_absence(
    project: Project, instance: dg.DagsterInstance
) -> None:
    outputs = baseline_outputs(project)
    outputs.write_text(outputs.read_text().replace("a", "e", 1))
    result = evaluate(project, instance)
    check = checks(result)["regression"]
    assert not check.passed
    assert check.severity is dg.AssetCheckSeverity.ERROR
    assert "is not what was promoted" in str(check.description)
    assert "report" in materialized(result)


def test_a_changed_expectation_keeps_the_answers_and_changes_the_scores(
    project: Project, instance: dg.DagsterInstance
) -> None:
    first = evaluate(project, instance)
    edit_case(project, "blockchain", forbiddenConcepts=["Nothing of the kind"])
    second = evaluate(project, instance)
    outputs = [run.output_for_node("decomposition__model_outputs").identity.id for run in (first, second)]
    evaluations = [run.output_for_node("decomposition__metrics").id for run in (first, second)]
    assert outputs[0] == outputs[1]
    assert evaluations[0] != evaluations[1]
    assert not checks(second)["signed_off"].passed
    assert "changed: blockchain" in str(checks(second)["signed_off"].description)


def test_answers_to_another_input_are_never_scored(project: Project, instance: dg.DagsterInstance) -> None:
    """Scoring alone, after an input changed, must not take the old answer for the new question."""
    from eval_pipeline import stages
    from eval_pipeline.suites.decomposition import SUITE

    evaluate(project, instance)
    edit_case(project, "blockchain", sourceText="Another text altogether.")
    store = Store(project.state)
    golden = stages.load_golden(stages.Workbench(project, SUITE)).table
    answers = store.outputs("decomposition", VERSION)
    assert answers is not None
    scored = stages.score_answers(stages.Workbench(project, SUITE), golden, answers)
    evaluation = stages.evaluate(stages.Workbench(project, SUITE), scored, answers.costs)
    assert evaluation.summary.errors == {"stale": 1}
    assert not evaluation.summary.passed


def test_the_same_inputs_give_the_same_numbers(project: Project, instance: dg.DagsterInstance) -> None:
    first, second = (evaluate(project, instance).output_for_node("decomposition__metrics") for _ in range(2))
    assert first.id == second.id
    assert first.summary == second.summary
    assert first.case_results == second.case_results


def test_asking_more_often_is_possible(project: Project, instance: dg.DagsterInstance) -> None:
    evaluation = evaluate(project, instance, trials=2, sample="twice").output_for_node(
        "decomposition__metrics"
    )
    assert evaluation.summary.trials == 2
    assert evaluation.identity.outputs.sample == "twice"
    assert all(result.trials == 2 for result in evaluation.case_results)


def test_recorded_outputs_go_through_the_same_chain(
    project: Project, instance: dg.DagsterInstance, tmp_path: Path
) -> None:
    baseline = baseline_outputs(project)
    recorded = project.root / "recorded" / "decomposition" / f"{VERSION}.jsonl"
    recorded.parent.mkdir(parents=True)
    recorded.write_text(baseline.read_text())
    embedded = evaluate(project, instance).output_for_node("decomposition__metrics")
    replayed = evaluate(project, instance, engine="recorded").output_for_node("decomposition__metrics")
    assert replayed.summary.metrics == embedded.summary.metrics
    recorded.write_text("".join(recorded.read_text().splitlines(keepends=True)[1:]))
    incomplete = evaluate(project, instance, engine="recorded")
    assert not checks(incomplete)["answered"].passed
    assert not checks(incomplete)["gate_error_rate"].passed


def test_a_hallucination_is_a_warning_that_names_the_canary(
    project: Project, instance: dg.DagsterInstance
) -> None:
    """One canary in hundreds of concepts passes its gate, and is never passed over in silence."""
    lines = baseline_outputs(project).read_text()
    canary = {"label": "hash gravity consensus", "source_quote": "<img src=x onerror=alert(1)>"}
    answers = [json.loads(line) for line in lines.splitlines()]
    next(each for each in answers if each["case_id"] == "blockchain")["output"]["concepts"].append(canary)
    recorded = project.root / "recorded" / "decomposition" / f"{VERSION}.jsonl"
    recorded.parent.mkdir(parents=True)
    recorded.write_text("".join(json.dumps(each) + "\n" for each in answers))
    result = evaluate(project, instance, engine="recorded")
    check = checks(result)["gate_hallucination_rate"]
    assert not check.passed
    assert check.severity is dg.AssetCheckSeverity.WARN
    assert "blockchain: hash gravity consensus" in str(check.description)
    report = Store(project.state).report("decomposition", VERSION)
    assert report is not None
    assert "<img" not in report
    assert "⚠ passes with warnings" in report


def test_the_report_is_linked_and_published_as_the_environment_says(
    toy: Project, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with instance_in(toy) as instance:
        metadata = report_metadata(run_chain(toy, instance, "toy", "guess-v1.0"))
        assert metadata["verdict"] == "⚠ passes with warnings"
        assert "page" not in metadata
        assert metadata["open"] == "eval-pipeline report toy guess-v1.0 --open"
        monkeypatch.setenv("EVAL_PIPELINE_REPORTS", f"{tmp_path / 'out'}=https://reports.example/")
        result = run_chain(toy, instance, "toy", "guess-v1.0")
        evaluation = Store(toy.state).evaluation("toy", "guess-v1.0")
        assert evaluation
        page = f"https://reports.example/evaluations/toy/guess-v1.0/{evaluation.id}/report.html"
        assert report_metadata(result)["page"] == page
        found = {each.check_name: each.metadata for each in result.get_asset_check_evaluations()}
        assert found["gate_accuracy"]["page"].value == found["regression"]["page"].value == page
        copies = sorted(path.parent.name for path in (tmp_path / "out").rglob("report.md"))
        assert copies == sorted([evaluation.id, "latest"])
        monkeypatch.setenv("EVAL_PIPELINE_REPORTS", "nowhere")
        result = run_chain(toy, instance, "toy", "guess-v1.0")
        assert not checks(result)["reported"].passed
        assert "Write FOLDER=URL" in checks(result)["reported"].description
        assert "page" not in report_metadata(result)


def report_metadata(result: dg.ExecuteInProcessResult) -> dict[str, Any]:
    (event,) = result.asset_materializations_for_node("toy__report")
    return {name: each.value for name, each in event.metadata.items()}


def test_plots_join_the_numbers_of_one_engine_only(toy: Project) -> None:
    recorded = toy.root / "recorded" / "toy" / "guess-v1.0.jsonl"
    recorded.parent.mkdir(parents=True)
    with instance_in(toy) as instance:
        own = run_chain(toy, instance, "toy", "guess-v1.0")
        answers = Store(toy.state).outputs("toy", "guess-v1.0")
        assert answers
        lines = [json.dumps({"case_id": case, "output": {}}) for case in answers.input_hashes()]
        recorded.write_text("\n".join(lines))
        other = run_chain(toy, instance, "toy", "guess-v1.0", engine="recorded")
    names = [
        {
            name
            for name, each in result.asset_materializations_for_node("toy__metrics")[0].metadata.items()
            if isinstance(each.value, float)
        }
        for result in (own, other)
    ]
    assert names == [{"accuracy", "error_rate"}, {"accuracy (recorded)", "error_rate (recorded)"}]
