"""A new kind of task is one folder of code, one of golden cases and one of prompts; nothing else changes."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import msgspec
import pytest

from eval_pipeline.problems import BadInput
from eval_pipeline.project import Project
from eval_pipeline.reports import model_list, readable, score_report
from eval_pipeline.reports.tables import model_notes, shown_value
from eval_pipeline.scoring import Summary, context_for, measured_models, score_cases, summarize
from eval_pipeline.suite import Case, Context, Measured, Metric, Model, Suite, ratio_of
from eval_pipeline.suites import find_suite
from eval_pipeline.suites.decomposition import SUITE
from eval_pipeline.suites.decomposition.cases import DecompositionExpected, DecompositionInput
from eval_pipeline_tests.conftest import TOY
from eval_pipeline_tests.running import checks, instance_in, invoke, run_chain
from eval_pipeline_tests.sources import Recorded, golden


def test_the_toy_is_small() -> None:
    folder = TOY / "suites" / "toy"
    assert sum(len(file.read_text().splitlines()) for file in folder.glob("*.py")) < 80


def test_it_gets_the_whole_chain_and_its_checks(toy: Project) -> None:
    with instance_in(toy) as instance:
        result = run_chain(toy, instance, "toy", "guess-v1.0")
    assert result.success
    found = checks(result)
    assert found["well_formed"].passed
    assert found["prompt_valid"].passed
    assert not found["gate_accuracy"].passed
    assert "guess-v1.0: 75.0 % is between" in str(found["gate_accuracy"].description)
    assert "wolf: dog" in str(found["gate_accuracy"].description)
    assert "no baseline" in str(found["regression"].description)
    assert "Problems: wolf." in str(found["gate_accuracy"].description)
    assert "Problems" not in str(found["gate_error_rate"].description)
    report = result.output_for_node("toy__report").text
    assert "Problems: wolf." in readable(report)
    assert "![confusion](data:image/svg+xml;base64," in report
    evaluation = result.output_for_node("toy__metrics")
    values = {name: each.value for name, each in evaluation.summary.metrics.items()}
    assert values["accuracy"] == 0.75
    assert values["hint_rate"] == 0.75
    assert values["macro_recall"] == pytest.approx(0.75)
    assert values["agreement"] == 1.0
    assert {"": "wolf", "cat": 0.0, "dog": 1.0, "fox": 0.0} in evaluation.summary.tables["confusion"]


def test_score_needs_nothing_else(toy: Project, tmp_path: Path) -> None:
    outputs = tmp_path / "outputs.jsonl"
    outputs.write_text(
        '{"case_id": "cat", "output": {"animal": "cat", "hints": []}}\n'
        '{"case_id": "dog", "output": {"animal": "dog", "hints": []}}\n'
        '{"case_id": "wolf", "output": {"animal": "wolf"}}\n'
    )
    scored = invoke(toy, "score", "toy", "--golden", toy.golden("toy"), "--outputs", outputs, "--json")
    assert scored.returncode == 1
    report = json.loads(scored.stdout)
    assert report["metrics"]["accuracy"] == 0.5
    assert report["errors_by_kind"] == {"missing": 1, "schema": 1}


def test_every_number_says_how_it_varies_and_what_it_rests_on(toy: Project, tmp_path: Path) -> None:
    outputs = tmp_path / "outputs.jsonl"
    right = {"cat": "cat", "dog": "dog", "wolf": "wolf", "fox": "fox"}
    lines = [
        {"case_id": case, "trial": 1, "output": {"animal": animal, "hints": []}}
        for case, animal in right.items()
    ]
    lines += [{"case_id": "cat", "trial": 2, "output": {"animal": "cat", "hints": []}}]
    lines += [
        {"case_id": "dog", "trial": 2, "error": "timeout"},
        {"case_id": "wolf", "trial": 2, "output": 1},
    ]
    outputs.write_text("".join(json.dumps(line) + "\n" for line in lines))
    scored = invoke(toy, "score", "toy", "--golden", toy.golden("toy"), "--outputs", outputs, "--json")
    report = json.loads(scored.stdout)
    assert report["metrics"]["accuracy"] == (1.0 + 0.25) / 2
    details = report["metric_details"]["accuracy"]
    assert details == {
        "sd": pytest.approx(0.75 / 2**0.5),
        "min": 0.25,
        "max": 1.0,
        "answers": 8,
        "errored": 2,
        "missing": 1,
    }
    shown = invoke(toy, "score", "toy", "--golden", toy.golden("toy"), "--outputs", outputs).stdout
    assert "accuracy" in shown


def test_run_and_baseline_work_for_it(toy: Project) -> None:
    assert invoke(toy, "run", "toy").returncode == 0
    promote = ("baseline", "promote", "toy", "guess-v1.0", "--reason", "the first", "--by", "me")
    unsigned = invoke(toy, *promote)
    assert unsigned.returncode == 0, unsigned.stderr
    assert "⚠ golden set: it was never signed off. Review it, then run: " in unsigned.stdout
    assert invoke(toy, "golden", "freeze", "toy", "--reason", "looks right", "--by", "me").returncode == 0
    signed = (toy.golden("toy") / "signoff.json").read_text()
    (toy.golden("toy") / "signoff.json").write_text(signed.replace('"golden_hash": "', '"golden_hash": "0'))
    refused = invoke(toy, *promote)
    assert refused.returncode == 2
    assert "nobody signed it off" in refused.stderr
    (toy.golden("toy") / "signoff.json").write_text(signed)
    promoted = invoke(toy, *promote)
    assert promoted.returncode == 0, promoted.stderr
    assert "⚠" not in promoted.stdout
    again = invoke(toy, "run", "toy")
    assert "identical" in again.stdout


def test_an_error_never_pays_in_pooled_or_keyed_metrics(toy: Project, tmp_path: Path) -> None:
    """Replacing a wrong answer by an error must not lift a macro average."""
    lines = [
        f'{{"case_id": "{name}", "output": {{"animal": "{guess}", "hints": []}}}}\n'
        for name, guess in (("cat", "cat"), ("dog", "dog"), ("wolf", "dog"), ("fox", "fox"))
    ]
    outputs, values = tmp_path / "outputs.jsonl", []
    for chosen in (lines, lines[:2] + lines[3:], []):
        outputs.write_text("".join(chosen))
        scored = invoke(toy, "score", "toy", "--golden", toy.golden("toy"), "--outputs", outputs, "--json")
        values.append(json.loads(scored.stdout)["metrics"])
    for metric in ("accuracy", "macro_recall"):
        assert values[0][metric] == values[1][metric] == 0.75
        assert values[2][metric] == 0.0


class Settings(msgspec.Struct, forbid_unknown_fields=True):
    k: int = 5


def test_settings_and_references_reach_scoring_and_are_part_of_the_identity(tmp_path: Path) -> None:
    suite = replace(SUITE, settings=Settings, references=lambda folder: (folder / "notes.txt").read_text())
    bare = context_for(suite, tmp_path)
    assert (bare.settings, bare.references) == (Settings(5), None)
    (tmp_path / "settings.yaml").write_text("k: 7\n")
    (tmp_path / "references").mkdir()
    (tmp_path / "references" / "notes.txt").write_text("decided")
    stored = context_for(suite, tmp_path)
    assert (stored.settings, stored.references) == (Settings(7), "decided")
    given = context_for(suite, tmp_path, settings={"k": 9})
    assert given.settings == Settings(9)
    assert len({bare.hash, stored.hash, given.hash}) == 3
    with pytest.raises(BadInput, match="kk: is not a known field"):
        context_for(suite, tmp_path, settings={"kk": 9})


def test_a_suite_must_say_what_an_error_counts_as() -> None:
    pooled = Metric("pooled", "A ratio of sums.", ratio_of("a", "b"))
    with pytest.raises(ValueError, match="say with `errored`"):
        replace(SUITE, metrics=(*SUITE.metrics, pooled))


def summary_of(suite: Suite, folder: Path) -> Summary:
    case = Case("one", DecompositionInput("a topic", "a text"), DecompositionExpected([], [], [], []))
    scores = score_cases(suite, [golden(case)], Recorded({}), Context())
    return summarize(suite, scores, {}, measured_models(suite, context_for(suite, folder)))


def test_a_model_behind_metrics_is_part_of_the_identity_and_tells_its_accuracy(tmp_path: Path) -> None:
    def judged_by(name: str) -> Suite:
        model = Model(name, ("concept_recall",), lambda: Measured(0.7, "right in 70 % of 40 examples"))
        return replace(SUITE, models=(model,))

    suites = [SUITE, judged_by("small-1"), judged_by("small-2")]
    assert len({context_for(suite, tmp_path).hash for suite in suites}) == 3
    summaries = [summary_of(suite, tmp_path) for suite in suites]
    told = "concept_recall: judged by small-1, right in 70 % of 40 examples"
    assert model_notes(summaries[1]) == [told]
    assert score_report(suites[1], summaries[1])["models"][0]["accuracy"] == 0.7
    assert model_list(summaries[0]) == ""
    trained = replace(SUITE, trained=lambda context: suites[1].models)
    assert summary_of(trained, tmp_path).models == summaries[1].models


@pytest.mark.parametrize(
    ("wrong", "shown"),
    [
        (0, "100.0 % (≥ 96.3 %)"),  # 100 of 100 still allows 96.3 %
        (1, "99.0 % (≥ 94.6 %)"),
        (30, "70.0 %"),
    ],
)
def test_rates_near_one_are_shown_with_a_bound(toy: Project, wrong: int, shown: str) -> None:
    suite = find_suite(toy, "toy")
    cases = [golden(Case(f"{number:03}", {"sound": "s"}, "cat")) for number in range(100)]
    outputs: dict[str, object] = {
        each.case.id: {"animal": "mouse" if number < wrong else "cat", "hints": []}
        for number, each in enumerate(cases)
    }
    for trials in (1, 3):  # trials of a case are no further cases
        scores = score_cases(suite, cases, Recorded(outputs, trials), Context())
        values = summarize(suite, scores, {}).metrics
        assert shown_value(values["accuracy"], "fraction") == shown
        assert shown_value(values["error_rate"], "fraction") == "0.0 % (≤ 3.7 %)"
