"""What `eval-pipeline doctor` says: everything at once, no key, and an exit code that can be relied on."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from eval_pipeline.checkup import examine
from eval_pipeline.project import Project
from eval_pipeline_tests.conftest import REPOSITORY
from eval_pipeline_tests.engines.fault_server import fault_server
from eval_pipeline_tests.running import invoke
from eval_pipeline_tests.test_loading import declare_small, empty

KEY = "sk-very-secret-0123456789"
ENDPOINT = """\
default: model
engines:
  model: {{kind: endpoint, url: "{url}", model: small-one, key_variable: DOCTOR_KEY}}
"""


@pytest.fixture
def own(tmp_path: Path) -> Project:
    project = empty(tmp_path)
    declare_small(project, "tickets")
    (project.golden("tickets") / "gates.yaml").write_text(
        'metrics: {contains: {fail: "< 0.5", pass: ">= 0.8", regression: {investigate: 0.01, block: 0.05}}}\n'
    )
    rows = "".join(f"a {number}\n" for number in range(20))
    (project.golden("tickets") / "cases" / "c.csv").write_text(f"text\n{rows}")
    project.prompts("tickets").mkdir(parents=True)
    (project.prompts("tickets") / "say-v1.0.md").write_text(
        "---\nsuite: tickets\nstatus: active\n---\n{{ text }}\n"
    )
    return project


def test_a_sound_project_has_warnings_and_exits_with_0(own: Project) -> None:
    done = invoke(own, "doctor")
    assert done.returncode == 0, done.stdout
    assert "✓ state folder: .eval can be written to" in done.stdout
    # k = t(0.95) + t(0.80) with 19 degrees of freedom = 1.729 + 0.861; k² ÷ (20 + k²) = 0.251
    assert (
        "⚠ tickets: 20 cases show it where 25.1 % of them fail that passed; for 5.0 % it takes 119"
        in done.stdout
    )
    assert "⚠ tickets: golden set: it was never signed off." in done.stdout
    assert "⚠ tickets: say-v1.0 has no baseline." in done.stdout
    assert "· engine r: its answers are recorded, no model is asked" in done.stdout
    assert "· Dagster: two evaluations of one version may run at once. Write to dagster.yaml:" in done.stdout
    assert "· Dagster: a run whose process was killed seems to go on for ever." in done.stdout
    assert "⚠ Dagster: it sends statistics to its makers." in done.stdout  # it has no dagster.yaml
    assert done.stdout.splitlines()[-1].startswith("0 things to mend, ")


def test_everything_that_is_broken_is_said_at_once(own: Project) -> None:
    own.engines_file.write_text("default: nothing\nengines: {r: {kind: recorded, path: r.jsonl}}\n")
    (own.golden("tickets") / "gates.yaml").write_text("metrics: {nonsense: {}}\n")
    (own.root / "automation.yaml").write_text("timezone: Nowhere\n")
    (own.golden("other")).mkdir()
    (own.golden("other") / "suite.yaml").write_text("cases: none.csv\n")
    done = invoke(own, "doctor")
    assert done.returncode == 2
    for said in ("engines.yaml:1: default", "nonsense", "'Nowhere' is not a time zone", "none.csv"):
        assert re.search(rf"^✗ .*{re.escape(said)}", done.stdout, re.MULTILINE), said


def test_an_empty_project_says_how_to_begin(tmp_path: Path) -> None:
    done = invoke(empty(tmp_path), "doctor")
    assert done.returncode == 2
    assert "there is no suite yet. Begin with: eval-pipeline init." in done.stdout


def test_in_a_project_of_somebody_else_it_says_what_would_help_and_where_components_are(
    tmp_path: Path,
) -> None:
    folder = tmp_path / "src" / "defs" / "tickets"
    folder.mkdir(parents=True)
    (folder / "defs.yaml").write_text("type: eval_pipeline.EvalSuiteComponent\n")
    (folder.parent / "defs.yaml").write_text("type: somebody.Else\n")
    (tmp_path / "pyproject.toml").touch()
    done = invoke(Project(tmp_path, tmp_path / "home"), "doctor")
    assert done.returncode == 0, done.stdout
    assert "· Dagster: two evaluations of one version may run at once." in done.stdout
    assert "· Dagster: a run whose process was killed" in done.stdout
    assert "· src/defs/tickets/defs.yaml: a component of this project. For its suite, run in" in done.stdout
    assert "no suite yet" not in done.stdout
    assert "src/defs/defs.yaml" not in done.stdout


def test_a_key_is_asked_for_and_never_printed(own: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    own.engines_file.write_text(ENDPOINT.format(url="http://127.0.0.1:9/v1"))
    monkeypatch.delenv("DOCTOR_KEY", raising=False)
    unset = invoke(own, "doctor")
    assert unset.returncode == 2
    assert "DOCTOR_KEY is not set" in unset.stdout
    monkeypatch.setenv("DOCTOR_KEY", KEY)
    done = invoke(own, "doctor")
    assert done.returncode == 0, done.stdout
    assert (
        "✓ engine model: small-one at http://127.0.0.1:9/v1, its keys are set; --call asks it" in done.stdout
    )
    assert KEY not in done.stdout + done.stderr


def test_a_call_is_made_on_demand_alone(own: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DOCTOR_KEY", KEY)
    with fault_server(lambda prompt: "yes") as server:
        own.engines_file.write_text(ENDPOINT.format(url=server.url))
        list(examine(own, call=False))
        asked = [finding.text for finding in examine(own, call=True) if "engine model" in finding.text]
    assert [text.partition("; ")[2] for text in asked] == ["it answered with 3 characters"]
    failed = [finding for finding in examine(own, call=True) if "connection" in finding.text]
    assert [finding.level for finding in failed] == ["broken"]


def test_an_engine_that_nothing_uses_is_not_asked(own: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DOCTOR_KEY", KEY)
    with fault_server(lambda prompt: "yes") as server:
        text = ENDPOINT.format(url=server.url).replace("default: model", "default: other")
        own.engines_file.write_text(f"{text}  other: {{kind: recorded, path: other.jsonl}}\n")
        told = [finding.text for finding in examine(own, call=True) if "engine model" in finding.text]
        assert server.calls == 0
    assert [each.partition("; ")[2] for each in told] == ["nothing uses it, so that --call does not ask it"]


def test_every_shipped_suite_is_looked_at() -> None:
    findings = list(examine(Project(REPOSITORY, REPOSITORY / ".eval"), call=False))
    assert not [finding for finding in findings if finding.level == "broken"]
    assert sum(" baseline " in finding.text for finding in findings) >= 11
