from __future__ import annotations

import datetime
import json
from pathlib import Path

import pytest

from eval_pipeline.project import Project
from eval_pipeline_tests.declaring import CLASSIFIER, NAME, declare
from eval_pipeline_tests.improvement.producing import event, keep
from eval_pipeline_tests.running import invoke

RECENT = datetime.datetime.now(datetime.UTC) - datetime.timedelta(hours=2)


@pytest.fixture
def project(tmp_path: Path) -> Project:
    project = declare(tmp_path, CLASSIFIER)
    (project.root / "production.yaml").write_text("sampling: {rate: 1.0}\n")
    keep(project, [event(n, NAME, {"text": f"Ticket {n}"}, "bug", at=RECENT) for n in range(4)])
    return project


def test_sheets_go_out_and_come_back(project: Project) -> None:
    done = invoke(project, "ratings", "queue", NAME, "--raters", "2")
    assert done.returncode == 0, done.stderr
    folder = project.root / "production/ratings" / NAME
    assert len(list(folder.glob("rate-*.html"))) == 2
    for number, path in enumerate(sorted(folder.glob("rate-*.jsonl"))):
        lines = [json.loads(line) for line in path.read_text().splitlines()]
        lines[1:] = [line | {"ruling": "acceptable"} for line in lines[1:]]
        path.write_text("".join(json.dumps(line) + "\n" for line in lines))
        nameless = invoke(project, "ratings", "take", path)
        assert (nameless.returncode, "--by" in nameless.stderr) == (2, True)
        taken = invoke(project, "ratings", "take", path, "--by", f"rater {number}")
        assert "4 rulings" in taken.stdout
    shown = invoke(project, "ratings", "show", NAME)
    assert shown.returncode == 0, shown.stderr
    assert "acceptable" in shown.stdout
    figures = json.loads(invoke(project, "ratings", "show", NAME, "--json").stdout)
    assert (figures["rated"], figures["pairs"], figures["kappa"]) == (4, 4, None)
    quality = json.loads(invoke(project, "quality", NAME, "--json").stdout)
    assert quality["estimates"]["human_accuracy"]["value"] == 1.0
    again = invoke(project, "ratings", "queue", NAME)
    assert again.returncode == 2
    assert "no sampled answer left" in again.stderr
