"""Data frames hold the numbers of the command line: every shipped suite, on tables scored before."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple
from unittest import mock

import nbclient
import nbformat
import numpy as np
import pandas as pd
import pytest

from eval_pipeline import frames
from eval_pipeline.answers import recorded_line
from eval_pipeline.files import readable_json
from eval_pipeline.problems import BadInput
from eval_pipeline.project import Project
from eval_pipeline.prompts import active_versions, versions_in
from eval_pipeline.reports import score_report
from eval_pipeline.stages import Workbench, add_to_history, answer_cases, evaluate, load_golden, score_answers
from eval_pipeline.store import Store
from eval_pipeline.suite import Ratio, Sums, all_metrics, quantities
from eval_pipeline.suites import find_suite, suite_names
from eval_pipeline_tests.conftest import REPOSITORY, House
from eval_pipeline_tests.running import computed_once, environment, invoke

SHIPPED = suite_names(Project(REPOSITORY, REPOSITORY / ".eval"))
NOTEBOOK = REPOSITORY / "examples" / "results.ipynb"


def evaluate_version(project: Project, suite: str, version: str, **asking: Any) -> None:
    """What a run of the chain leaves in the store, without Dagster."""
    bench = Workbench(project, find_suite(project, suite))
    golden = load_golden(bench).table
    answers = answer_cases(bench, golden, version, **asking)
    scored = score_answers(bench, golden, answers)
    evaluation = evaluate(bench, scored, answers.costs)
    bench.store.keep_golden(suite, golden)
    bench.store.keep_outputs(answers)
    bench.store.keep_scores(scored)
    bench.store.keep_evaluation(evaluation)
    add_to_history(bench, f"run of {version}", scored, evaluation, varies=answers.varies)


class Evaluated(NamedTuple):
    """A project in which every version of every suite is evaluated."""

    project: Project

    def versions(self, suite: str) -> tuple[str, str]:
        """The active version and another one."""
        folder = self.project.prompts(suite)
        (active,) = active_versions(find_suite(self.project, suite), folder)
        return active, next(version for version in reversed(versions_in(folder)) if version != active)


@pytest.fixture
def evaluated(house: House) -> Evaluated:
    return Evaluated(house.project)


def plain(value: Any) -> Any:
    """A cell as JSON has it."""
    return None if value is pd.NA else value


def column(frame: pd.DataFrame, name: str, key: str = "metric") -> dict[str, Any]:
    return {each: plain(value) for each, value in zip(frame[key], frame[name], strict=True)}


def over_everything(metrics: pd.DataFrame) -> pd.DataFrame:
    return metrics[metrics["axis"].isna() & metrics["trial"].isna()]


def by_group(frame: pd.DataFrame) -> dict[str, dict[str, dict[str, Any]]]:
    found: dict[str, dict[str, dict[str, Any]]] = {}
    rows = frame[frame["axis"].notna()]
    for axis, group, metric, value in zip(
        *(rows[name] for name in ("axis", "group", "metric", "value")), strict=True
    ):
        found.setdefault(axis, {}).setdefault(group, {})[metric] = plain(value)
    return found


def outputs_file(project: Project, suite: str, version: str, folder: Path) -> Path:
    """The stored answers as a file that `score` reads."""
    answers = Store(project.state).outputs(suite, version)
    assert answers
    path = folder / "outputs.jsonl"
    output = find_suite(project, suite).output
    path.write_bytes(b"".join(recorded_line(answer, output) for answer in answers))
    return path


def score(project: Project, suite: str, outputs: Path, *more: str | Path) -> dict[str, Any]:
    golden = project.golden(suite)
    done = invoke(project, "score", suite, "--golden", golden, "--outputs", outputs, "--json", *more)
    assert done.returncode in (0, 1), done.stderr
    report: dict[str, Any] = json.loads(done.stdout)
    return report


def as_in_gate(project: Project, suite: str, version: str) -> dict[str, Any]:
    """The report of an evaluation, as `gate --json` holds it."""
    evaluation = Store(project.state).evaluation(suite, version)
    assert evaluation
    report: dict[str, Any] = json.loads(
        readable_json(score_report(find_suite(project, suite), evaluation.summary))
    )
    return report


@pytest.mark.parametrize("suite", SHIPPED)
def test_metrics_are_those_of_score(evaluated: Evaluated, suite: str, tmp_path: Path) -> None:
    version, _ = evaluated.versions(suite)
    found, frame = find_suite(evaluated.project, suite), frames.metrics(suite, project=evaluated.project)
    report = score(evaluated.project, suite, outputs_file(evaluated.project, suite, version, tmp_path))
    whole = over_everything(frame)
    assert set(frame["version"]) == {version}
    assert column(whole, "unit") == {name: each.unit for name, each in quantities(found).items()}
    if not found.held_out:
        assert frame["held_out"].isna().all()
    else:  # an engine that learned from the others is judged by these cases: a group of what `score` shows
        axis, group = found.held_out
        assert set(frame["held_out"]) == {f"{axis} {group}"}
        values = column(whole, "value")
        for name, value in report["groups"][axis][group].items():
            assert values[name] == pytest.approx(value, abs=1e-12), name  # the order of a sum is another one
        report = as_in_gate(evaluated.project, suite, version)
    assert column(whole, "value") == report["metrics"]
    assert by_group(frame) == report["groups"]
    details = report["metric_details"]
    for name in ("sd", "answers", "errored", "missing"):
        assert column(whole, name) == {metric: each[name] for metric, each in details.items()}
    bounds = {metric: each.get("bounds", [None, None]) for metric, each in details.items()}
    for metric, each in report.get("held_out", {}).get("intervals", {}).items():
        bounds[metric] = [each["low"], each["high"]]
    gates = {gate["metric"]: gate for gate in report["gates"]}
    judged = {metric: gates.get(metric, {}).get("interval", [None, None]) for metric in details}
    for place, end in enumerate(("low", "high")):
        assert column(whole, end) == {metric: each[place] for metric, each in bounds.items()}
        assert column(whole, f"judged_{end}") == {metric: each[place] for metric, each in judged.items()}
    for name in ("zone", "status", "severity"):
        assert column(whole, name) == {metric: gates.get(metric, {}).get(name) for metric in details}


@pytest.mark.parametrize("suite", SHIPPED)
def test_case_scores_give_the_metrics(evaluated: Evaluated, suite: str, tmp_path: Path) -> None:
    version, _ = evaluated.versions(suite)
    found = find_suite(evaluated.project, suite)
    frame = frames.case_scores(suite, project=evaluated.project)
    evaluation = Store(evaluated.project.state).evaluation(suite, version)
    assert evaluation
    rests_on = frame
    if found.held_out:
        rests_on = frame[frame[f"attribute:{found.held_out[0]}"] == found.held_out[1]]
    sums = Sums(
        {
            str(name).removeprefix("count:"): np.array([rests_on[name].sum()])
            for name in frame
            if str(name).startswith("count:")
        },
        {},
    )
    whole = column(over_everything(frames.metrics(suite, project=evaluated.project)), "value")
    for metric in all_metrics(found):
        if isinstance(metric.formula, Ratio) and whole[metric.name] is not None:
            assert metric.formula(sums)[0] == pytest.approx(whole[metric.name], abs=1e-12), metric.name
    headline = column(frame, found.headline, "case_id")  # one trial: a case's value is its row's
    for case in evaluation.case_results:
        assert headline[case.case_id] == case.headline
    # What `score --export` writes is the same, whatever the ending.
    outputs = outputs_file(evaluated.project, suite, version, tmp_path)
    files = {ending: tmp_path / f"cases{ending}" for ending in (".csv", ".json", ".parquet")}
    for file in files.values():
        score(evaluated.project, suite, outputs, "--export", file)
    expected = frame.drop(columns=["suite", "version"])
    pd.testing.assert_frame_equal(
        pd.read_parquet(files[".parquet"]).astype(expected.dtypes.to_dict()), expected, check_exact=True
    )
    for read in (pd.read_csv(files[".csv"]), pd.DataFrame(json.loads(files[".json"].read_text()))):
        assert list(read.columns) == list(expected.columns)
        numbers = [name for name in expected if str(expected[name].dtype).lower().startswith("float")]
        for name in numbers:
            assert read[name].astype("Float64").equals(expected[name].astype("Float64")), name


@pytest.mark.parametrize("suite", SHIPPED)
def test_answers_and_diagnoses_are_those_on_disk(evaluated: Evaluated, suite: str) -> None:
    version, _ = evaluated.versions(suite)
    stored = Store(evaluated.project.state)
    answers, scored = stored.outputs(suite, version), stored.scored(suite, version)
    assert answers
    assert scored
    frame = frames.answers(suite, version, project=evaluated.project)
    names = ("case_id", "trial", "text", "error", "latency_ms", "cost_usd")
    rows = [tuple(map(plain, row)) for row in frame[list(names)].itertuples(index=False)]
    assert rows == [tuple(getattr(answer, name) for name in names) for answer in answers]
    assert [plain(each) for each in frame["tokens"]] == [answer.token_count for answer in answers]
    assert set(frame["engine"]) == {"embedded"}
    diagnoses = frames.diagnoses(suite, version, project=evaluated.project)
    assert (
        diagnoses.drop(columns=["suite", "version"]).to_dict("records") == scored.scores.diagnoses.to_pylist()
    )


@pytest.mark.parametrize("against", ["baseline", "version"])
@pytest.mark.parametrize("suite", SHIPPED)
def test_a_comparison_is_that_of_compare(
    evaluated: Evaluated, suite: str, against: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    active, other = evaluated.versions(suite)
    named = "baseline" if against == "baseline" else active
    done = invoke(evaluated.project, "compare", suite, "--prompt", other, "--against", named, "--json")
    report = json.loads(done.stdout)
    computed = computed_once(monkeypatch, frames, "_compared")
    frame = frames.comparison(suite, other, named, project=evaluated.project)
    assert set(frame["version"]) == {other}
    assert set(frame["against"]) == {report["before"]}
    assert set(frame["role"]) == {against}
    whole, groups = frame[frame["axis"].isna()], frame[frame["axis"].notna()]
    assert list(whole["metric"]) == [each["metric"] for each in report["metrics"]]
    changes = (
        "before",
        "after",
        "difference",
        "verdict",
        "action",
        "gated",
        "zone_before",
        "zone_after",
        "reason",
    )
    evidence = ("low", "high", "p_value", "adjusted_p", "cases", "minimum_detectable_effect")
    for (_, row), each in zip(whole.iterrows(), report["metrics"], strict=True):
        assert {name: plain(row[name]) for name in changes} == {name: each[name] for name in changes}
        known = each["evidence"] or dict.fromkeys((*evidence, "cases_needed", "trials_needed"))
        for name in (*evidence, "cases_needed", "trials_needed"):
            assert plain(row[name]) == known[name], (each["metric"], name)
    assert whole["difference"].notna().any()
    assert len(groups) == len(report["groups"])
    for (_, row), each in zip(groups.iterrows(), report["groups"], strict=True):
        assert {name: plain(row[name]) for name in each} == each
        assert row["action"] is pd.NA
    picture = frames.comparison_svg(suite, other, named, project=evaluated.project)
    assert len(computed) == 1
    assert picture.count("<rect") > sum(whole["gated"])


@pytest.mark.parametrize("suite", SHIPPED)
def test_history_is_that_of_its_export(evaluated: Evaluated, suite: str, tmp_path: Path) -> None:
    _, other = evaluated.versions(suite)
    files = {ending: tmp_path / f"history{ending}" for ending in (".csv", ".json", ".parquet")}
    for file in files.values():
        assert invoke(evaluated.project, "history", suite, "--export", file).returncode == 0
    points = json.loads(files[".json"].read_text())["evaluations"]
    frame = frames.history(suite, project=evaluated.project)
    assert [point["version"] for point in points] == versions_in(evaluated.project.prompts(suite))
    walked = 0
    for point in points:
        rows = frame[(frame["run"] == point["run"]) & (frame["evaluation"] == point["evaluation"])]
        assert column(rows, "value") == point["metrics"]
        assert column(rows, "standard_error") == {name: point["noise"].get(name) for name in point["metrics"]}
        assert set(rows["evaluated_at"]) == {pd.Timestamp(point["evaluated_at"])}
        for name in ("version", "engine", "model", "sample", "cases", "trials", "errors", "passed", "replay"):
            assert set(rows[name]) == {point[name]}
        walked += len(rows)
    assert walked == len(frame)
    assert set(frames.history(suite, other, project=evaluated.project)["version"]) == {other}
    exported = pd.read_parquet(files[".parquet"]).astype(frame.dtypes.to_dict())
    pd.testing.assert_frame_equal(exported, frame, check_exact=True)
    read = pd.read_csv(files[".csv"], parse_dates=["evaluated_at"])
    assert list(read.columns) == list(frame.columns)
    assert read["value"].astype("Float64").equals(frame["value"])
    assert (read["evaluated_at"] == frame["evaluated_at"]).all()


def test_columns_have_types_that_do_not_depend_on_their_values(evaluated: Evaluated) -> None:
    """Suites with cases that were held out and without have the same columns of the same types."""
    functions: tuple[Callable[..., pd.DataFrame], ...] = (
        frames.answers,
        frames.diagnoses,
        frames.metrics,
        frames.comparison,
        frames.history,
    )
    for function in functions:
        one, other = (
            function(suite, project=evaluated.project) for suite in ("decomposition", "heritage_typing")
        )
        assert one.dtypes.equals(other.dtypes), function.__name__
        types = set(map(str, one.dtypes))
        assert types <= {"string", "int64", "Int64", "Float64", "bool", "datetime64[us, UTC]"}
    assert str(frames.history("decomposition", project=evaluated.project)["evaluated_at"].dt.tz) == "UTC"


def test_trials_are_rows_of_their_own(toy: Project) -> None:
    evaluate_version(toy, "toy", "guess-v1.0", trials=2)
    frame = frames.metrics("toy", project=toy)
    trials = frame[frame["trial"].notna()]
    assert set(trials["trial"]) == {1, 2}
    assert trials["axis"].isna().all()
    whole = column(over_everything(frame), "value")
    for metric, values in trials.groupby("metric")["value"]:
        if values.notna().all():
            assert values.mean() == pytest.approx(whole[str(metric)])
    assert len(frames.answers("toy", project=toy)) == len(frames.case_scores("toy", project=toy))


def test_a_project_is_found_as_the_command_line_finds_it(toy: Project) -> None:
    evaluate_version(toy, "toy", "guess-v1.0")
    given = frames.metrics("toy", project=toy)
    assert frames.metrics("toy", project=str(toy.root)).equals(given)
    assert frames.metrics("toy", project=toy.root).equals(given)
    with mock.patch.dict(os.environ, environment(toy)):
        assert frames.metrics("toy").equals(given)


def refused(function: Callable[..., object], *given: Any, project: Any) -> str:
    with pytest.raises(BadInput) as bad:
        function(*given, project=project)
    return str(bad.value)


def test_what_was_never_evaluated_names_the_command(toy: Project) -> None:
    run = "Run: eval-pipeline run toy --prompt guess-v1.0"
    for function in (frames.answers, frames.case_scores, frames.diagnoses, frames.metrics, frames.comparison):
        assert (
            refused(function, "toy", project=toy)
            == f"input: version: 'guess-v1.0' was never evaluated. {run}"
        )
    assert refused(frames.history, "toy", project=toy).endswith("never evaluated. Run: eval-pipeline run toy")
    assert refused(frames.history, "toy", "guess-v1.0", project=toy).endswith(run)


def test_a_comparison_names_what_it_lacks(toy: Project) -> None:
    evaluate_version(toy, "toy", "guess-v1.0")
    told = refused(frames.comparison, "toy", project=toy)
    assert told == (
        "input: against: there is no baseline. Run: eval-pipeline baseline promote toy guess-v1.0 --reason …"
    )
    assert "guess-v9.9.md does not exist" in refused(
        frames.comparison, "toy", None, "guess-v9.9", project=toy
    )


def test_names_that_are_none_are_refused(toy: Project, tmp_path: Path) -> None:
    assert "'nothing' is not a suite. Suites: " in refused(frames.metrics, "nothing", project=toy)
    assert "Versions: guess-v1.0." in refused(frames.metrics, "toy", "guess-v2.0", project=toy)
    assert "is not a version name" in refused(frames.metrics, "toy", "../guess-v1.0", project=toy)
    assert "has no engines.yaml" in refused(frames.metrics, "toy", project=tmp_path)


def test_the_active_version_must_be_the_only_one(toy: Project) -> None:
    file = toy.prompts("toy") / "guess-v1.0.md"
    (toy.prompts("toy") / "ask-v1.0.md").write_text(file.read_text())
    told = refused(frames.metrics, "toy", project=toy)
    assert told == "input: version: 2 versions of toy are active. Name one: ask-v1.0, guess-v1.0."
    for each in toy.prompts("toy").glob("*.md"):
        each.write_text(each.read_text().replace("status: active", "status: candidate"))
    told = refused(frames.metrics, "toy", project=toy)
    assert told == "input: version: no version of toy is active. Name one: ask-v1.0, guess-v1.0."


@pytest.fixture
def executed(evaluated: Evaluated) -> Any:
    """The notebook of the examples, run by a kernel on a project with an evaluation of its suite."""
    notebook = nbformat.read(NOTEBOOK, as_version=4)  # type: ignore[no-untyped-call]
    names = ("metrics", "case_scores", "diagnoses", "answers", "comparison", "history")
    sizes = f"import json; print(json.dumps({{name: len(globals()[name]) for name in {names}}}))"
    notebook.cells.append(nbformat.v4.new_code_cell(sizes))  # type: ignore[no-untyped-call]
    with mock.patch.dict(os.environ, environment(evaluated.project)):
        nbclient.NotebookClient(notebook, timeout=300, kernel_name="python3").execute()
    return notebook


def test_the_notebook_shows_the_frames_and_a_picture(evaluated: Evaluated, executed: Any) -> None:
    outputs = [output for cell in executed.cells for output in cell.get("outputs", ())]
    assert not [output for output in outputs if output.output_type == "error"]
    shown = [output.data for output in outputs if output.output_type == "execute_result"]
    (picture,) = [data["image/svg+xml"] for data in shown if "image/svg+xml" in data]
    assert "right is better" in picture
    assert sum("<table" in data.get("text/html", "") for data in shown) == 7
    sizes = json.loads(outputs[-1].text)
    for name, size in sizes.items():
        function: Callable[..., pd.DataFrame] = getattr(frames, name)
        assert size == len(function("decomposition", project=evaluated.project)) > 0


def test_the_notebook_is_kept_without_outputs() -> None:
    notebook = nbformat.read(NOTEBOOK, as_version=4)  # type: ignore[no-untyped-call]
    nbformat.validate(notebook)
    code = [cell for cell in notebook.cells if cell.cell_type == "code"]
    assert all(cell.outputs == [] and cell.execution_count is None for cell in code)
