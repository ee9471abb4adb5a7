"""Every number of one evaluation is the same wherever it is shown.

One gate evaluates two candidates. Its JSON is walked, and every number of it is looked for in the tables on
disk, in the history, in the metadata and checks of Dagster, in the report, in the summary of a pull request,
in JUnit and on the screen.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple
from xml.etree import ElementTree

import dagster as dg
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from eval_pipeline.numbers import NOTHING, change, number, probability
from eval_pipeline.orchestration.checks import gate_check
from eval_pipeline.orchestration.metadata import MORE
from eval_pipeline.project import Project
from eval_pipeline.reports import readable
from eval_pipeline.store import History, Store, database_url
from eval_pipeline.suite import Ratio, Suite, Sums, all_metrics, quantities
from eval_pipeline.suites import find_suite
from eval_pipeline_tests.cli.test_gate import commit, git
from eval_pipeline_tests.conftest import copy_project
from eval_pipeline_tests.running import command, instance_in, invoke

CANDIDATES = {"decomposition": "decompose-concepts-v2.0", "review": "review-document-v2.0"}
OF_THE_FAMILY = ("adjusted_p", "minimum_detectable_effect", "cases_needed", "trials_needed")
"""What `compare` has otherwise: it looks at one comparison, an evaluation at both."""


class Shown(NamedTuple):
    """One evaluation, and everything in which people and machines read it."""

    project: Project
    suite: Suite
    version: str
    data: dict[str, Any]
    """Its part of the gate's JSON."""
    gate: str
    summary: str
    """Of all that was evaluated, as is `gate`."""
    junit: str

    @property
    def store(self) -> Store:
        return Store(self.project.state)

    @property
    def report(self) -> str:
        text = self.store.report(self.suite.name, self.version)
        assert text
        return text


@pytest.fixture(scope="module")
def evaluated(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Shown]:
    """Two candidates, touched by a change, through one gate; beside them an active version, by its gates."""
    folder = tmp_path_factory.mktemp("one")
    project = copy_project(folder / "project", *CANDIDATES)
    (project.root / ".gitignore").write_text(".eval/\n")
    git(project, "init", "--quiet")
    commit(project)
    for suite, version in CANDIDATES.items():
        file = project.prompts(suite) / f"{version}.md"
        file.write_text(file.read_text().replace("\nparameters:", "\nparameters: # touched"))
    gates = project.golden("decomposition") / "gates.yaml"
    gates.write_text(gates.read_text() + "\n# looked at\n")
    files = [part for kind in ("json", "markdown", "junit") for part in (f"--{kind}", folder / kind)]
    done = command(project, "gate", *CANDIDATES, "--changed-since", "HEAD", *files)
    assert done.returncode == 1, done.stderr
    versions = {each["version"]: each for each in json.loads((folder / "json").read_text())["versions"]}
    summary, junit = (folder / "markdown").read_text(), (folder / "junit").read_bytes()
    reasons = {
        each.get("name"): "\n".join(each.itertext())
        for each in ElementTree.fromstring(junit).iter("testcase")
    }
    return {
        name: Shown(
            project,
            find_suite(project, name),
            version,
            versions[version],
            done.stdout,
            summary,
            reasons[version],
        )
        for name, version in CANDIDATES.items()
    }


@pytest.fixture(params=CANDIDATES)
def shown(evaluated: dict[str, Shown], request: pytest.FixtureRequest) -> Shown:
    """Each of them."""
    return evaluated[request.param]


def values(shown: Shown) -> dict[str, float | None]:
    metrics: dict[str, float | None] = shown.data["report"]["metrics"]
    return metrics


def comparisons(shown: Shown) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = shown.data["comparisons"]
    return found


def test_there_is_something_to_walk(evaluated: dict[str, Shown]) -> None:
    assert [each["role"] for each in comparisons(evaluated["decomposition"])] == ["baseline", "replaced"]
    for each in comparisons(evaluated["review"]):
        assert [reading["name"] for reading in each["readings"]] == ["improvement_delta"]


def test_the_gate_says_what_was_touched_and_shows_what_got_worse(evaluated: dict[str, Shown]) -> None:
    shown = evaluated["decomposition"]
    assert "✗ decomposition: decompose-concepts-v2.0 (prompt)\n" in shown.gate
    assert "⚠ decomposition: decompose-concepts-v1.2 (gates)\n" in shown.gate
    assert shown.summary.startswith("# ✗ Prompt evaluation blocks this change\n")
    assert "| ✗ | decomposition | decompose-concepts-v2.0 | overall_index " in shown.summary
    text = part_of(shown)
    assert text.count("<details>") == text.count("</details>") == 3  # all numbers, and cases that fell, twice
    opening = (
        "<details><summary>Against baseline decompose-concepts-v1.0: 15 cases got worse by overall_index"
    )
    cases = text.partition(opening)[2].partition("</details>")[0]
    assert [cases.count(f"- {what}: ") for what in ("input", "expected", "before", "after")] == [3, 3, 3, 3]
    assert "concept_precision, by case:" in text


def test_counts_on_disk_give_the_numbers(shown: Shown) -> None:
    (file,) = shown.store.evaluations_folder(shown.suite.name, shown.version).glob("*/counts.parquet")
    table = pq.read_table(file)
    numeric = [each.name for each in table.schema if pa.types.is_primitive(each.type)]
    sums = Sums({name: np.array([float(np.sum(table[name].to_numpy()))]) for name in numeric}, {})
    walked = 0
    for metric in all_metrics(shown.suite):
        value = values(shown)[metric.name]
        if value is not None and isinstance(metric.formula, Ratio):
            (from_counts,) = metric.formula(sums)
            assert from_counts == pytest.approx(value, abs=1e-12), metric.name
            walked += 1
    assert walked > 10


def test_records_and_history_hold_the_numbers(shown: Shown) -> None:
    evaluation = shown.store.evaluation(shown.suite.name, shown.version)
    assert evaluation
    assert {name: each.value for name, each in evaluation.summary.metrics.items()} == values(shown)
    (point,) = History(database_url(shown.project)).points(shown.suite.name, shown.version)
    assert {name: value for name, value in values(shown).items() if value is not None} == {
        name: value for name, value in point.metrics.items() if value is not None
    }


def test_dagster_shows_the_numbers(shown: Shown) -> None:
    with instance_in(shown.project) as instance:
        numbers, compared, report = (
            _metadata(instance, shown, asset) for asset in ("metrics", "baseline_comparison", "report")
        )
        checks = {each.check_name: each for each in _checks(instance, shown)}
    found = rows(whole(numbers, "metrics"))
    after_zones = Rows(row[1:] for row in found)
    for row in metric_rows(shown):
        assert row in after_zones or row in found
    for gate in shown.data["report"]["gates"]:
        assert numbers.get(gate["metric"]) == gate["value"], gate["metric"]
        metadata = checks[gate_check(gate["metric"])].metadata
        assert (metadata["value"].value if "value" in metadata else None) == gate["value"]
        assert metadata["status"].value == gate["status"]
    regression = checks["regression"]
    for each in comparisons(shown):
        prefix = "" if each["role"] == "baseline" else "replaced_"
        for metric in each["metrics"]:
            if metric["gated"] and metric["difference"] is not None:
                assert compared[f"{prefix}difference_{metric['metric']}"] == metric["difference"]
        assert compared[f"{prefix}conclusion"] == each["conclusion"]
        assert (
            regression.metadata[f"{prefix}verdict"].value == compared[f"{prefix}verdict"] == each["verdict"]
        )
        assert regression.metadata[f"{prefix}cases_regressed"].value == len(each["regressed"])
        assert each["conclusion"] in readable(regression.description or "")
        for row in comparison_rows(shown, each):
            assert row in rows(whole(compared, f"{prefix}comparison"))
    assert shown.report.startswith(report["report"].removesuffix(MORE).rstrip())
    assert Path(report["file"]).read_text() == shown.report


def whole(metadata: dict[str, Any], name: str) -> str:
    """A text that may go on in further entries."""
    return "\n".join(text for key, text in metadata.items() if re.fullmatch(rf"{name}(_\d+)?", key))


def _metadata(instance: dg.DagsterInstance, shown: Shown, asset: str) -> dict[str, Any]:
    wanted = dg.AssetRecordsFilter(dg.AssetKey([shown.suite.name, asset]), asset_partitions=[shown.version])
    (record,) = instance.fetch_materializations(wanted, limit=1).records
    assert record.asset_materialization
    return {name: each.value for name, each in record.asset_materialization.metadata.items()}


def _checks(instance: dg.DagsterInstance, shown: Shown) -> Iterator[dg.AssetCheckEvaluation]:
    (run,) = instance.get_runs(dg.RunsFilter(tags={"dagster/partition": shown.version}))
    for record in instance.get_records_for_run(
        run.run_id, of_type=dg.DagsterEventType.ASSET_CHECK_EVALUATION
    ).records:
        event = record.event_log_entry.dagster_event
        assert event
        yield event.asset_check_evaluation_data


def test_report_and_summary_show_the_numbers(shown: Shown) -> None:
    texts = {"report": shown.report, "summary": part_of(shown)}
    for name, text in texts.items():
        found = rows(text)
        for row in metric_rows(shown):
            assert row in found, name
        for each in comparisons(shown):
            for row in comparison_rows(shown, each):
                assert row in found, name
            assert each["conclusion"] in readable(text), name
            for reading in each["readings"]:
                assert reading["text"] in readable(text), name


def test_a_case_that_weighs_much_is_named_with_what_differs_without_it(evaluated: dict[str, Shown]) -> None:
    shown = evaluated["review"]
    found = rows(shown.report)
    for each in comparisons(shown):
        heavy = [one for one in each["metrics"] if one["evidence"] and one["evidence"]["heavy"]]
        heavy = [one for one in heavy if one["verdict"] != "identical"]
        assert heavy
        for metric in heavy:
            unit, case = quantities(shown.suite)[metric["metric"]].unit, metric["evidence"]["heavy"]
            sizes = (metric["difference"], case["equal_weights"], case["without"])
            share = f"{case['case_id']} ({number(case['share'])})"
            assert (metric["metric"], *(change(size, unit) for size in sizes), share) in found
        for case_id in {metric["evidence"]["heavy"]["case_id"] for metric in heavy}:
            (note,) = (line for line in each["notes"] if line.startswith(f"{case_id} alone holds much"))
            for text in (shown.gate, shown.report, shown.summary):
                assert note in readable(text)


def test_another_number_of_trials_is_no_change(evaluated: dict[str, Shown]) -> None:
    project, version = evaluated["review"].project, "review-document-v1.1"
    run = ("run", "review", "--prompt", version, "--trials")
    assert command(project, *run, "1").returncode == 0
    promoted = invoke(project, "baseline", "promote", "review", version, "--reason", "the same answers")
    assert promoted.returncode == 0, promoted.stderr
    done = command(project, *run, "3")
    assert done.returncode == 0, done.stdout
    assert "identical; proceed." in done.stdout
    for word in ("gone", "defined now", "baseline promote"):
        assert word not in done.stdout
    report = Store(project.state).report("review", version)
    assert report
    assert "and as many on both sides (here 1 and 3): run_stability" in readable(report)


def part_of(shown: Shown) -> str:
    """The summary's section on an evaluation."""
    return shown.summary.partition(f"\n## {shown.suite.name}: {shown.version}\n")[2].partition("\n## ")[0]


def test_what_stops_the_change_is_said_alike_on_the_screen_and_in_junit(shown: Shown) -> None:
    for each in comparisons(shown):
        line = f"against {each['before']}: {each['conclusion']}"
        assert each["stops"]
        assert f"✗ {line}" in shown.gate
        assert line in shown.junit
    for gate in shown.data["report"]["gates"]:
        if gate["status"] in ("warn", "fail"):
            unit = quantities(shown.suite)[gate["metric"]].unit
            said = f"{gate['metric']}: {number(gate['value'], unit)} is "
            assert said in shown.gate
            assert said in shown.junit
            assert said in readable(part_of(shown))


def test_sentences_hold_the_numbers_of_their_metrics(shown: Shown) -> None:
    walked = 0
    for each in comparisons(shown):
        for metric in each["metrics"]:
            evidence, difference = metric["evidence"], metric["difference"]
            if difference is None or not evidence or evidence["low"] is None:
                continue
            unit = quantities(shown.suite)[metric["metric"]].unit
            scale = 100 if unit == "fraction" else 1
            said = [
                float(each)
                for each in re.findall(r"\d+\.?\d*(?= points| to|,|\)| \()", without_names(metric))
            ]
            digits = 1 if unit in ("fraction", "points") else 3
            ends = [abs(scale * end) for end in (evidence["low"], evidence["high"])]
            if evidence["low"] * evidence["high"] >= 0:
                ends.sort()
            expected = [round(value, digits) for value in (abs(scale * difference), *ends)]
            assert said == pytest.approx(expected, abs=1.1 * 10**-digits), metric["movement"]
            walked += 1
    assert walked > 5


def without_names(metric: dict[str, Any]) -> str:
    """A movement without its metric's name and its level, which may hold digits."""
    return str(metric["movement"]).removeprefix(metric["metric"]).replace("95 % CI", "")


def test_the_screen_of_run_and_compare_shows_the_numbers(evaluated: dict[str, Shown]) -> None:
    shown = evaluated["decomposition"]
    done = command(shown.project, "run", shown.suite.name, "--prompt", shown.version)
    assert done.returncode == 1
    for row in metric_rows(shown):
        assert row in cells(done.stdout)
    for each in comparisons(shown):
        assert f"✗ against {each['before']}: {each['conclusion']}" in done.stdout
    asked = ("compare", shown.suite.name, "--prompt", shown.version)
    baseline = comparisons(shown)[0]
    said = json.loads(invoke(shown.project, *asked, "--json").stdout)
    assert flat(said) == flat(baseline)
    screen = cells(invoke(shown.project, *asked).stdout)
    for row in comparison_rows(shown, said):
        assert row in screen


def test_the_document_of_a_run_holds_the_numbers(shown: Shown) -> None:
    done = command(shown.project, "run", shown.suite.name, "--prompt", shown.version, "--json")
    document = json.loads(done.stdout)
    assert (done.returncode, document["exit_code"], document["pass"]) == (1, 1, False)
    assert (document["problems"], document["estimates"]) == ([], [])
    assert f"{shown.suite.name}: {shown.version}" in done.stderr
    (found,) = document["evaluations"]
    evaluation = shown.store.evaluation(shown.suite.name, shown.version)
    assert evaluation
    report = shown.data["report"]
    assert (found["suite"], found["version"]) == (shown.suite.name, shown.version)
    assert (found["evaluation"], found["evaluated_at"]) == (evaluation.id, evaluation.created_at)
    assert {name: each["value"] for name, each in found["metrics"].items()} == values(shown)
    zones = {gate["metric"]: gate["zone"] for gate in report["gates"]}
    assert {name: each["zone"] for name, each in found["metrics"].items() if name in zones} == zones
    for gate, expected in zip(found["gates"], report["gates"], strict=True):
        assert {name: gate[name] for name in expected} == expected
    for name in ("cases", "trials", "errors", "errors_by_kind"):
        assert found[name] == report[name]
    for each, expected in zip(found["comparisons"], comparisons(shown), strict=True):
        assert flat(each) == flat(expected)
    blocking = [each["text"] for each in found["objections"] if each["weight"] == "blocks"]
    assert set(blocking) <= set(shown.data["reasons"])
    assert {f"against {each['before']}: {each['conclusion']}" for each in found["comparisons"]} <= set(
        blocking
    )
    assert (found["state"], found["pass"], found["cost_usd"]) == ("block", False, 0.0)
    assert Path(found["report_path"]).read_text() == shown.report
    assert Path(found["page_path"]).read_text().startswith("<!doctype html>")


def flat(data: Any, path: str = "") -> dict[str, Any]:
    """Every number and word of a comparison by its place, without what depends on the family."""
    if isinstance(data, dict):
        parts = [flat(value, f"{path}/{key}") for key, value in data.items() if key not in OF_THE_FAMILY]
    elif isinstance(data, list):
        parts = [flat(value, f"{path}/{place}") for place, value in enumerate(data)]
    else:
        return {path: data}
    return {key: value for part in parts for key, value in part.items()}


def metric_rows(shown: Shown) -> list[tuple[str, ...]]:
    """The beginning of each row that shows a metric: its name and value."""
    details = shown.data["report"]["metric_details"]
    result: list[tuple[str, ...]] = []
    for name, value in values(shown).items():
        unit = quantities(shown.suite)[name].unit
        result.append((name, with_bound(value, details[name].get("bounds"), unit)))
    return result


def with_bound(value: float | None, bounds: list[float] | None, unit: Any) -> str:
    """A value with the bound on the side of the middle."""
    if bounds is None or value is None:
        return number(value, unit)
    bound = f"≤ {number(bounds[1], unit)}" if value < 0.5 else f"≥ {number(bounds[0], unit)}"
    return f"{number(value, unit)} ({bound})"


def comparison_rows(shown: Shown, comparison: dict[str, Any]) -> list[tuple[str, ...]]:
    """The row of each metric: both sides, difference, interval, adjusted p, detectable, zone and verdict."""
    result: list[tuple[str, ...]] = []
    for each in comparison["metrics"]:
        unit, evidence = quantities(shown.suite)[each["metric"]].unit, each["evidence"]
        facts: tuple[str, ...] = (NOTHING,) * 3
        if evidence and evidence["low"] is not None:
            facts = (
                f"{change(evidence['low'], unit)} … {change(evidence['high'], unit)}",
                probability(evidence["adjusted_p"]),
                change(evidence["minimum_detectable_effect"], unit).lstrip("+±"),
            )
        result.append(
            (
                each["metric"],
                with_bound(each["before"], each["bounds_before"], unit),
                with_bound(each["after"], each["bounds_after"], unit),
                change(each["difference"], unit),
                *facts,
            )
        )
    return result


class Rows(list[tuple[str, ...]]):
    """Rows of tables; a row is in it if one begins with it."""

    def __contains__(self, row: object) -> bool:
        return isinstance(row, tuple) and any(each[: len(row)] == row for each in self)


def rows(markdown: str) -> Rows:
    """The rows of all tables of a Markdown text, as a reader sees them."""
    lines = [line for line in markdown.splitlines() if line.startswith("| ")]
    return Rows(tuple(readable(cell.strip()) for cell in line.strip("| ").split(" | ")) for line in lines)


def cells(screen: str) -> Rows:
    """The rows of all tables on a screen: cells are two blanks apart, and empty ones at the end are none."""
    return Rows(tuple(re.split(r"\s{2,}", line.strip())) for line in screen.splitlines())
