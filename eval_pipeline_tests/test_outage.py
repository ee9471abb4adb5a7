"""An outage is no regression: a real endpoint that is down, says no or fails, and all that reads of it."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from eval_pipeline.automation.alerts import look_at_runs, text_of
from eval_pipeline.comparison import comparable
from eval_pipeline.decisions import Incidents
from eval_pipeline.project import Project
from eval_pipeline.store import History, Store, database_url
from eval_pipeline_tests.engines.fault_server import FaultServer, fault_server
from eval_pipeline_tests.guessing import (
    CANDIDATE,
    CASES,
    PROMPT,
    VERSION,
    answering,
    ask,
    evaluated,
    freeze,
    furnish,
)
from eval_pipeline_tests.running import Found, checks, command, instance_in, invoke, run_chain

FAULTY = "guess-v2.0"
QUALITY = ("gate_accuracy", "regression")


@pytest.fixture
def server(toy: Project, monkeypatch: pytest.MonkeyPatch) -> Iterator[FaultServer]:
    """An endpoint that answers everything rightly; a prompt may ask it to fail."""
    monkeypatch.setattr("eval_pipeline.engines.metered.FIRST_BACK_OFF", 0.01)
    with fault_server() as running:
        running.retry_after = "0.01"
        furnish(toy, running, trials=1, attempts=2)
        answering(running, lambda prompt, number, times: True)
        yield running


def let_fail(project: Project, fault: str, cases: range) -> None:
    """Add a version that gets a fault for some of the cases."""
    numbers = "|".join(str(number) for number in cases)
    chosen = f"{{% if sound.split('-')[1] in '{numbers}'.split('|') %}}FAULT:{fault}{{% endif %}}"
    text = PROMPT.format(status="candidate", greeting=chosen)
    (project.prompts("toy") / f"{FAULTY}.md").write_text(text)


@pytest.mark.parametrize(
    ("fault", "failing", "kind"),
    [
        ("401", CASES, "denied"),
        ("503", CASES, "server"),
        ("503", CASES // 2, "server"),
        ("429-after", CASES, "rate_limited"),
        ("reset", 1, "connection"),  # 5 % is more than the 1 % that the gate allows
    ],
)
def test_answers_that_never_arrive_make_an_evaluation_incomplete(
    toy: Project, server: FaultServer, fault: str, failing: int, kind: str
) -> None:
    let_fail(toy, fault, range(failing))
    outage = evaluated(toy, ask(toy, FAULTY)).outage
    assert outage is not None
    assert (outage.answers, outage.errors) == (CASES, {kind: failing})
    assert f"{failing} of 20 answers never arrived" in outage.text
    assert re.search(rf"{failing} × {kind} \(case-\d\d: .+\)\. \w", outage.text)


@pytest.mark.parametrize(
    ("fault", "failing", "timeouts"),
    [
        ("not-json", CASES, None),
        ("400", CASES, None),
        ("refusal", CASES, None),
        ("garbage", CASES, None),
        ("408", CASES - 1, None),  # the twentieth is answered
    ],
)
def test_what_an_endpoint_makes_of_a_question_is_quality(
    toy: Project, server: FaultServer, fault: str, failing: int, timeouts: None
) -> None:
    let_fail(toy, fault, range(failing))
    evaluation = evaluated(toy, ask(toy, FAULTY))
    assert evaluation.summary.error_count == failing
    assert evaluation.outage is None


def test_where_no_question_at_all_is_answered_timeouts_are_an_outage(
    toy: Project, server: FaultServer
) -> None:
    let_fail(toy, "408", range(CASES))
    outage = evaluated(toy, ask(toy, FAULTY)).outage
    assert outage is not None
    assert outage.errors == {"timeout": CASES}


def test_errors_in_a_recorded_file_are_quality(toy: Project, server: FaultServer) -> None:
    recorded = toy.root / "recorded.jsonl"
    lines = [{"case_id": f"case-{number:02}", "error": "connection"} for number in range(CASES)]
    recorded.write_text("".join(json.dumps(line) + "\n" for line in lines))
    text = toy.engines_file.read_text()
    entry = "\n  recorded:\n    kind: recorded\n    path: recorded.jsonl\n"
    toy.engines_file.write_text(text.replace("engines:\n", f"engines:{entry}", 1))
    evaluation = evaluated(toy, ask(toy, VERSION, engine="recorded"))
    assert evaluation.summary.errors == {"connection": CASES}
    assert evaluation.outage is None


def test_a_dead_endpoint_through_the_chain_history_alerts_and_releases(
    toy: Project, server: FaultServer
) -> None:
    freeze(toy, ask(toy, VERSION))
    alive = toy.engines_file.read_text()
    dead = alive.replace(server.url, "http://127.0.0.1:9/v1")
    tags = {"dagster/schedule_name": "toy_nightly"}
    with instance_in(toy) as instance, Incidents(database_url(toy)) as incidents:

        def night(name: str, engines: str) -> dict[str, Found]:
            toy.engines_file.write_text(engines)
            result = run_chain(toy, instance, "toy", VERSION, sample=name)
            assert result.success
            instance.add_run_tags(result.run_id, tags)
            return checks(result)

        night("one", alive)
        lost = night("two", dead)
        assert not lost["complete"].passed
        assert lost["complete"].severity.value == "ERROR"
        assert "cannot connect" in lost["complete"].description
        for name in QUALITY:
            assert (lost[name].passed, lost[name].severity.value) == (False, "WARN"), name
            assert "incomplete" in lost[name].description
        assert lost["trend"].passed
        store = Store(toy.state)
        compared = store.compared("toy", VERSION)
        assert compared is not None
        assert compared.comparisons == ()
        assert "# guess-v1.0: ✗ is incomplete" in str(store.report("toy", VERSION))
        look_at_runs(instance, incidents, "")
        quality, outage = sorted(incidents.all(), key=lambda each: each.is_outage)
        assert [each.check for each in outage.findings] == ["complete"]
        assert (quality.subject, outage.subject) == (f"toy {VERSION}", f"outage: toy {VERSION}")
        night("three", alive)
        look_at_runs(instance, incidents, "")
        assert [each.is_outage for each in incidents.all() if each.closed_at is not None] == [True]
        assert quality in incidents.all(), "an outage neither worsens nor heals it"
        assert text_of(incidents.undelivered()[-1])[1].startswith("Answers arrive again")
    with History(database_url(toy)) as history:
        points = history.points("toy")
    assert [point.incomplete for point in points] == [False, True, False]
    assert [point.sample for point in comparable(points, points[-1])] == ["one", "three"]
    shown = invoke(toy, "history", "toy").stdout
    assert shown.count("incomplete") == 1


def test_a_dead_endpoint_at_the_gate_and_at_every_door_behind_it(
    toy: Project, server: FaultServer, tmp_path: Path
) -> None:
    assert invoke(toy, "golden", "freeze", "toy", "--reason", "test").returncode == 0
    freeze(toy, ask(toy, VERSION))
    alive = toy.engines_file.read_text()
    toy.engines_file.write_text(alive.replace(server.url, "http://127.0.0.1:9/v1"))
    files = [tmp_path / name for name in ("summary.md", "junit.xml", "gate.json")]
    options = zip(("--markdown", "--junit", "--json"), files, strict=True)
    gate = command(toy, "gate", "toy", *(part for option in options for part in option))
    cause = "20 of 20 answers never arrived, so there is no verdict on quality. 20 × connection (case-"
    assert gate.returncode == 1, gate.stderr
    assert f"✗ incomplete toy: {VERSION}" in gate.stdout
    assert gate.stdout.count(cause) == 1
    assert "Check the engine's URL" in gate.stdout
    assert "20 × connection" in gate.stderr, "the bar says it, too"
    for word in ("regressed", "fell", "baseline"):
        assert word not in gate.stdout
    summary, junit, data = (file.read_text() for file in files)
    assert summary.startswith("# ✗ Prompt evaluation is incomplete")
    assert "| ✗ incomplete | toy | guess-v1.0 |  | not compared |" in summary
    assert 'failures="1" errors="0"' in junit
    assert cause in junit
    (version,) = json.loads(data)["versions"]
    assert (version["state"], version["comparison"]) == ("incomplete", None)
    assert version["outage"]["errors"] == {"connection": CASES}

    ask(toy, CANDIDATE)
    activated = invoke(toy, "prompt", "activate", "toy", CANDIDATE)
    assert (activated.returncode, cause in activated.stderr) == (1, True)
    toy.engines_file.write_text(alive)
    ask(toy, CANDIDATE)
    promoted = invoke(toy, "baseline", "promote", "toy", VERSION, "--reason", "no")
    assert (promoted.returncode, cause in promoted.stderr) == (1, True)
    assert "approve" not in promoted.stderr
    approved = invoke(toy, "approve", "toy", VERSION, "--metric", "accuracy", "--reason", "no")
    assert (approved.returncode, cause in approved.stderr) == (2, True)
    for sides in ((VERSION, "baseline"), (CANDIDATE, VERSION)):
        compared = invoke(toy, "compare", "toy", "--prompt", sides[0], "--against", sides[1])
        assert (compared.returncode, cause in compared.stderr) == (2, True)


def test_causes_stand_on_the_screen_with_one_raw_example(toy: Project, server: FaultServer) -> None:
    server.answer = lambda prompt: "Certainly!\x1b[2J [red]Here is your animal[/red]: a cat"
    ran = command(toy, "run", "toy")
    assert ran.returncode == 1
    assert "20 × not_json" in ran.stderr
    assert "no errors" not in ran.stderr
    assert re.search(r"20 × not_json \(case-\d\d: .*: Certainly! .*a cat\)\. Ask for JSON", ran.stdout)
    assert "\x1b" not in ran.stdout
