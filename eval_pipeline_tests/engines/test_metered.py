"""Metered engines through the real stages: nothing is paid for twice, nothing hangs, nothing is lost."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Iterator
from multiprocessing.process import BaseProcess
from typing import Any

import dagster as dg
import pytest
import yaml

from eval_pipeline import stages
from eval_pipeline.asking import Silence
from eval_pipeline.engines import MeteredEngine
from eval_pipeline.engines.budget import Purse
from eval_pipeline.engines.calls import NotAsked
from eval_pipeline.engines.fields import Budget
from eval_pipeline.project import Project
from eval_pipeline.store import AnswerTable
from eval_pipeline.suites.decomposition import SUITE
from eval_pipeline_tests.engines.fault_server import FaultServer, fault_server
from eval_pipeline_tests.running import begin, command, command_line, ended, instance_in

VERSION = "echo-v1.0"
PROMPT = "---\nsuite: decomposition\nstatus: active\n---\n{{ source_text }}\n"
SECRET = "sk-very-secret-key"


def entry(text: str, name: str) -> dict[str, Any]:
    return {"id": name, "domain": "social", "sourceText": text, "expectedConcepts": [{"label": "Fair trade"}]}


def write_cases(project: Project, texts: dict[str, str]) -> None:
    """Make these the only cases of the project's golden set."""
    cases = project.golden("decomposition") / "cases"
    for file in cases.iterdir():
        file.unlink()
    lines = (json.dumps(entry(text, name)) + "\n" for name, text in texts.items())
    (cases / "cases.jsonl").write_text("".join(lines))


def configure(project: Project, url: str, **options: Any) -> None:
    """Give the project one metered engine."""
    given = {"kind": "endpoint", "url": url, "model": "m", "trials": 1, "attempts": 3, **options}
    timeouts = {"connect": 2.0, "read": 2.0, "total": 2.0}
    entries = {"default": "remote", "engines": {"remote": {"timeouts": timeouts, **given}}}
    project.engines_file.write_text(yaml.safe_dump(entries))


@pytest.fixture
def server(project: Project, monkeypatch: pytest.MonkeyPatch) -> Iterator[FaultServer]:
    """A project with five cases whose only engine is a server on loopback."""
    monkeypatch.setattr("eval_pipeline.engines.metered.FIRST_BACK_OFF", 0.01)
    (project.prompts("decomposition") / f"{VERSION}.md").write_text(PROMPT)
    write_cases(project, {f"case-{number}": f"Text {number}." for number in range(5)})
    with fault_server() as running:
        configure(project, running.url)
        yield running


def ask(project: Project, **options: Any) -> AnswerTable:
    """Ask everything."""
    golden = stages.load_golden(stages.Workbench(project, SUITE)).table
    return stages.answer_cases(stages.Workbench(project, SUITE), golden, VERSION, **options)


def errors(answers: AnswerTable) -> dict[str, str]:
    return {answer.case_id: answer.error for answer in answers if answer.error is not None}


def test_an_unchanged_run_calls_nothing(project: Project, server: FaultServer) -> None:
    first = list(ask(project))
    assert server.calls == 5
    assert list(ask(project)) == first
    assert server.calls == 5


def test_only_what_changed_is_asked_again(project: Project, server: FaultServer) -> None:
    ask(project, trials=2)
    assert server.calls == 10
    write_cases(
        project, {f"case-{number}": f"Text {number}{'!' if number == 3 else '.'}" for number in range(5)}
    )
    ask(project, trials=2)
    assert server.calls == 12
    ask(project, trials=3)
    assert server.calls == 17
    ask(project, sample="tonight")
    assert server.calls == 22


@pytest.mark.parametrize(
    "change",
    [
        {"temperature": 0.5},
        {"model": "n"},
        {"seed": 1},
        {"structured_output": False},
        {"extra_body": {"top_p": 0.1}},
    ],
)
def test_another_question_is_never_answered_from_the_journal(
    project: Project, server: FaultServer, change: dict[str, Any]
) -> None:
    ask(project)
    configure(project, server.url, **change)
    ask(project)
    assert server.calls == 10


def test_the_query_of_a_url_is_part_of_the_question(project: Project, server: FaultServer) -> None:
    configure(project, f"{server.url}?api-version=1")
    ask(project)
    ask(project)
    assert server.calls == 5
    configure(project, f"{server.url}?api-version=2")
    ask(project)
    assert server.calls == 10


def test_another_word_in_the_prompt_is_another_question(project: Project, server: FaultServer) -> None:
    ask(project)
    file = project.prompts("decomposition") / f"{VERSION}.md"
    file.write_text(PROMPT.replace("{{ source_text }}", "{{ source_text }} "))
    ask(project)
    assert server.calls == 10
    file.write_text(PROMPT.replace("status: active", "status: candidate"))
    ask(project)
    assert server.calls == 10


@pytest.mark.parametrize(
    ("fault", "kind", "calls"),
    [
        ("429", "rate_limited", 3),
        ("429-after", "rate_limited", 3),
        ("500", "server", 3),
        ("reset", "connection", 3),
        ("garbage", "malformed", 3),
        ("truncated-json", "malformed", 3),
        ("empty-choice", "malformed", 3),
        ("endless", "too_large", 1),
        ("401", "denied", 1),
        ("500x2", None, 3),
        ("resetx1", None, 2),
    ],
)
def test_faults_are_retried_or_counted_and_harm_nobody_else(
    project: Project, server: FaultServer, fault: str, kind: str | None, calls: int
) -> None:
    server.retry_after = "0"
    # A busy machine is slow to connect, which is another fault.
    configure(project, server.url, timeouts=dict.fromkeys(("connect", "read", "total"), 10.0))
    write_cases(project, {"bad": f"FAULT:{fault}", "good": "Fine.", "fine": "Good."})
    assert errors(ask(project)) == ({"bad": kind} if kind else {})
    assert server.calls == calls + 2
    server.asked.clear()
    ask(project)  # what failed is asked again, what was answered is not
    assert server.calls == (calls * 2 if kind else calls) + 2


def test_calls_that_never_end_are_given_up_and_harm_nobody_else(
    project: Project, server: FaultServer
) -> None:
    configure(project, server.url, timeouts=dict.fromkeys(("connect", "read", "total"), 1.5))
    write_cases(project, {"silent": "FAULT:silent", "drip": "FAULT:drip", "good": "Fine.", "fine": "Good."})
    assert errors(ask(project)) == {"silent": "timeout", "drip": "timeout"}
    assert server.asked == {"FAULT:silent": 3, "FAULT:drip": 3, "Fine.": 1, "Good.": 1}
    ask(project)  # what failed is asked again, what was answered is not
    assert server.asked == {"FAULT:silent": 6, "FAULT:drip": 6, "Fine.": 1, "Good.": 1}


def test_what_was_withheld_is_paid_for_once_and_counted(project: Project, server: FaultServer) -> None:
    configure(project, server.url, prices={"prompt": 1.0, "completion": 1.0})
    write_cases(project, {"no": "FAULT:refusal", "filter": "FAULT:content-filter", "long": "FAULT:length"})
    for _ in range(2):
        answers = ask(project)
        assert errors(answers) == {"no": "refused", "filter": "refused", "long": "truncated"}
        assert all(answer.cost_usd for answer in answers)
    assert server.calls == 3


def test_what_cannot_be_parsed_is_kept_and_scored_as_an_error(project: Project, server: FaultServer) -> None:
    write_cases(project, {"prose": "FAULT:not-json", "shape": "FAULT:schema", "good": "Fine."})
    golden = stages.load_golden(stages.Workbench(project, SUITE)).table
    for _ in range(2):
        answers = stages.answer_cases(stages.Workbench(project, SUITE), golden, VERSION)
        scored = stages.score_answers(stages.Workbench(project, SUITE), golden, answers)
        summary = stages.evaluate(stages.Workbench(project, SUITE), scored, answers.costs).summary
        assert summary.errors == {"not_json": 1, "schema": 1}
    assert server.calls == 3


def test_a_dead_endpoint_fails_the_rest_fast(project: Project, server: FaultServer) -> None:
    write_cases(project, {f"case-{number:03}": "FAULT:reset" for number in range(200)})
    answers = ask(project)
    assert set(errors(answers).values()) == {"connection"}
    assert len(errors(answers)) == 200
    assert server.calls < 60


def test_a_budget_stops_cleanly_and_the_next_run_goes_on(project: Project, server: FaultServer) -> None:
    configure(project, server.url, budget={"calls": 2}, concurrency=1)
    assert sorted(errors(ask(project)).values()) == ["budget"] * 3
    assert sorted(errors(ask(project)).values()) == ["budget"]
    assert errors(ask(project)) == {}
    assert server.calls == 5


def test_costs_and_tokens_come_with_the_answer(project: Project, server: FaultServer) -> None:
    configure(project, server.url, prices={"prompt": 1.0, "completion": 2.0})
    answer = next(iter(ask(project)))
    assert isinstance(answer.tokens, dict)
    expected = (answer.tokens["prompt"] + 2 * answer.tokens["completion"]) / 1e6
    assert answer.cost_usd == pytest.approx(expected)
    assert answer.latency_ms is not None


def test_a_dry_run_counts_what_is_missing(project: Project, server: FaultServer) -> None:
    configure(project, server.url, prices={"prompt": 1.0, "completion": 2.0}, max_tokens=100)
    dry = ("run", "decomposition", "--prompt", VERSION, "--dry-run", "--trials", "2")
    said = command(project, *dry)
    size = f"{VERSION}: 2 trials of 5 cases on remote: "
    assert f"{size}10 calls to make, about " in said.stdout, said.stderr
    assert "at most 100 × 10 = 1,000 output tokens, at most $0.00" in said.stdout
    ask(project)
    said = command(project, *dry)
    assert f"{size}5 calls to make, 5 answers known, about " in said.stdout, said.stderr
    ask(project, trials=2)
    assert f"{size}no call to make, every answer is known\n" in command(project, *dry).stdout
    assert server.calls == 10


def test_tokens_are_estimated_from_what_was_counted_before(project: Project, server: FaultServer) -> None:
    """The server counts characters, four times as many as there are tokens."""
    configure(project, server.url, prices={"prompt": 1.0, "completion": 2.0})

    def estimated(*more: str) -> dict[str, Any]:
        given = ("run", "decomposition", "--prompt", VERSION, "--trials", "2", "--dry-run", "--json", *more)
        (found,) = json.loads(command(project, *given).stdout)["estimates"]
        return dict(found)

    before = estimated()
    assert (before["output_tokens"], before["dollars"]) == (None, None)  # nothing limits an answer
    used = [answer.tokens for answer in ask(project) if isinstance(answer.tokens, dict)]
    prompt, completion = (sum(each[name] for each in used) for name in ("prompt", "completion"))
    after = estimated()
    assert (after["calls"], after["input_tokens"], after["output_tokens"]) == (5, prompt, completion)
    assert after["dollars"] == pytest.approx((prompt + 2 * completion) / 1e6)
    anew = estimated("--sample", "again")
    assert (anew["calls"], anew["input_tokens"], anew["output_tokens"]) == (10, 2 * prompt, 2 * completion)
    configure(project, server.url)
    assert estimated("--sample", "again")["dollars"] is None


def test_what_is_going_to_be_asked_is_said_first(project: Project, server: FaultServer) -> None:
    plans: list[tuple[str, int]] = []

    class Watching(Silence):
        def announce(self, plan: str) -> None:
            plans.append((plan, server.calls))

    ask(project, trials=3, progress=Watching())
    ((plan, calls),) = plans
    assert plan.startswith(f"{VERSION}: 3 trials of 5 cases on remote: 15 calls to make, about ")
    assert plan.endswith(
        "output tokens unknown (no max_tokens, no earlier answer), cost unknown (no prices in engines.yaml)"
    )
    assert calls == 0
    done = command(project, "run", "decomposition", "--prompt", VERSION, "--trials", "3")
    assert f"{VERSION}: 3 trials of 5 cases on remote: no call to make, every answer is known" in done.stderr
    assert "Cost: unknown, " in done.stdout
    stats = command(project, "journal", "stats", "--json")
    assert [row["dollars"] for row in json.loads(stats.stdout)] == [None]
    assert "15 calls for an unknown cost" in command(project, "journal", "stats").stdout


def test_a_cost_is_unknown_where_no_token_was_counted(project: Project, server: FaultServer) -> None:
    engine = stages.prepare_asking(stages.Workbench(project, SUITE), VERSION).engine
    assert isinstance(engine, MeteredEngine)
    assert engine.cost(1000, 1000) is None
    configure(project, server.url, prices={"prompt": 1.0, "completion": 2.0})
    engine = stages.prepare_asking(stages.Workbench(project, SUITE), VERSION).engine
    assert isinstance(engine, MeteredEngine)
    assert engine.cost(1000, 1000) == pytest.approx(0.003)
    assert engine.cost(1000, None) is engine.cost(None, 1000) is None


def run_in_background(project: Project) -> BaseProcess:
    return begin(project, command_line, "run", "decomposition", "--prompt", VERSION)


def test_two_runs_at_once_make_each_call_once(project: Project, server: FaultServer) -> None:
    server.delay = 0.05
    write_cases(project, {f"case-{number:03}": f"Text {number}." for number in range(150)})
    both = [run_in_background(project) for _ in range(2)]
    assert {ended(process) for process in both} <= {0, 1}
    assert server.calls == 150
    assert max(server.asked.values()) == 1


def test_a_killed_run_loses_no_answer(project: Project, server: FaultServer) -> None:
    server.delay = 0.05
    configure(project, server.url, concurrency=4)
    write_cases(project, {f"case-{number:03}": f"Text {number}." for number in range(150)})
    process = run_in_background(project)
    while server.calls < 60 and process.is_alive():
        time.sleep(0.01)
    process.kill()
    process.join()
    before = server.calls
    assert 60 <= before < 150
    assert errors(ask(project)) == {}
    assert server.calls <= 150 + 4  # only what was under way is asked again


def test_a_killed_run_does_not_seem_to_go_on(project: Project, server: FaultServer) -> None:
    write_cases(project, {"case": "FAULT:silent"})
    configure(project, server.url, timeouts={"read": 60.0, "total": 60.0})
    process = run_in_background(project)
    while not server.calls and process.is_alive():
        time.sleep(0.01)
    process.kill()
    process.join()
    configure(project, server.url)
    write_cases(project, {"case": "Fine."})
    assert command(project, "run", "decomposition", "--prompt", VERSION).returncode in (0, 1)
    with instance_in(project) as instance:
        killed = [run for run in instance.get_runs() if run.status is not dg.DagsterRunStatus.SUCCESS]
        assert [run.status for run in killed] == [dg.DagsterRunStatus.FAILURE]
        assert any("was killed" in str(event.message) for event in instance.all_logs(killed[0].run_id))


def test_a_budget_can_be_spent_in_several_loops() -> None:
    purse = Purse(Budget(tokens=250))
    spent: list[str] = []

    async def spend() -> None:
        try:
            async with purse.setting_aside(100, 0.0) as spending:
                await asyncio.sleep(0.01)
                spending.came_to(100, 0.0)
                spent.append("spent")
        except NotAsked:
            spent.append("refused")

    async def spend_at_once() -> None:
        purse.begin()
        await asyncio.gather(*(spend() for _ in range(3)))

    for _ in range(2):
        asyncio.run(spend_at_once())
    assert sorted(spent) == ["refused"] * 4 + ["spent"] * 2


def test_the_key_appears_nowhere(
    project: Project, server: FaultServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("REMOTE_KEY", SECRET)
    monkeypatch.setenv("GATEWAY_KEY", "pass-in-header")
    server.answer = lambda prompt: f"You sent {SECRET} and pass-in-header."
    headers = {"X-Gateway": "GATEWAY_KEY"}
    configure(project, server.url, key_variable="REMOTE_KEY", header_variables=headers, attempts=1)
    write_cases(project, {"bad": "FAULT:401", "worse": "FAULT:500", "good": "Fine."})
    done = command(project, "run", "decomposition", "--prompt", VERSION)
    assert server.requests[0].headers["Authorization"] == f"Bearer {SECRET}"
    found = [
        file
        for file in (*project.state.rglob("*"), *project.golden("decomposition").rglob("*"))
        if file.is_file() and (SECRET.encode() in file.read_bytes() or b"pass-in-header" in file.read_bytes())
    ]
    assert found == []
    assert SECRET not in done.stdout + done.stderr
    assert "pass-in-header" not in done.stdout + done.stderr


def test_a_key_that_is_not_there_is_a_problem(project: Project, server: FaultServer) -> None:
    configure(project, server.url, key_variable="NO_SUCH_KEY")
    done = command(project, "run", "decomposition", "--prompt", VERSION)
    assert done.returncode == 2
    assert "Set the environment variable NO_SUCH_KEY." in done.stderr
