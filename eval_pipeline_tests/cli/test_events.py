from __future__ import annotations

import datetime
import json

import pytest
from click.testing import CliRunner
from rich.cells import cell_len

from eval_pipeline.cli import production
from eval_pipeline.loading import find_suite, suite_names
from eval_pipeline.monitoring import open_ingest, plan_for, write_simulated
from eval_pipeline.project import Project
from eval_pipeline_tests.running import invoke


def test_a_simulated_week_is_taken_once_and_shows_its_incident(project: Project) -> None:
    simulate = ("events", "simulate", "decomposition", "--per-day", "200", "--until", "2026-03-08")
    assert "the incident is on 2026-03-06" in invoke(project, *simulate).stdout
    outcomes = json.loads(invoke(project, "events", "ingest", "--now", "--json").stdout)
    assert [outcome["events"] for outcome in outcomes] == [200] * 7
    assert invoke(project, *simulate).returncode == 0  # the same files again
    assert invoke(project, "events", "ingest", "--now").stdout.count("known already") == 7
    days = json.loads(
        invoke(project, "production", "decomposition", "--days", "7", "--by", "day", "--json").stdout
    )
    assert [day["figures"]["requests"] for day in days] == [200] * 7
    assert [day["simulated"] for day in days] == [200] * 7
    worst = max(days, key=lambda day: day["figures"]["error_rate"])
    assert worst["start"].startswith("2026-03-06")
    assert "rate_limited" in worst["errors"]
    assert "7 files taken with 1,400 events" in invoke(project, "events", "status").stdout


def test_figures_fit_a_screen_and_every_row_says_what_it_is_of(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    plan = plan_for(project, find_suite(project, "decomposition"), datetime.date(2026, 3, 2), 1, 60, 1)
    write_simulated(plan, project.root / "production" / "drop")
    with open_ingest(project) as taking:
        list(taking.files(now=True))
    monkeypatch.setenv("EVAL_PIPELINE_ROOT", str(project.root))
    monkeypatch.setenv("DAGSTER_HOME", str(project.state))
    monkeypatch.setenv("COLUMNS", "80")
    keys = {"hour": "2026-03-02 ", "day": "2026-03-02", "version": "decompose", "model": "simulated-model"}
    for by, key in keys.items():
        asked = ["decomposition", "--day", "2026-03-02", "--by", by]
        done = CliRunner().invoke(production.command, asked, catch_exceptions=False)
        of, *tables = done.output.split("\n\n")
        parts = [part.splitlines() for part in tables]
        assert (done.exit_code, of) == (0, "decomposition in production, 2026-03-02 (UTC)")
        assert len(parts) > 1
        assert all(part[0].startswith("UTC") and key in "".join(part[1:]) for part in parts)
        assert max(map(cell_len, done.output.splitlines())) <= 80


def test_every_suite_has_figures_or_says_that_it_has_no_events(whole_project: Project) -> None:
    for suite in suite_names(whole_project):
        shown = invoke(whole_project, "production", suite)
        assert (shown.returncode, shown.stderr) == (0, "")
        assert "has no events yet" in shown.stdout
    assert invoke(whole_project, "production", "decomposition", "--day", "x").returncode == 2
