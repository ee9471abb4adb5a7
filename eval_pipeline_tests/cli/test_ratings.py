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


def test_answers_whose_sheets_cannot_be_written_stay_to_be_rated(project: Project) -> None:
    taken = project.root / "taken"
    taken.write_text("")
    folder = project.root / "production/ratings" / NAME
    refused = invoke(project, "ratings", "queue", NAME, "--out", taken)
    assert (refused.returncode, "taken: sheets cannot be written" in refused.stderr) == (2, True)
    folder.parent.mkdir(parents=True)
    folder.write_text("")  # sheets can be written, the queue cannot
    refused = invoke(project, "ratings", "queue", NAME, "--out", project.root / "sheets")
    assert (refused.returncode, list((project.root / "sheets").iterdir())) == (2, [])
    folder.unlink()
    done = invoke(project, "ratings", "queue", NAME)
    assert "4 answers to rate" in done.stdout


def test_files_are_taken_together_or_not_at_all(project: Project) -> None:
    invoke(project, "ratings", "queue", NAME, "--raters", "2")
    folder = project.root / "production/ratings" / NAME
    good, bad = sorted(folder.glob("rate-*.jsonl"))
    for path, ruling in ((good, "acceptable"), (bad, "nice")):
        head, *lines = map(json.loads, path.read_text().splitlines())
        lines = [head | {"rater": "Ada"}, *(line | {"ruling": ruling} for line in lines)]
        path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    refused = invoke(project, "ratings", "take", good, bad, "absent.jsonl")
    assert refused.returncode == 2
    assert refused.stderr.count("'nice' is no ruling") == 4
    assert "absent.jsonl: there is no such file" in refused.stderr
    assert not (folder / "ledger.jsonl").exists()
    bad.write_text(good.read_text())
    refused = invoke(project, "ratings", "take", good, bad)
    assert (refused.returncode, "what Ada says of this queue, too" in refused.stderr) == (2, True)
    assert not (folder / "ledger.jsonl").exists()
    taken = invoke(project, "ratings", "take", good, folder / ".." / NAME / good.name)
    assert taken.stdout.count("4 rulings of Ada sealed") == 1
