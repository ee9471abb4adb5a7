"""Two thousand calls with every fault there is, mixed: the run finishes, and no case harms another."""

from __future__ import annotations

import json
import random
from collections import Counter
from collections.abc import Iterator

import pytest

from eval_pipeline import stages
from eval_pipeline.engines import Journal
from eval_pipeline.project import Project
from eval_pipeline.store import database_url
from eval_pipeline.suites.decomposition import SUITE
from eval_pipeline_tests.engines.fault_server import FAULTS, FaultServer, fault_server
from eval_pipeline_tests.engines.test_metered import PROMPT, VERSION, ask, configure, errors, write_cases

SEED = 20_240_607
CASES = 2_000
EACH = 20
FEW = 5
SLOW = ("drip", "silent", "endless", "silentx1", "429", "429-after", "429x1", "429-afterx1", "503-after")
"""They keep others waiting, as they should."""
MALFORMED = (
    "not-http",
    "garbage",
    "truncated-json",
    "wrong-shape",
    "not-object",
    "no-choice",
    "empty-choice",
    "empty-content",
)
UNANSWERED = {
    "429": "rate_limited",
    "429-after": "rate_limited",
    "500": "server",
    "503-after": "server",
    "408": "timeout",
    "drip": "timeout",
    "silent": "timeout",
    "reset": "connection",
    "closed-early": "connection",
    "redirect": "denied",
    "401": "denied",
    "endless": "too_large",
    **dict.fromkeys(MALFORMED, "malformed"),
}
ANSWERED = {"refusal": "refused", "content-filter": "refused", "length": "truncated"}
UNUSABLE = {"schema": "schema", "not-json": "not_json"}
PASSING = (
    "429x1",
    "429-afterx1",
    "500x1",
    "resetx1",
    "closed-earlyx1",
    "garbagex1",
    "not-httpx1",
    "silentx1",
)


def echo(prompt: str) -> str:
    return json.dumps({"concepts": [], "relationships": [], "asked": prompt.strip()})


def mixture() -> dict[str, str]:
    """Cases by id, in an order that is random and always the same; an id tells what is to come of it."""
    every = (*UNANSWERED, *ANSWERED, *UNUSABLE, *PASSING)
    faults = [fault for fault in every for _ in range(FEW if fault in SLOW else EACH)]
    kinds = faults + ["good"] * (CASES - len(faults))
    random.Random(SEED).shuffle(kinds)
    return {
        f"{number:04}.{kind}": f"Text {number}." if kind == "good" else f"FAULT:{kind} in {number}."
        for number, kind in enumerate(kinds)
    }


@pytest.fixture
def server(project: Project, monkeypatch: pytest.MonkeyPatch) -> Iterator[FaultServer]:
    monkeypatch.setattr("eval_pipeline.engines.metered.FIRST_BACK_OFF", 0.05)
    (project.prompts("decomposition") / f"{VERSION}.md").write_text(PROMPT)
    with fault_server(echo) as running:
        running.retry_after = "0.05"
        yield running


def fault_of(case_id: str) -> str:
    return case_id.partition(".")[2]


def test_every_fault_is_in_the_mixture() -> None:
    assert FAULTS.keys() <= UNANSWERED.keys() | ANSWERED.keys() | UNUSABLE.keys()


def test_two_thousand_calls_with_every_fault(project: Project, server: FaultServer) -> None:
    texts = mixture()
    timeouts = {"connect": 3.0, "read": 3.0, "total": 4.0}
    configure(project, server.url, concurrency=100, timeouts=timeouts)
    write_cases(project, texts)
    golden = stages.load_golden(stages.Workbench(project, SUITE)).table
    answers = stages.answer_cases(stages.Workbench(project, SUITE), golden, VERSION)

    found = errors(answers)
    expected = UNANSWERED | ANSWERED
    for case_id, kind in found.items():
        allowed = {expected.get(fault_of(case_id))}
        assert kind in allowed | ({"timeout"} if "endless" in case_id else set()), case_id
    assert found.keys() == {case_id for case_id in texts if fault_of(case_id) in expected}
    for answer in answers:  # each has its own answer, and nobody else's
        if fault_of(answer.case_id) in ("good", *PASSING):
            assert answer.text == echo(texts[answer.case_id])

    scored = stages.score_answers(stages.Workbench(project, SUITE), golden, answers)
    summary = stages.evaluate(stages.Workbench(project, SUITE), scored, answers.costs).summary
    assert summary.errors == Counter(found.values()) + Counter(dict.fromkeys(UNUSABLE.values(), EACH))

    unanswered = {texts[case_id] for case_id in texts if fault_of(case_id) in UNANSWERED}
    with Journal.open(database_url(project)) as journal:
        assert [row.calls for row in journal.stats()] == [CASES - len(unanswered)]
        for prompt, times in server.asked.items():
            assert times <= 3, prompt
        server.asked.clear()
        assert errors(ask(project)).keys() == found.keys()
        assert {prompt.strip() for prompt in server.asked} == unanswered
        assert [(row.calls, row.hits) for row in journal.stats()] == [(CASES - len(unanswered),) * 2]


@pytest.mark.parametrize("fault", ["500", "reset", "silent"])
def test_a_few_cases_in_a_row_that_always_fail_harm_no_other(
    project: Project, server: FaultServer, fault: str
) -> None:
    timeouts = {"connect": 3.0, "read": 0.3, "total": 0.3}
    configure(project, server.url, timeouts=timeouts)
    bad = {f"bad-{number:03}": f"FAULT:{fault} {number}" for number in range(15)}
    good = {f"good-{number:03}": f"Text {number}." for number in range(30)}
    write_cases(project, bad | good)
    kinds = {"500": "server", "reset": "connection", "silent": "timeout"}
    assert errors(ask(project)) == dict.fromkeys(bad, kinds[fault])


def test_an_endpoint_that_turns_everybody_away_is_not_asked_for_ever(
    project: Project, server: FaultServer
) -> None:
    write_cases(project, {f"case-{number:03}": f"FAULT:429 {number}" for number in range(120)})
    configure(project, server.url)
    answers = ask(project)
    assert set(errors(answers).values()) == {"rate_limited"}
    assert len(errors(answers)) == 120
    assert server.calls < 3 * 60
