"""`golden probe`: what it prints, what it exits with, and that it computes nothing twice."""

from __future__ import annotations

import json
from pathlib import Path
from unittest import mock

import pytest

from eval_pipeline.cli import golden
from eval_pipeline.cli.golden import PROBES_BEGIN, PROBES_END
from eval_pipeline.project import Project
from eval_pipeline.scoring import probe_suite
from eval_pipeline.stages import probes
from eval_pipeline_tests.running import invoke

LOOSE = "metrics:\n  accuracy: {fail: '< 0', pass: '>= 0'}\n"
"""Gates that anything passes."""


@pytest.mark.parametrize(("project", "suite"), [("toy", "toy"), ("text_toy", "capitals")])
def test_the_toys_keep_the_rules(project: str, suite: str, request: pytest.FixtureRequest) -> None:
    done = invoke(request.getfixturevalue(project), "golden", "probe", suite)
    assert done.returncode == 0, done.stderr
    assert "cases passed" in done.stdout
    assert "✗" not in done.stdout


def test_tables_as_json(toy: Project) -> None:
    done = invoke(toy, "golden", "probe", "toy", "--json")
    assert done.returncode == 0, done.stderr
    probed = json.loads(done.stdout)["toy"]
    oracle, *probes = probed["probes"]
    assert (oracle["name"], oracle["passed"], oracle["permuted"]) == ("oracle", probed["cases"], None)
    assert {"empty", "constant", "another's", "negated"} <= {each["name"] for each in probes}
    assert probed["broken"] == []


def test_a_gate_that_anything_passes_is_named_and_exits_with_1(toy: Project) -> None:
    (toy.golden("toy") / "gates.yaml").write_text(LOOSE)
    done = invoke(toy, "golden", "probe", "toy")
    assert done.returncode == 1
    assert "another's passes every critical gate" in done.stdout


def test_bad_input_exits_with_2(toy: Project) -> None:
    unknown = invoke(toy, "golden", "probe", "no-such-suite")
    assert unknown.returncode == 2
    assert "no-such-suite" in unknown.stderr
    assert "Traceback" not in unknown.stderr
    one = invoke(toy, "golden", "probe", "toy", "--docs", "docs.md")
    assert (one.returncode, "Leave SUITE out." in one.stderr) == (2, True)
    (toy.golden("toy") / "cases" / "broken.jsonl").write_text("{\n")
    broken = invoke(toy, "golden", "probe", "toy")
    assert (broken.returncode, "broken.jsonl" in broken.stderr) == (2, True)


def test_tables_are_written_between_the_marks_of_a_file(toy: Project, tmp_path: Path) -> None:
    docs = tmp_path / "docs.md"
    docs.write_text(f"before\n{PROBES_BEGIN}\noutdated\n{PROBES_END}\nafter\n")
    only = mock.patch.object(golden, "all_suites", return_value=["toy"])
    with only:
        assert invoke(toy, "golden", "probe", "--docs", str(docs)).returncode == 0
    written = docs.read_text()
    assert written.startswith("before\n")
    assert written.endswith("\nafter\n")
    assert "### toy: 4 cases" in written
    assert "outdated" not in written
    docs.write_text("no marks\n")
    with only:
        refused = invoke(toy, "golden", "probe", "--docs", str(docs))
    assert (refused.returncode, "has no marks" in refused.stderr) == (2, True)
    assert docs.read_text() == "no marks\n"


@pytest.mark.parametrize("changed", ["nothing", "gates", "cases"])
def test_what_was_computed_is_used_until_something_changes(toy: Project, changed: str) -> None:
    first = invoke(toy, "golden", "probe", "toy", "--json")
    if changed == "gates":
        (toy.golden("toy") / "gates.yaml").write_text(LOOSE)
    elif changed == "cases":
        file = sorted((toy.golden("toy") / "cases").iterdir())[0]
        lines = file.read_text().splitlines(keepends=True)
        file.write_text("".join(lines[:-1]))
    with mock.patch.object(probes, "probe_suite", wraps=probe_suite) as computed:
        second = invoke(toy, "golden", "probe", "toy", "--json")
    assert computed.call_count == (changed != "nothing")
    assert (first.stdout == second.stdout) is (changed == "nothing")
