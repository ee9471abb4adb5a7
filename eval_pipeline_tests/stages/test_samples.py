"""Samples of cases: which are drawn, and that nobody takes them for an evaluation."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path
from typing import Any

import dagster as dg
import msgspec
import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from eval_pipeline import frames, stages
from eval_pipeline.answers import CaseSample, OutputsIdentity
from eval_pipeline.asking import Silence
from eval_pipeline.decisions import Refused, decide, objections_to, promote, propose, standings_of
from eval_pipeline.decisions.release import allow_activation
from eval_pipeline.decisions.results import Result
from eval_pipeline.problems import BadInput
from eval_pipeline.project import Project
from eval_pipeline.reports import report
from eval_pipeline.reports.page.shell import unpacked
from eval_pipeline.stages.samples import allocated, chosen_cases
from eval_pipeline.store import AnswerTable, GoldenTable, History, database_url
from eval_pipeline.suites import find_suite, suite_names
from eval_pipeline.suites.decomposition import SUITE
from eval_pipeline_tests.conftest import REPOSITORY
from eval_pipeline_tests.engines.fault_server import FaultServer, fault_server
from eval_pipeline_tests.running import checks, command, instance_in, invoke, run_chain

VERSION = "decompose-concepts-v1.2"


@pytest.mark.parametrize(
    ("sizes", "count", "shares"),
    [
        ({"": 10}, 3, {"": 3}),
        ({"de": 50, "en": 30, "fr": 20}, 10, {"de": 5, "en": 3, "fr": 2}),
        # 7 × 50/100 = 3.5, 7 × 30/100 = 2.1, 7 × 20/100 = 1.4: the seventh goes to the largest remainder.
        ({"de": 50, "en": 30, "fr": 20}, 7, {"de": 4, "en": 2, "fr": 1}),
        # 2/3 each: the two largest remainders are equal, so names decide.
        ({"b": 1, "a": 1, "c": 1}, 2, {"b": 1, "a": 1, "c": 0}),
        # 1.5 and 0.5: equal remainders, and the larger stratum comes first.
        ({"a": 1, "z": 3}, 2, {"a": 0, "z": 2}),
    ],
)
def test_shares_worked_by_hand(sizes: dict[str, int], count: int, shares: dict[str, int]) -> None:
    assert allocated(sizes, count) == shares


SIZES = st.dictionaries(st.text("abc", max_size=3), st.integers(1, 40), min_size=1, max_size=6)


@given(SIZES, st.data())
def test_shares_are_proportional(sizes: dict[str, int], data: st.DataObject) -> None:
    total = sum(sizes.values())
    count = data.draw(st.integers(1, total))
    shares = allocated(sizes, count)
    assert sum(shares.values()) == count
    for stratum, size in sizes.items():
        assert abs(shares[stratum] - Fraction(count * size, total)) < 1
        assert 0 <= shares[stratum] <= size


STRATA = st.dictionaries(st.text(min_size=1, max_size=5), st.sampled_from(["", "de", "en"]), min_size=2)


@given(STRATA, st.integers(), st.randoms(), st.data())
def test_a_draw_rests_on_seed_and_ids_alone(
    strata: dict[str, str], seed: int, chance: Any, data: st.DataObject
) -> None:
    count = data.draw(st.integers(1, len(strata) - 1))
    chosen = chosen_cases(strata, count, seed)
    shuffled = list(strata.items())
    chance.shuffle(shuffled)
    assert chosen_cases(dict(shuffled), count, seed) == chosen
    assert len(chosen) == count
    assert Counter(strata[each] for each in chosen) == Counter(
        {name: share for name, share in allocated(Counter(strata.values()), count).items() if share}
    )


def test_another_seed_draws_other_cases_and_a_larger_draw_holds_the_smaller() -> None:
    strata = dict.fromkeys(map(str, range(200)), "")
    assert chosen_cases(strata, 50, 1) != chosen_cases(strata, 50, 2)
    assert chosen_cases(strata, 50, 1) < chosen_cases(strata, 60, 1)


@pytest.fixture(scope="module")
def golden(tmp_path_factory: pytest.TempPathFactory) -> GoldenTable:
    project = Project(REPOSITORY, tmp_path_factory.mktemp("state"))
    return stages.load_golden(stages.Workbench(project, SUITE)).table


def test_as_many_as_there_are_is_no_sample(golden: GoldenTable) -> None:
    assert stages.draw_cases(golden, None) is golden
    for count in (15, 16, 10**9):
        assert stages.draw_cases(golden, count, "domain", 3) is golden
    drawn = stages.draw_cases(golden, 14)
    assert (drawn.facts.cases, len(list(drawn.cases(SUITE))), len(drawn.hashes("input_hash"))) == (14, 14, 14)
    assert drawn.sample == CaseSample(14, 15)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"cases": 0}, "cases: 0 is no number of cases. Write 1 or more."),
        ({"cases": -3}, "cases: -3 is no number of cases. Write 1 or more."),
        ({"cases": 3, "stratify": "language"}, "no case has the attribute 'language'. Attributes: domain."),
        ({"cases": 99, "stratify": "language"}, "no case has the attribute 'language'. Attributes: domain."),
        ({"cases": None, "stratify": "domain"}, "stratify: there is no sample to draw."),
        ({"cases": None, "seed": 1}, "seed: there is no sample to draw."),
    ],
)
def test_what_cannot_be_drawn(golden: GoldenTable, options: dict[str, Any], message: str) -> None:
    with pytest.raises(BadInput) as raised:
        stages.draw_cases(golden, **options)
    assert message in str(raised.value.problems[0])


@pytest.mark.parametrize("name", suite_names(Project(REPOSITORY, Path())))
def test_every_suite_can_be_sampled(name: str, tmp_path: Path) -> None:
    project = Project(REPOSITORY, tmp_path)
    bench = stages.Workbench(project, find_suite(project, name))
    golden = stages.load_golden(bench).table
    attributes = {name for _, each in golden.attributes() for name in each}
    for attribute in (None, *sorted(attributes)):
        drawn = stages.draw_cases(golden, 5, attribute)
        assert len({case_id for case_id, _, _ in drawn.inputs(bench.suite)}) == 5


def sample_result(project: Project) -> Result:
    """A sample of five cases, evaluated by the stages."""
    bench = stages.Workbench(project, SUITE)
    loaded = stages.load_golden(bench)
    drawn = stages.draw_cases(loaded.table, 5, "domain")
    answers = stages.answer_cases(bench, drawn, VERSION)
    scored = stages.score_answers(bench, loaded.table, answers)
    return Result(bench, loaded, answers, scored, stages.evaluate(bench, scored, answers.costs))


def test_no_decision_rests_on_a_sample(tmp_path: Path) -> None:
    project = Project(REPOSITORY, tmp_path)
    result = sample_result(project)
    outputs, evaluation = result.evaluation.identity.outputs, result.evaluation
    full = msgspec.structs.replace(outputs, case_sample=None)
    assert outputs.id != full.id
    assert b"case_sample" not in msgspec.json.encode(full)
    compared = stages.compare_evaluation(
        result.bench, result.golden.table, result.answers, result.scored, progress=Silence()
    )
    assert [each.shared for each in compared.comparisons] == [5] * len(compared.comparisons)
    assert {each.vanished for each in compared.comparisons} == {()}
    standings = standings_of(project.golden(SUITE.name), compared)
    against = objections_to(result.bench, evaluation, standings)
    words = "a sample of 5 of 15 cases, by domain (seed 0)"
    assert any(each.text.startswith(words) for each in against.holding)
    assert propose(evaluation, standings) is None
    for refused in (lambda: promote(result, standings, "me", "x"), lambda: allow_activation(result)):
        with pytest.raises(Refused, match="never a baseline"):
            refused()
    decision = decide("asked for", evaluation, standings, against)
    assert decision.state == "block"
    assert f"{words} is no evidence; evaluate all cases" in decision.reasons
    text = report(SUITE, evaluation, result.scored.scores, standings, against)
    assert text.startswith(f"# {VERSION} on {words}: ")
    assert stages.evaluations_beside(result.bench, evaluation) == {VERSION: evaluation}


def test_a_sample_is_nobodys_latest(project: Project) -> None:
    with instance_in(project) as instance:
        first = run_chain(project, instance, SUITE.name, VERSION, cases=5, stratify="domain")
        store = stages.Workbench(project, SUITE).store
        assert first.success
        for nothing in (store.outputs, store.scored, store.evaluation, store.compared, store.report):
            assert nothing(SUITE.name, VERSION) is None
        with pytest.raises(BadInput, match="was never evaluated"):
            frames.metrics(SUITE.name, VERSION, project=project)
        _marked(first)
        full = run_chain(project, instance, SUITE.name, VERSION)
        again = run_chain(project, instance, SUITE.name, VERSION, cases=5, seed=1)
        assert full.success
        assert again.success
    latest = store.outputs(SUITE.name, VERSION)
    assert latest is not None
    assert (latest.identity.case_sample, len(latest)) == (None, 15)
    with History(database_url(project)) as history:
        assert [point.cases for point in history.points(SUITE.name)] == [15]
    promoted = invoke(project, "baseline", "promote", SUITE.name, VERSION, "--reason", "x", "--by", "me")
    assert promoted.returncode == 0, promoted.stderr
    kept = json.loads((project.golden(SUITE.name) / "baseline" / "decompose-concepts.json").read_text())
    assert len(kept["cases"]) == 15


def _marked(result: dg.ExecuteInProcessResult) -> None:
    """A sample says so on every check of a version and on every materialization; no number is plotted."""
    words = "a sample of 5 of 15 cases, by domain (seed 0)"
    golden = {"well_formed", "signed_off", "probes", "gates_valid"} | {
        each.name for each in SUITE.requirements
    }
    unmarked = {name for name, each in checks(result).items() if words not in each.description}
    assert unmarked <= golden | {"active_version_passes"}  # which speaks of the latest on all cases
    for event in result.get_asset_materialization_events():
        materialization = event.step_materialization_data.materialization
        stage = materialization.asset_key.path[-1]
        assert ("case_sample" in materialization.metadata) == (stage not in ("golden_set", "active_version"))
        if stage == "metrics":
            assert "overall_index" not in materialization.metadata


@pytest.fixture
def server(project: Project) -> Iterator[FaultServer]:
    with fault_server() as running:
        entry = {"kind": "endpoint", "url": running.url, "model": "m", "trials": 1}
        project.engines_file.write_text(yaml.safe_dump({"default": "e", "engines": {"e": entry}}))
        yield running


def test_asking_the_rest_later_costs_only_the_rest(project: Project, server: FaultServer) -> None:
    def ask(cases: int | None) -> AnswerTable:
        bench = stages.Workbench(project, SUITE)
        golden = stages.load_golden(bench).table
        return stages.answer_cases(bench, stages.draw_cases(golden, cases), VERSION)

    assert len(ask(5)) == server.calls == 5
    assert len(ask(5)) == server.calls == 5
    assert len(ask(None)) == server.calls == 15


def test_the_command_line_marks_a_sample(text_toy: Project) -> None:
    done = command(text_toy, "run", "capitals", "--cases", "3", "--seed", "7", "--json")
    assert done.returncode in (0, 1), done.stderr
    (data,) = json.loads(done.stdout)["evaluations"]
    assert data["case_sample"] == {"cases": 3, "of": 5, "seed": 7}
    assert data["cases"] == 3
    assert any("a sample of 3 of 5 cases (seed 7)" in each["text"] for each in data["objections"])
    page = Path(data["page_path"]).read_text()
    index = unpacked(page.partition('id="data-index">')[2].partition("<")[0])
    assert len(index["id"]) == 3  # nobody looks for answers to what was not asked
    assert "Evaluate all cases:" in page
    refused = invoke(text_toy, "baseline", "promote", "capitals", "name-capital-v1.0", "--reason", "x")
    assert refused.returncode == 2
    assert "was never evaluated on all cases" in refused.stderr
    planned = command(text_toy, "run", "capitals", "--cases", "3", "--dry-run")
    assert "1 trial of 3 cases" in planned.stdout
    wrong = command(text_toy, "run", "capitals", "--cases", "0")
    assert (wrong.returncode, "0 is no number of cases" in wrong.stderr) == (2, True)


def test_the_identity_of_all_cases_is_what_it_was() -> None:
    identity = OutputsIdentity("s", "v", "p", "i", "e", "m", "default", 1)
    assert identity.id == "0a52fb6a344efb227e9046fa19473dc3"
