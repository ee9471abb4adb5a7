"""Recorded outputs on the command line: all rows, one split, and a split that does not exist."""

from __future__ import annotations

import json

from eval_pipeline.project import Project
from eval_pipeline_tests.running import invoke


def test_a_split_is_scored_on_request() -> None:
    project = Project.find()
    golden = project.golden("heritage_typing")
    (outputs,) = (golden / "baseline").glob("*.outputs.jsonl")
    arguments = ("score", "heritage_typing", "--golden", golden, "--outputs", outputs, "--json")
    everything = json.loads(invoke(project, *arguments).stdout)
    test = json.loads(invoke(project, *arguments, "--set", "split=test").stdout)
    assert everything["cases"] == 190
    assert 0 < test["cases"] < 190
    assert test["metrics"]["accuracy"] == everything["groups"]["split"]["test"]["accuracy"]
    unknown = invoke(project, *arguments, "--set", "split=exam")
    assert unknown.returncode == 2
    assert "split" in unknown.stderr
    assert "Traceback" not in unknown.stderr
