"""`eval-pipeline schema`: JSON Schemas of the files that people write, so that editors complete and check."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import click
import msgspec

from eval_pipeline.declarative import suite_schema
from eval_pipeline.engines.configuration import engines_model
from eval_pipeline.files import write_json
from eval_pipeline.gates.gate import GatesFile
from eval_pipeline.golden import Dataset
from eval_pipeline.loading import all_suites, load_suites
from eval_pipeline.monitoring import Production
from eval_pipeline.numbers import counted
from eval_pipeline.problems import BadInput, shown_path
from eval_pipeline.project import Project
from eval_pipeline.prompts import FrontMatter
from eval_pipeline.suite import Suite, quantities
from eval_pipeline.terminal import say
from eval_pipeline.timetable import Automation

FOLDER = "schemas"
DIALECT = "https://json-schema.org/draft/2020-12/schema"

Schema = dict[str, Any]


@click.command("schema")
@click.argument("folder", required=False, type=click.Path(path_type=Path))
def command(folder: Path | None) -> None:
    """Write JSON Schemas of the project's YAML files and of each suite's.

    These are engines.yaml, automation.yaml, production.yaml, suite.yaml and dataset.yaml; gates, settings and
    front matter.

    They go to FOLDER, by default `schemas/` of the project. A YAML file that begins with
    `# yaml-language-server: $schema=PATH` is completed and checked by editors.
    """
    project = Project.find()
    suites, broken = load_suites(project, all_suites(project))
    if broken:
        raise BadInput([problem for problems in broken.values() for problem in problems])
    target = folder or project.root / FOLDER
    written = dict(schemas(suites))
    for name, schema in written.items():
        write_json(target / name, schema)
    say(f"{counted(len(written), 'schema')} written to {shown_path(target)}.")


def schemas(suites: Sequence[Suite]) -> Iterator[tuple[str, Schema]]:
    """Every schema with the path of its file."""
    yield "engines.json", _complete(engines_model().model_json_schema())
    yield "automation.json", _complete(Automation.model_json_schema())
    yield "production.json", _complete(Production.model_json_schema())
    yield "suite.json", _complete(suite_schema())
    yield "dataset.json", _complete(Dataset.model_json_schema())
    for suite in suites:
        yield f"{suite.name}/gates.json", _complete(gates_schema(suite))
        yield f"{suite.name}/settings.json", _complete(msgspec.json.schema(suite.settings))
        yield f"{suite.name}/front-matter.json", _complete(front_matter_schema(suite))


def _complete(schema: Schema) -> Schema:
    return {"$schema": DIALECT, **schema}


def gates_schema(suite: Suite) -> Schema:
    """What `gates.yaml` may say, with the metrics of a suite."""
    schema = GatesFile.model_json_schema()
    gate = schema["properties"]["metrics"].pop("additionalProperties")
    schema["properties"]["metrics"] |= {
        "properties": dict.fromkeys(sorted(quantities(suite)), gate),
        "additionalProperties": False,
        "minProperties": 1,
    }
    return schema


def front_matter_schema(suite: Suite) -> Schema:
    """What the front matter of a prompt file may say, with the parameters of a suite."""
    schema = FrontMatter.model_json_schema()
    (parameters,), known = msgspec.json.schema_components([suite.parameters], ref_template="#/$defs/{name}")
    described = schema["properties"]["parameters"]["description"]
    schema["properties"]["parameters"] = {"description": described, **parameters}
    schema["properties"]["suite"]["const"] = suite.name
    return {**schema, "$defs": {**schema.get("$defs", {}), **known}}
