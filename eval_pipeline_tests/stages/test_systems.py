"""The systems of a suite side by side: as if each were a version's, on what none of them learned from."""

from __future__ import annotations

import pytest

from eval_pipeline.loading import find_suite, shipped_names
from eval_pipeline.project import Project
from eval_pipeline.stages import Workbench, compare_systems, systems_of
from eval_pipeline_tests.running import instance_in, run_chain

SYSTEMS = {
    "heritage_linking": ("exact", "fuzzy"),
    "heritage_ner": ("regex", "gazetteer", "combined"),
    "heritage_qa": ("bm25", "dense"),
    "heritage_retrieval": ("bm25", "dense", "hybrid"),
    "heritage_typing": ("keywords",),
}


def test_suites_say_which_systems_they_have(whole_project: Project) -> None:
    found = {name: systems_of(find_suite(whole_project, name)) for name in shipped_names()}
    assert {name: systems for name, systems in found.items() if systems} == SYSTEMS


@pytest.mark.parametrize("name", SYSTEMS)
def test_every_system_is_scored_on_the_cases_that_were_held_out(whole_project: Project, name: str) -> None:
    suite = find_suite(whole_project, name)
    bench = Workbench(whole_project, suite)
    systems = compare_systems(bench)
    assert tuple(each.name for each in systems) == SYSTEMS[name]
    assert [each.in_use for each in systems].count(True) == 1
    for each in systems:
        assert not each.summary.errors
        assert each.summary.groups["split"].keys() == {"test"}
        assert {gate.metric for gate in each.summary.gates} == bench.gates.keys()


def test_the_system_in_use_has_the_numbers_of_the_active_version(whole_project: Project) -> None:
    suite = find_suite(whole_project, "heritage_typing")
    with instance_in(whole_project) as instance:
        evaluated = run_chain(whole_project, instance, suite.name, "classify-custodian-v1.1")
    metrics = evaluated.output_for_node("heritage_typing__metrics").summary.metrics
    (system,) = compare_systems(Workbench(whole_project, suite))
    assert {name: each.value for name, each in system.summary.metrics.items()} == {
        name: each.value for name, each in metrics.items()
    }


def test_a_suite_without_a_choice_has_no_systems(whole_project: Project) -> None:
    assert compare_systems(Workbench(whole_project, find_suite(whole_project, "review"))) == []
