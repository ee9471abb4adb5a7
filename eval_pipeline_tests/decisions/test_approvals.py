"""Approvals: what they let pass, how visibly, and when they end. Proposals: what an improvement suggests."""

from __future__ import annotations

import datetime
import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from msgspec.structs import replace

from eval_pipeline import stages
from eval_pipeline.decisions import Standing, keep_approval, read_approvals, standing_of
from eval_pipeline.decisions.approvals import approvals_of
from eval_pipeline.project import Project
from eval_pipeline.store import Proposal, Store
from eval_pipeline_tests.engines.fault_server import FaultServer, fault_server
from eval_pipeline_tests.guessing import CANDIDATE, VERSION, answering, ask, freeze, furnish, toy_suite
from eval_pipeline_tests.running import checks, instance_in, invoke, run_chain


@pytest.fixture
def worse(toy: Project) -> Iterator[FaultServer]:
    """A toy whose candidate is right in 12 cases of 20, where the baseline is in all of them."""
    with fault_server() as server:
        furnish(toy, server, trials=1)
        answering(server, lambda prompt, number, times: VERSION in prompt or number < 12)
        freeze(toy, ask(toy, VERSION))
        ask(toy, CANDIDATE)
        assert invoke(toy, "golden", "freeze", "toy", "--reason", "reviewed").returncode == 0
        yield server


def approve(project: Project, *more: str, metric: str = "accuracy") -> Path:
    """Approve the candidate's accuracy; where the approval is."""
    given = ("--metric", metric, "--reason", "the mice are fewer", "--by", "Ada", *more)
    done = invoke(project, "approve", "toy", CANDIDATE, *given)
    assert done.returncode == 0, done.stderr
    files = (project.golden("toy") / "approvals").glob("*.json")
    return max(files, key=lambda file: file.stat().st_mtime_ns)


def compared(project: Project) -> Standing:
    store, suite = Store(project.state), toy_suite(project)
    golden = stages.load_golden(stages.Workbench(project, suite)).table
    answers = store.outputs("toy", CANDIDATE)
    assert answers is not None
    found = stages.compare_with_baseline(stages.Workbench(project, suite), golden, answers)
    assert found is not None
    return standing_of(project.golden("toy"), found)


def test_the_way_of_a_regression_that_somebody_approves(toy: Project, worse: FaultServer) -> None:
    """It is worse than the baseline, and than the version in use, which was asked another time."""
    freeze(toy, ask(toy, VERSION, sample="old"))
    blocked = invoke(toy, "compare", "toy", "--prompt", CANDIDATE)
    assert blocked.returncode == 1
    assert "regressed; block." in blocked.stdout
    for arguments in (
        ("baseline", "promote", "toy", CANDIDATE, "--reason", "x"),
        ("prompt", "activate", "toy", CANDIDATE),
    ):
        refused = invoke(toy, *arguments)
        assert refused.returncode == 1
        for against in ("", f" --against {VERSION}"):
            accept = f"eval-pipeline approve toy {CANDIDATE}{against} --metric accuracy --reason …"
            assert accept in refused.stderr

    file = approve(toy)
    written = json.loads(file.read_text())
    assert (written["approved_by"], written["metrics"]) == ("Ada", ["accuracy"])
    assert (written["before"]["version"], written["after"]["version"]) == (VERSION, CANDIDATE)

    passed = invoke(toy, "compare", "toy", "--prompt", CANDIDATE, "--json")
    report = json.loads(passed.stdout)
    assert (passed.returncode, report["approved"], report["stops"]) == (0, True, False)
    assert (report["verdict"], report["action"]) == ("regressed", "block")  # the numbers are what they are
    today = datetime.datetime.now(datetime.UTC).date()
    told = f"accuracy approved by Ada on {today} until {today + datetime.timedelta(30)}: the mice are fewer."
    assert told in report["conclusion"]
    assert report["conclusion"].startswith(f"regressed; approved. {report['sentence']}")

    also = invoke(toy, "prompt", "activate", "toy", CANDIDATE)
    assert also.returncode == 1
    assert f"against {VERSION} (in use): regressed; block. " in also.stderr
    assert "against baseline" not in also.stderr
    run = invoke(toy, "run", "toy", "--prompt", CANDIDATE)
    assert run.returncode == 1
    assert f"✗ against {VERSION} (in use): regressed; block. " in run.stdout
    assert f"✓ approved: against baseline {VERSION}: regressed; approved. " in run.stdout
    written = json.loads(approve(toy, "--against", VERSION).read_text())
    assert (written["against"], written["before"]["sample"]) == (f"{VERSION} (in use)", "default")
    assert invoke(toy, "prompt", "activate", "toy", CANDIDATE).returncode == 0
    gate = invoke(toy, "gate", "toy", "--markdown", "gate.md", "--junit", "gate.xml")
    assert gate.returncode == 0, gate.stdout
    assert f"✓ approved toy: {CANDIDATE}" in gate.stdout
    assert told in gate.stdout
    assert "passes, by approval" in (toy.root / "gate.md").read_text()
    assert "approved by Ada" in (toy.root / "gate.xml").read_text()
    assert invoke(toy, "baseline", "promote", "toy", CANDIDATE, "--reason", "agreed").returncode == 0
    assert compared(toy).comparison.verdict == "identical"


def test_the_check_passes_as_approved_and_the_command_line_says_so(toy: Project, worse: FaultServer) -> None:
    approve(toy, "--days", "3")
    with instance_in(toy) as instance:
        result = run_chain(toy, instance, "toy", CANDIDATE)
    found = checks(result)["regression"]
    assert found.passed
    assert "regressed; approved." in found.description
    assert "approved by Ada" in found.description
    assert "approved by Ada" in result.output_for_node("toy__report").text
    run = invoke(toy, "run", "toy", "--prompt", CANDIDATE)
    assert run.returncode == 0, run.stdout
    assert "regressed; approved." in run.stdout
    listed = invoke(toy, "approve", "--list", "toy")
    assert (
        "guess-v1.1 against baseline guess-v1.0 (in use) (not expired): accuracy approved by Ada"
        in listed.stdout
    )


def test_an_approval_ends_with_the_comparison_it_was_given_for(toy: Project, worse: FaultServer) -> None:
    approve(toy)
    assert compared(toy).approved
    gates = toy.golden("toy") / "gates.yaml"
    before = gates.read_text()
    gates.write_text(before.replace("investigate: 0.01", "investigate: 0.02"))
    assert compared(toy).stops
    gates.write_text(before)
    assert compared(toy).approved
    ask(toy, CANDIDATE, sample="tomorrow")
    assert compared(toy).stops  # other answers, though of the same prompt
    ask(toy, CANDIDATE)
    assert compared(toy).approved
    freeze(toy, ask(toy, VERSION, sample="another"))
    assert compared(toy).stops  # another baseline, though with the same numbers


def test_numbers_that_differ_are_not_what_was_approved(toy: Project, worse: FaultServer) -> None:
    """The same identity on a machine that had to ask again: its answers are others."""
    approve(toy)
    answering(worse, lambda prompt, number, times: VERSION in prompt or number < 11)
    (toy.state / "journal.sqlite").unlink()
    ask(toy, CANDIDATE)
    assert compared(toy).stops


def test_an_approval_expires(toy: Project, worse: FaultServer) -> None:
    file = approve(toy, "--days", "1")
    (approval,) = read_approvals(toy.golden("toy"))
    given = datetime.datetime.fromisoformat(approval.approved_at)
    end, golden = given + datetime.timedelta(days=1), toy.golden("toy")
    assert approvals_of(golden, approval.result, end - datetime.timedelta(seconds=1)) == (approval,)
    assert approvals_of(golden, approval.result, end) == ()
    file.unlink()
    keep_approval(golden, replace(approval, expires_at="2020-01-01T00:00:00+00:00"))
    assert compared(toy).stops
    assert "(expired)" in invoke(toy, "approve", "toy", "--list").stdout


def test_an_approval_that_was_edited_by_hand_is_refused(toy: Project, worse: FaultServer) -> None:
    file = approve(toy)
    edits = {
        "metrics": ["accuracy", "hint_rate"],
        "expires_at": "2999-01-01T00:00:00+00:00",
        "version": "x-v1.0",
    }
    written = file.read_text()
    for field, value in edits.items():
        file.write_text(json.dumps(json.loads(written) | {field: value}))
        done = invoke(toy, "compare", "toy", "--prompt", CANDIDATE)
        assert done.returncode == 2
        assert "is not what was approved" in done.stderr
    # Neither other white space nor a byte order mark says anything else.
    file.write_text(json.dumps(json.loads(written)), encoding="utf-8-sig")
    assert not compared(toy).stops


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        ((), "VERSION: is missing"),
        ((CANDIDATE,), "--reason: is blank"),
        ((CANDIDATE, "--reason", "  "), "--reason: is blank"),
        ((CANDIDATE, "--reason", "x"), "--metric: is missing. To approve there is: accuracy."),
        ((CANDIDATE, "--reason", "x", "--metric", "hint_rate"), "hint_rate needs no approval here"),
        ((CANDIDATE, "--reason", "x", "--metric", "accuracy", "--days", "0"), "0 is not in the range"),
        ((VERSION, "--reason", "x", "--metric", "accuracy"), "accuracy needs no approval here"),
        (("guess-v7.0", "--reason", "x", "--metric", "accuracy"), "does not exist"),
    ],
)
def test_what_cannot_be_approved_is_said(
    toy: Project, worse: FaultServer, arguments: tuple[str, ...], told: str
) -> None:
    done = invoke(toy, "approve", "toy", *arguments)
    assert done.returncode == 2
    assert told in done.stderr
    assert not (toy.golden("toy") / "approvals").exists()


@pytest.mark.parametrize("content", ["{", '{"suite": "toy"}', "[]"])
def test_a_broken_approval_is_named_and_approves_nothing(
    toy: Project, worse: FaultServer, content: str
) -> None:
    file = approve(toy)
    if content == "[]":
        content = file.read_text().replace("+00:00", "")
    file.write_text(content)
    done = invoke(toy, "compare", "toy", "--prompt", CANDIDATE)
    assert done.returncode == 2
    assert file.name in done.stderr


def test_a_failing_gate_without_a_baseline_can_be_approved(toy: Project, worse: FaultServer) -> None:
    for file in (toy.golden("toy") / "baseline").iterdir():
        file.unlink()
    answering(worse, lambda prompt, number, times: number < 4)
    for version in (VERSION, CANDIDATE):
        ask(toy, version, sample="low")
    promote = ("baseline", "promote", "toy", CANDIDATE, "--reason", "a floor to climb from")
    refused = invoke(toy, *promote)
    assert refused.returncode == 1
    assert "accuracy: 20.0 % is in the fail zone" in refused.stderr
    approve(toy)
    assert invoke(toy, *promote).returncode == 0


def test_a_deep_fall_that_may_be_chance_is_not_built_upon(toy: Project, worse: FaultServer) -> None:
    answering(worse, lambda prompt, number, times: number not in (7, 9))
    for version in (VERSION, CANDIDATE):
        ask(toy, version, sample="unlucky")
    found = compared(toy)
    assert (found.comparison.verdict, found.action, found.stops) == ("inconclusive", "investigate", False)
    assert found.undecided == ["accuracy"]
    assert invoke(toy, "compare", "toy", "--prompt", CANDIDATE).returncode == 0
    promote = ("baseline", "promote", "toy", CANDIDATE, "--reason", "x")
    assert invoke(toy, *promote).returncode == 1
    approve(toy)
    assert invoke(toy, *promote).returncode == 0


def test_an_improvement_proposes_itself_until_somebody_decides(toy: Project, worse: FaultServer) -> None:
    answering(worse, lambda prompt, number, times: VERSION not in prompt or number < 12)
    freeze(toy, ask(toy, VERSION, sample="low"))
    baseline = (toy.golden("toy") / "baseline" / "guess.json").read_bytes()
    with instance_in(toy) as instance:
        result = run_chain(toy, instance, "toy", CANDIDATE, sample="high")
    accept = f"eval-pipeline baseline promote toy {CANDIDATE} --reason …"
    (proposal,) = Store(toy.state).proposals("toy")
    assert accept in proposal.text
    (event,) = result.asset_materializations_for_node("toy__baseline_comparison")
    assert event.metadata["proposal"].value == proposal.text
    assert "To make it the baseline" in result.output_for_node("toy__report").text
    assert accept in invoke(toy, "baseline", "show", "toy").stdout
    assert_it_dies_with_its_grounds(toy, proposal)
    assert (toy.golden("toy") / "baseline" / "guess.json").read_bytes() == baseline  # nothing moved by itself
    assert invoke(toy, "baseline", "promote", "toy", CANDIDATE, "--reason", "yes").returncode == 0
    assert Store(toy.state).proposals("toy") == []


def assert_it_dies_with_its_grounds(toy: Project, proposal: Proposal) -> None:
    """With a prompt that changed or is gone, a newer evaluation, or a newer baseline."""
    file, store = toy.prompts("toy") / f"{CANDIDATE}.md", Store(toy.state)
    text = file.read_text()
    changed, deleted = (lambda: file.write_text(text + "And why?")), file.unlink
    for made, change in (
        (proposal, changed),
        (proposal, deleted),
        (replace(proposal, evaluation="an older one"), str),
        (replace(proposal, baseline="an older one"), str),
    ):
        store.keep_proposal("toy", CANDIDATE, made)
        change()
        assert "Proposal" not in invoke(toy, "baseline", "show", "toy").stdout
        assert store.proposals("toy") == []
        file.write_text(text)
    store.keep_proposal("toy", CANDIDATE, proposal)
    assert proposal.text in invoke(toy, "baseline", "show", "toy").stdout


def test_nothing_is_proposed_or_passes_unseen_where_what_is_in_use_cannot_be_had(
    toy: Project, worse: FaultServer
) -> None:
    answering(worse, lambda prompt, number, times: VERSION not in prompt or number < 12)
    freeze(toy, ask(toy, VERSION, sample="low"))
    file = toy.prompts("toy") / f"{VERSION}.md"
    text = file.read_text()
    file.write_text("no front matter")
    run = invoke(toy, "run", "toy", "--prompt", CANDIDATE, "--sample", "high")
    assert run.returncode == 1, run.stderr
    told = f"not compared with what it would replace: prompts/toy/{VERSION}.md:1: has no front matter."
    assert f"✗ {told}" in run.stdout
    assert Store(toy.state).proposals("toy") == []
    assert told in (Store(toy.state).report("toy", CANDIDATE) or "").replace("&#46;", ".")
    done = invoke(toy, "approve", "toy", CANDIDATE, "--metric", "replaced", "--reason", "it is broken anyway")
    assert done.returncode == 0, done.stderr
    promote = ("baseline", "promote", "toy", CANDIDATE, "--reason", "better")
    assert invoke(toy, *promote).returncode == 0
    file.write_text(text)
