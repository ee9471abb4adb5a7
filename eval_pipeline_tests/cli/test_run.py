"""`eval-pipeline run --json`: one document, also where nothing could be evaluated."""

from __future__ import annotations

import json
from typing import Any

import pytest

from eval_pipeline.project import Project
from eval_pipeline_tests.conftest import TOY
from eval_pipeline_tests.running import command

V12 = "decompose-concepts-v1.2"


def documented(project: Project, *arguments: str) -> tuple[dict[str, Any], int, str]:
    done = command(project, "run", *arguments, "--json")
    document: dict[str, Any] = json.loads(done.stdout)
    assert document["exit_code"] == done.returncode
    assert document["pass"] == (done.returncode == 0)
    return document, done.returncode, done.stderr


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (("nothing",), "'nothing' is not a suite"),
        (("decomposition", "--prompt", "x"), "'x' is not a version name"),
        (("decomposition", "--trials", "0"), "trials"),
        (("decomposition", "--unknown"), "--unknown"),
        ((), "Missing argument 'SUITE'"),
        (("decomposition", "--engine", "gone"), "'gone' is not an engine"),
    ],
)
def test_bad_input_is_in_the_document_and_on_standard_error(
    project: Project, given: tuple[str, ...], message: str
) -> None:
    document, code, said = documented(project, *given)
    assert code == 2
    assert document["evaluations"] == document["estimates"] == []
    (problem,) = document["problems"]
    assert message in f"{problem['field']} {problem['message']}"
    assert message in said


def test_a_broken_file_is_named_by_place(project: Project) -> None:
    gates = project.golden("decomposition") / "gates.yaml"
    gates.write_text("metrics:\n  nonsense: {}\n")
    document, code, said = documented(project, "decomposition")
    assert code == 2
    problem = document["problems"][0]
    assert problem["file"].endswith("gates.yaml")
    assert problem["line"] == 2
    assert problem["message"] in said


def test_one_broken_suite_does_not_keep_others_out_of_the_document(toy: Project) -> None:
    (toy.own_suites / "broken").mkdir()
    (toy.own_suites / "broken" / "__init__.py").write_text("raise RuntimeError('no')\n")
    name = next(path.name for path in (TOY / "suites").iterdir() if path.is_dir() and path.name[0] != "_")
    document, code, _ = documented(toy, name)
    assert (code, [each["suite"] for each in document["evaluations"]]) == (0, [name])
    assert document["problems"] == []
    (evaluation,) = document["evaluations"]
    assert evaluation["pass"] is True
    assert evaluation["comparisons"] == []


def test_an_embedded_engine_makes_no_call(project: Project) -> None:
    document, code, said = documented(project, "decomposition", "--dry-run")
    assert code == 0
    (estimate,) = document["estimates"]
    assert (estimate["version"], estimate["calls"], estimate["dollars"]) == (V12, 0, 0.0)
    assert (estimate["cases"], estimate["trials"], estimate["answers"]) == (15, 1, 15)
    assert f"{V12}: 1 trial of 15 cases on embedded: no metered call to make" in said
