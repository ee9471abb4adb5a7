"""`eval-pipeline schema`: what editors complete and check by is what the program accepts."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import jsonschema
import msgspec
import pytest
import yaml

from eval_pipeline.cli.schema import schemas
from eval_pipeline.loading import load_suites, suite_names
from eval_pipeline.project import Project
from eval_pipeline.prompts import versions_in
from eval_pipeline_tests.conftest import REPOSITORY
from eval_pipeline_tests.running import invoke

SHIPPED = Project(REPOSITORY, REPOSITORY / ".eval")
SUITES = load_suites(SHIPPED, suite_names(SHIPPED))[0]
WRITTEN = json.loads(msgspec.json.encode(dict(schemas(SUITES))))
NAMED = [REPOSITORY / "engines.yaml", REPOSITORY / "automation.yaml", *REPOSITORY.glob("golden/*/gates.yaml")]
_SCHEMA = re.compile(r"# yaml-language-server: \$schema=(\S+)\n")


def valid(value: Any, schema: str) -> bool:
    validator = jsonschema.Draft202012Validator(WRITTEN[schema])
    return bool(validator.is_valid(value))


def test_the_committed_schemas_are_those_of_the_code() -> None:
    committed = {
        str(file.relative_to(REPOSITORY / "schemas")): json.loads(file.read_text())
        for file in (REPOSITORY / "schemas").rglob("*.json")
    }
    assert committed == WRITTEN, "They are stale. To write them anew: eval-pipeline schema"


@pytest.mark.parametrize("file", NAMED, ids=[str(each.relative_to(REPOSITORY)) for each in NAMED])
def test_a_shipped_file_names_its_schema_and_is_valid_by_it(file: Path) -> None:
    text = file.read_text()
    match = _SCHEMA.match(text)
    assert match is not None
    schema = (file.parent / match[1]).resolve()
    own = [file.parent.name] if file.parent != REPOSITORY else []
    assert schema == REPOSITORY.joinpath("schemas", *own, f"{file.stem}.json")
    jsonschema.Draft202012Validator.check_schema(json.loads(schema.read_text()))
    jsonschema.validate(yaml.safe_load(text), json.loads(schema.read_text()))


def test_settings_are_matched_to_their_schema_without_a_comment() -> None:
    """A comment in settings.yaml would be another content, and so another evaluation."""
    associated = json.loads((REPOSITORY / ".vscode" / "settings.json").read_text())["yaml.schemas"]
    files = sorted(REPOSITORY.glob("golden/*/settings.yaml"))
    assert {
        f"schemas/{each.parent.name}/settings.json": str(each.relative_to(REPOSITORY)) for each in files
    } == (associated)
    for file in files:
        assert valid(yaml.safe_load(file.read_text()), f"{file.parent.name}/settings.json")


@pytest.mark.parametrize("suite", [each.name for each in SUITES])
def test_every_shipped_prompt_is_valid_by_its_schema(suite: str) -> None:
    for version in versions_in(SHIPPED.prompts(suite)):
        front = (SHIPPED.prompts(suite) / f"{version}.md").read_text().split("---\n")[1]
        assert valid(yaml.safe_load(front), f"{suite}/front-matter.json"), version


GATE = {"fail": "< 0.6", "pass": ">= 0.7"}
ENDPOINT = {"kind": "endpoint", "url": "https://host/v1", "model": "m"}


@pytest.mark.parametrize(
    ("gates", "fine"),
    [
        ({"concept_recall": GATE}, True),
        ({"concept_recall": {**GATE, "regression": {"investigate": 0.01, "block": 0.05}}}, True),
        ({"concept_recall": {**GATE, "excellent": " >= .8 "}}, True),
        ({}, False),
        ({"recall": GATE}, False),
        ({"concept_recall": {"fail": "< 0.6"}}, False),
        ({"concept_recall": {**GATE, "pass": 0.7}}, False),
        ({"concept_recall": {**GATE, "pass": "=> 0.7"}}, False),
        ({"concept_recall": {**GATE, "severity": "low"}}, False),
        ({"concept_recall": {**GATE, "passes": ">= 0.7"}}, False),
        ({"concept_recall": {**GATE, "regression": {"investigate": -1, "block": 0.05}}}, False),
    ],
)
def test_a_schema_knows_metrics_bounds_choices_and_limits(gates: Any, fine: bool) -> None:
    assert valid({"metrics": gates}, "decomposition/gates.json") == fine


@pytest.mark.parametrize(
    ("engine", "fine"),
    [
        ({"kind": "embedded"}, True),
        (ENDPOINT, True),
        ({**ENDPOINT, "trials": {"min": 1, "max": 5}, "timeouts": {"total": 5}}, True),
        ({}, False),
        ({"kind": "http"}, False),
        ({"kind": "endpoint", "model": "m"}, False),
        ({**ENDPOINT, "kind": "embedded"}, False),
        ({**ENDPOINT, "concurrency": 0}, False),
        ({**ENDPOINT, "trials": 0}, False),
        ({**ENDPOINT, "trials": {"min": 1}}, False),
        ({**ENDPOINT, "temprature": 0}, False),
    ],
)
def test_a_schema_knows_the_fields_of_each_kind(engine: Any, fine: bool) -> None:
    assert valid({"default": "e", "engines": {"e": engine}}, "engines.json") == fine


def test_the_command_writes_them_where_it_is_told(toy: Project, tmp_path: Path) -> None:
    done = invoke(toy, "schema", tmp_path / "out")
    assert done.returncode == 0, done.stderr
    before = {file: file.read_bytes() for file in (tmp_path / "out").rglob("*") if file.is_file()}
    assert tmp_path / "out" / "toy" / "gates.json" in before
    assert done.stdout == f"{len(before)} schemas written to {tmp_path / 'out'}.\n"
    assert invoke(toy, "schema").returncode == 0
    assert {file.read_bytes() for file in (toy.root / "schemas").rglob("*.json")} == set(before.values())


def test_a_suite_that_cannot_be_loaded_is_bad_input_and_nothing_is_written(toy: Project) -> None:
    (toy.own_suites / "toy" / "__init__.py").write_text("SUITE = 3\n")
    done = invoke(toy, "schema")
    assert done.returncode == 2
    assert "has no SUITE" in done.stderr
    assert not (toy.root / "schemas").exists()
