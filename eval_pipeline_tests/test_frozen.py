"""What others rely on, as it is today: commands, keys, files and names.

A change of any of it is a decision. To accept one: `python -m eval_pipeline_tests.test_frozen`, which
writes `frozen.json` anew; its diff belongs into the same commit.
"""

from __future__ import annotations

import importlib
import json
import tempfile
from collections.abc import Callable, Iterator
from difflib import unified_diff
from pathlib import Path
from typing import Any

import click
import msgspec
import msgspec.inspect
import pytest

import eval_pipeline.suite
from eval_pipeline import cli, frames
from eval_pipeline.answers.recorded import RecordedLine
from eval_pipeline.comparison.rows import COLUMNS as COMPARISON_COLUMNS
from eval_pipeline.decisions import EXIT_CODES
from eval_pipeline.definitions import defs
from eval_pipeline.engines.configuration import engines_model
from eval_pipeline.files.models import Model
from eval_pipeline.gates.gate import GatesFile
from eval_pipeline.golden.readers import reader_of
from eval_pipeline.project import Project
from eval_pipeline.prompts import FrontMatter
from eval_pipeline.scoring.rows import HISTORY_COLUMNS, METRIC_COLUMNS
from eval_pipeline.store.tables import ANSWER_COLUMNS
from eval_pipeline.suites import find_suite, suite_names
from eval_pipeline.timetable import Automation
from eval_pipeline_tests.running import invoke

SNAPSHOT = Path(__file__).with_name("frozen.json")
ACCEPT = "python -m eval_pipeline_tests.test_frozen"

GOLDEN_ENTRIES = {
    "decomposition": "cases:GoldenEntry",
    "grounded_qa": "cases:GoldEntry",
    "heritage_linking": "cases:GoldenEntry",
    "heritage_ner": "cases:GoldenEntry",
    "heritage_qa": "cases:GoldenEntry",
    "heritage_rag": "cases:GoldenEntry",
    "heritage_typing": "cases:GoldenRow",
    "optimization": "cases:GoldenEntry",
    "review": "cases:GoldenTask",
    "span_labeling": "cases:GoldenEntry",
    "suggestions": "cases:GoldenEntry",
}
"""The record that golden files of a suite are made of; those of heritage_retrieval are TREC's."""

PROJECT = Project.find()


def commands() -> dict[str, Any]:
    """Every command with its arguments, options and their defaults, and the exit codes."""
    context = click.Context(cli.cli)
    codes = {"fine": 0, "blocks": cli.BLOCKED, "bad input": cli.BAD_INPUT, "defect": cli.CRASHED}
    return {
        "exit codes": {**codes, "interrupted": cli.INTERRUPTED, "gate": dict(EXIT_CODES)},
        **dict(_commands("eval-pipeline", cli.cli, context)),
    }


def _commands(name: str, command: click.Command, context: click.Context) -> Iterator[tuple[str, Any]]:
    if not isinstance(command, click.Group):
        yield name, {_flags(each): _parameter(each) for each in command.params}
        return
    for each in command.list_commands(context):
        inner = command.get_command(context, each)
        assert inner is not None
        yield from _commands(f"{name} {each}", inner, click.Context(inner, parent=context))


def _flags(parameter: click.Parameter) -> str:
    if isinstance(parameter, click.Option):
        return " ".join([*parameter.opts, *parameter.secondary_opts])
    return str(parameter.name).upper()


def _parameter(parameter: click.Parameter) -> str:
    kind = parameter.type
    words = ["|".join(map(str, kind.choices)) if isinstance(kind, click.Choice) else kind.name]
    words += ["required"] if parameter.required else []
    words += ["repeatable"] if parameter.multiple or parameter.nargs != 1 else []
    default = parameter.to_info_dict()["default"]
    shown = default is not None and default != () and "Sentinel" not in type(default).__name__
    return ", ".join(words + ([f"default {default}"] if shown else []))


def score_json() -> dict[str, Any]:
    """The keys of `score --json`: those of every report, and what each suite puts into them."""
    structure: set[str] = set()
    by_suite: dict[str, Any] = {}
    reports = {name: _report(name) for name in suite_names(PROJECT)}
    common = set.intersection(*(set(report) for report in reports.values())) | {"models"}
    for name, report in reports.items():
        structure |= set(_paths({key: value for key, value in report.items() if key in common}))
        by_suite[name] = {
            "more keys": sorted(report.keys() - common),
            "metrics": sorted(report["metrics"]),
            "groups": sorted(report["groups"]),
            "tables": {table: _columns(rows) for table, rows in report["tables"].items()},
        }
    return {"keys": sorted(structure), "suites": by_suite}


def _report(suite: str) -> dict[str, Any]:
    folder = PROJECT.golden(suite)
    outputs = min((folder / "baseline").glob("*.outputs.jsonl"))
    done = invoke(PROJECT, "score", suite, "--golden", folder, "--outputs", outputs, "--json")
    report: dict[str, Any] = json.loads(done.stdout)
    return report


def run_json() -> list[str]:
    """The keys of `run --json`, of an evaluation that is compared and blocked; and of `--dry-run --json`."""
    version = ("--prompt", "decompose-concepts-v2.0", "--json")
    with tempfile.TemporaryDirectory() as state:
        project = Project(PROJECT.root, Path(state))
        done, dry = (
            json.loads(invoke(project, "run", suite, *version, *more).stdout)
            for suite, more in (("decomposition", ()), ("decomposition", ("--dry-run",)))
        )
        bad = json.loads(invoke(project, "run", "nothing", *version).stdout)
    keys = {key for document in (done, dry, bad) for key in document}
    keys |= {f"evaluations[].{path}" for each in done["evaluations"] for path in _paths(each)}
    keys |= {f"estimates[].{path}" for each in dry["estimates"] for path in _paths(each)}
    return sorted(keys | {f"problems[].{path}" for each in bad["problems"] for path in _paths(each)})


def _paths(report: dict[str, Any]) -> Iterator[str]:
    """Every key with those above it; a star stands for names of metrics, groups, tables and errors."""
    named = {"errors_by_kind": 1, "metrics": 1, "metric_details": 1, "groups": 3, "named": 1, "tables": 2}

    def walk(value: Any, path: str, stars: int) -> Iterator[str]:
        if isinstance(value, dict):
            for key, inner in value.items():
                yield from walk(inner, f"{path}.{'*' if stars else key}", max(0, stars - 1))
        elif isinstance(value, list) and any(isinstance(each, dict) for each in value):
            for each in value:
                yield from walk(each, f"{path}[]", stars)
        else:
            yield path

    for key, value in report.items():
        yield from walk(value, key, named.get(key, 0))


def _columns(rows: list[dict[str, Any]]) -> list[str]:
    """The columns of a table; those of a matrix are labels."""
    columns = {column for row in rows for column in row}
    return ["*"] if "" in columns else sorted(columns)


def definitions() -> dict[str, Any]:
    """Asset keys with group and checks, and the names of what runs them."""
    checks: dict[str, list[str]] = {}
    for asset in defs.assets or []:
        for check in getattr(asset, "check_specs", ()):
            checks.setdefault(check.asset_key.to_user_string(), []).append(check.name)
    return {
        "assets": {
            spec.key.to_user_string(): {
                "group": spec.group_name,
                "checks": sorted(checks.get(spec.key.to_user_string(), [])),
            }
            for spec in defs.resolve_all_asset_specs()
        },
        "jobs": sorted(job.name for job in defs.jobs or []),
        "schedules": sorted(schedule.name for schedule in defs.schedules or []),
        "sensors": sorted(sensor.name for sensor in defs.sensors or []),
    }


def golden_entries() -> dict[str, Any]:
    """The files that golden sets are read from, and the fields of their records."""
    entries: dict[str, Any] = {}
    for suite in suite_names(PROJECT):
        entries[suite] = {"suffixes": sorted(reader_of(find_suite(PROJECT, suite)).suffixes)}
        module, _, name = GOLDEN_ENTRIES.get(suite, "").partition(":")
        if name:
            record = getattr(importlib.import_module(f"eval_pipeline.suites.{suite}.{module}"), name)
            entries[suite]["record"] = fields_of(record)
    return entries


def fields_of(record: Any) -> Any:
    """The fields of a record as files spell them; those that may be left out end in a question mark."""
    return _described(msgspec.inspect.type_info(record))


def fields_of_model(model: type[Model]) -> Any:
    """The same for what people configure, as JSON schemas have it."""
    schema = model.model_json_schema()
    return _of_schema(schema, schema.get("$defs", {}))


def _of_schema(schema: dict[str, Any], known: dict[str, Any]) -> Any:
    """A schema as `fields_of` describes types."""
    if "$ref" in schema:
        return _of_schema(known[schema["$ref"].rpartition("/")[2]], known)
    if several := schema.get("anyOf") or schema.get("oneOf"):
        parts = [_of_schema(each, known) for each in several]
        return " | ".join(parts) if all(isinstance(each, str) for each in parts) else parts
    if "enum" in schema or "const" in schema:
        return " | ".join(map(repr, sorted(schema.get("enum") or [schema["const"]])))
    if "properties" in schema:
        return {
            name + ("" if name in schema.get("required", []) else "?"): _of_schema(each, known)
            for name, each in schema["properties"].items()
        }
    if isinstance(values := schema.get("additionalProperties"), dict):
        names = schema.get("propertyNames")
        return {_of_schema(names, known) if names else "*": _of_schema(values, known)}
    if schema.get("additionalProperties") is True:
        return {"*": "any"}
    return WORDS.get(schema.get("type", ""), "any")


WORDS = {"string": "str", "integer": "int", "number": "float", "boolean": "bool", "null": "none"}
"""Types of JSON schemas, as `fields_of` names them."""


def _described(info: msgspec.inspect.Type) -> Any:
    match info:
        case msgspec.inspect.StructType():
            tag = {str(info.tag_field): repr(info.tag)} if info.tag_field else {}
            return tag | {
                field.encode_name + ("" if field.required else "?"): _described(field.type)
                for field in info.fields
            }
        case msgspec.inspect.UnionType():
            parts = [_described(each) for each in info.types]
            return " | ".join(parts) if all(isinstance(each, str) for each in parts) else parts
        case msgspec.inspect.ListType() | msgspec.inspect.VarTupleType():
            return [_described(info.item_type)]
        case msgspec.inspect.DictType():
            keys = info.key_type
            names = _described(keys) if isinstance(keys, msgspec.inspect.LiteralType) else "*"
            return {names: _described(info.value_type)}
        case msgspec.inspect.LiteralType():
            return " | ".join(map(repr, info.values))
        case _:
            return type(info).__name__.removesuffix("Type").lower()


def files() -> dict[str, Any]:
    """The keys of files that people write."""
    return {
        "prompt front matter": fields_of_model(FrontMatter),
        "gates.yaml": fields_of_model(GatesFile),
        "engines.yaml": fields_of_model(engines_model()),
        "automation.yaml": fields_of_model(Automation),
        "outputs.jsonl": fields_of(RecordedLine),
        "settings.yaml": {
            name: fields_of(find_suite(PROJECT, name).settings) for name in suite_names(PROJECT)
        },
        "golden": golden_entries(),
    }


def kit() -> list[str]:
    """What suites import."""
    return sorted(eval_pipeline.suite.__all__)


def tables() -> dict[str, Any]:
    """The functions that give data frames, and the columns of what files and frames hold."""
    return {
        "functions": sorted(frames.__all__),
        "answers": dict(ANSWER_COLUMNS),
        "comparison": dict(COMPARISON_COLUMNS),
        "history": dict(HISTORY_COLUMNS),
        "metrics": dict(METRIC_COLUMNS),
    }


SCORING, RUNNING = "score --json", "run --json"
PARTS: dict[str, Callable[[], Any]] = {
    "commands": commands,
    "definitions": definitions,
    "eval_pipeline.frames": tables,
    "eval_pipeline.suite": kit,
    "files": files,
    RUNNING: run_json,
    SCORING: score_json,
}


def as_text(value: Any) -> str:
    return json.dumps(value, indent=1, sort_keys=True, ensure_ascii=False)


@pytest.mark.parametrize(
    "part",
    [
        *sorted(PARTS.keys() - {RUNNING, SCORING}),
        *(pytest.param(part, marks=pytest.mark.slow) for part in (RUNNING, SCORING)),
    ],
)
def test_what_others_rely_on_has_not_changed(part: str) -> None:
    frozen = json.loads(SNAPSHOT.read_text(encoding="utf-8"))[part]
    before, now = as_text(frozen).splitlines(), as_text(PARTS[part]()).splitlines()
    difference = "\n".join(unified_diff(before, now, "frozen", "now", lineterm="", n=8))
    assert not difference, f"{part} changed. If that is meant, accept it: {ACCEPT}\n{difference}"


def test_every_suite_has_its_golden_format_frozen() -> None:
    assert sorted([*GOLDEN_ENTRIES, "heritage_retrieval"]) == suite_names(PROJECT)


class Inner(msgspec.Struct, tag_field="kind", tag="inner"):
    text: str = msgspec.field(name="Text")


class Outer(msgspec.Struct):
    one: Inner | None
    many: list[int] = []
    named: dict[str, float | None] = {}


def test_fields_are_described_as_files_spell_them() -> None:
    assert fields_of(Outer) == {
        "one": [{"kind": "'inner'", "Text": "str"}, "none"],
        "many?": ["int"],
        "named?": {"*": "float | none"},
    }


def test_keys_of_a_report_are_its_paths() -> None:
    report = {"pass": True, "metrics": {"a": 1, "b": None}, "gates": [{"metric": "a"}, {"zone": "fail"}]}
    assert sorted(set(_paths(report))) == ["gates[].metric", "gates[].zone", "metrics.*", "pass"]


if __name__ == "__main__":
    SNAPSHOT.write_text(as_text({name: part() for name, part in PARTS.items()}) + "\n", encoding="utf-8")
