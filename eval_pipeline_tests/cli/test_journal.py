"""`eval-pipeline journal`: what it shows, and what it forgets."""

from __future__ import annotations

import json
from pathlib import Path

import msgspec
import pytest
from click.testing import CliRunner

from eval_pipeline.cli.journal import command
from eval_pipeline.engines import Journal, Usage
from eval_pipeline.problems import BadInput
from eval_pipeline.project import ROOT_VARIABLE, STATE_VARIABLE
from eval_pipeline.store.database import URL_VARIABLE
from eval_pipeline_tests.engines.journals import claim, record


def run(*arguments: str, answer: str | None = None) -> tuple[int, str]:
    done = CliRunner().invoke(command, arguments, input=answer)
    return done.exit_code, done.output


@pytest.fixture
def here(journal_url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """The journal's URL, in an environment that names it."""
    monkeypatch.setenv(ROOT_VARIABLE, str(tmp_path))
    monkeypatch.setenv(STATE_VARIABLE, str(tmp_path / "state"))
    monkeypatch.setenv(URL_VARIABLE, journal_url)
    return journal_url


def test_the_command_shows_and_forgets(here: str) -> None:
    with Journal.open(here) as journal:
        assert "The journal is empty" in run("stats")[1]
        journal.record([record("x"), record("y", suite="other", answered_at="9999-01-01T00:00:00+00:00")])
        claim(journal, ["x"])
        shown = run("stats")[1]
        assert "decomposition" in shown
        assert "2 calls for $0.5000; 1 answer reused." in shown
        assert msgspec.json.decode(run("stats", "--json")[1], type=list[Usage]) == journal.stats()
        assert "Nothing was forgotten." in run("purge", "--suite", "other", answer="n\n")[1]
        nobody = CliRunner().invoke(command, ["purge", "--suite", "other"], input="")
        assert "nobody is there to be asked. Give --yes" in str(nobody.exception)
        assert run("purge", "--older-than", "30", "--yes") == (0, "1 answer forgotten.\n")
        assert "1 answer forgotten." in run("purge", "--suite", "other", answer="y\n")[1]
        assert journal.stats() == []
        journal.buckets.pause("engine", 3600)
        assert run("reset-limits") == (0, "Limits and pauses begin anew with the next run.\n")
        assert journal.buckets.paused_until("engine") == 0


def test_the_command_says_what_is_missing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(ROOT_VARIABLE, str(tmp_path))
    monkeypatch.setenv(STATE_VARIABLE, str(tmp_path / "state"))
    monkeypatch.delenv(URL_VARIABLE, raising=False)
    for arguments in (["stats"], ["reset-limits"], ["purge", "--suite", "x", "--yes"]):
        assert "There is no journal yet" in run(*arguments)[1]
    assert json.loads(run("stats", "--json")[1]) == []
    assert not (tmp_path / "state").exists()
    done = CliRunner().invoke(command, ["purge", "--yes"])
    assert isinstance(done.exception, BadInput)
    assert "Give --suite, --older-than or both." in str(done.exception)
