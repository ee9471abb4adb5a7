"""What the launchpad offers: engines to choose from, defaults that are shown, words that explain."""

from __future__ import annotations

from typing import Any

import dagster as dg
import pytest

from eval_pipeline.orchestration import Place, evaluation_job
from eval_pipeline.orchestration.configuration import AS_CONFIGURED, evaluation_schema
from eval_pipeline.project import Project
from eval_pipeline.suites import find_suite, suite_names


def fields(project: Project, suite: str) -> dict[str, dg.Field]:
    return evaluation_schema(Place(find_suite(project, suite)), project)


def choices(field: dg.Field) -> list[str]:
    return [value.config_value for value in field.config_type.enum_values]  # type: ignore[attr-defined]


def test_every_suite_offers_the_engines_that_can_answer() -> None:
    project = Project.find()
    for suite in suite_names(project):
        offered = fields(project, suite)
        assert choices(offered["engine"]) == [AS_CONFIGURED, "embedded", "recorded", "local"], suite
        assert "embedded: The suite's own deterministic" in str(offered["engine"].description)
        assert {name: each.default_value for name, each in offered.items()} == {
            "engine": AS_CONFIGURED,
            "trials": AS_CONFIGURED,
            "sample": "default",
            "cases": None,
            "stratify": AS_CONFIGURED,
            "seed": 0,
        }


def test_a_suite_without_an_embedded_engine_does_not_offer_it(text_toy: Project) -> None:
    (suite,) = text_toy.own_suites.iterdir()
    assert "embedded" not in choices(fields(text_toy, suite.name)["engine"])


def test_a_file_of_engines_with_problems_leaves_the_choice_open(toy: Project) -> None:
    toy.engines_file.write_text("default: nothing\nengines: {}\n")
    assert fields(toy, "toy")["engine"].config_type.given_name == "String"


@pytest.mark.parametrize(
    ("config", "valid"),
    [
        ({}, True),
        ({"engine": "embedded", "trials": 3, "sample": "mine"}, True),
        ({"engine": AS_CONFIGURED, "trials": {"min": 1, "max": 5}}, True),
        ({"trials": "1-5"}, True),
        ({"engine": "nonsense"}, False),
        ({"sample": 3}, False),
    ],
)
def test_what_can_be_chosen_is_checked_before_a_run(
    toy: Project, config: dict[str, Any], valid: bool
) -> None:
    from eval_pipeline.definitions import build_definitions

    job = build_definitions(toy).resolve_job_def(evaluation_job("toy"))
    given = {"ops": {"toy__model_outputs": {"config": config}}}
    if valid:
        assert dg.validate_run_config(job, given)
    else:
        with pytest.raises(dg.DagsterInvalidConfigError):
            dg.validate_run_config(job, given)
