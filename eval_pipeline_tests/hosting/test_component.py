"""The component: found, scaffolded, configured in YAML, and open to subclasses."""

import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from importlib.metadata import entry_points
from pathlib import Path
from typing import Any

import dagster as dg
import pytest
import yaml
from dagster.components.testing.utils import DefsFolderSandbox, create_defs_folder_sandbox

import eval_pipeline
from eval_pipeline import EvalSuiteComponent
from eval_pipeline.store import Store
from eval_pipeline_tests.hosted import VERSION, checks, materialized, run, write_suite

pytestmark = [  # of Dagster's own code, which takes assets apart and puts them together
    pytest.mark.filterwarnings(f"ignore::dagster_shared.utils.warnings.{each}Warning")
    for each in ("Preview", "Beta")
]
TYPE = "eval_pipeline.EvalSuiteComponent"
DAYS = dg.StaticPartitionsDefinition(["mon", "tue"])


@contextmanager
def sandbox(**attributes: Any) -> Iterator[tuple[DefsFolderSandbox, Path]]:
    """A project of Dagster's layout, with a suite and a component of it."""
    with create_defs_folder_sandbox() as made:
        folder = made.defs_folder_path / "capitals"
        write_suite(folder)
        write(folder, **attributes)
        yield made, folder


def write(folder: Path, type_: str = TYPE, **more: Any) -> None:
    processing = more.pop("post_processing", None)
    attributes = {"suite": "golden/capitals/suite.yaml", **more}
    content = {"type": type_, "attributes": attributes}
    content |= {"post_processing": processing} if processing else {}
    (folder / "defs.yaml").write_text(yaml.safe_dump(content))


def specs(defs: dg.Definitions) -> dict[str, dg.AssetSpec]:
    return {spec.key.to_user_string(): spec for spec in defs.resolve_all_asset_specs()}


def test_it_is_found_through_its_entry_point_without_being_imported_before() -> None:
    (entry,) = entry_points(group="dagster_dg_cli.registry_modules", name="eval_pipeline")
    assert entry.load() is eval_pipeline
    assert {"EvalSuiteComponent", "build_eval_assets", "require_gate"} <= set(dir(eval_pipeline))
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        _ = eval_pipeline.nothing
    script = "import sys, eval_pipeline; print([each for each in sys.modules if 'dagster' in each])"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_what_is_scaffolded_runs_at_once() -> None:
    with create_defs_folder_sandbox() as made:
        folder = made.scaffold_component(EvalSuiteComponent, defs_path="support_tickets")
        written = {str(each.relative_to(folder)) for each in folder.rglob("*") if each.is_file()}
        assert {
            "defs.yaml",
            "engines.yaml",
            "golden/support_tickets/suite.yaml",
            "golden/support_tickets/gates.yaml",
            "prompts/support_tickets/classify-v1.0.md",
        } <= written
        cases = (folder / "golden" / "support_tickets" / "cases" / "cases.csv").read_text().splitlines()
        assert len(cases) == 1 + 5
        with made.build_all_defs() as defs, dg.DagsterInstance.ephemeral() as instance:
            result = run(defs, "support_tickets_evaluation", instance, "classify-v1.0")
        assert result.success
        red = {name for name, (passed, _) in checks(result).items() if not passed}
        assert red == {
            "support_tickets/golden_set:signed_off",
            "support_tickets/metrics:gate_accuracy",
            "support_tickets/baseline_comparison:regression",
        }
        assert Store(made.project_root / ".eval").evaluation("support_tickets", "classify-v1.0")
        with pytest.raises(dg.DagsterInvalidDefinitionError, match="is there already"):
            made.scaffold_component(EvalSuiteComponent, defs_path="support_tickets")


def test_yaml_says_everything_and_dagsters_own_ways_work() -> None:
    post = {"assets": [{"target": "*", "operation": "merge", "attributes": {"tags": {"from": "outside"}}}]}
    with sandbox(
        key_prefix="quality",
        group_name="answers",
        owners=["team:search"],
        tags={"tier": "1"},
        kinds=["eval"],
        pool="llm",
        engine="canned",
        state="{{ context.project_root }}/state",
        automation={"nightly": "0 3 * * *", "timezone": "Europe/Amsterdam", "on_change": True},
        post_processing=post,
    ) as (made, _):
        with made.build_all_defs() as defs, dg.DagsterInstance.ephemeral() as instance:
            every = specs(defs)
            assert {key.rpartition("/")[0] for key in every} == {"quality/capitals"}
            for spec in every.values():
                assert spec.tags["from"] == "outside"
                assert (spec.group_name, list(spec.owners)) == ("answers", ["team:search"])
            repository = defs.get_repository_def()
            (schedule,) = repository.schedule_defs
            assert (schedule.name, schedule.cron_schedule) == ("quality__capitals_nightly", "0 3 * * *")
            assert schedule.execution_timezone == "Europe/Amsterdam"
            assert {each.name for each in repository.sensor_defs} == {
                "quality__capitals_prompt_files",
                "quality__capitals_golden_sets",
            }
            assert run(defs, "quality__capitals_evaluation", instance, VERSION).success
        kept = made.project_root / "state" / "prefixes" / "quality"
        assert Store(kept).evaluation("capitals", VERSION) is not None


def test_rows_of_another_component_are_evaluated_by_partition() -> None:
    partitions = {"type": "static", "partition_keys": ["mon", "tue"]}
    with sandbox(
        upstream_asset="rag/answers",
        rows="io_manager",
        columns={"output": "reply"},
        partitions=partitions,
        blocking=True,
    ) as (made, folder):
        (made.defs_folder_path / "rag.py").write_text(
            "import dagster as dg\n"
            "@dg.asset(key=['rag', 'answers'], io_manager_key='mem',\n"
            "          partitions_def=dg.StaticPartitionsDefinition(['mon', 'tue']))\n"
            "def answers():\n"
            "    return [{'case_id': f'q{n}', 'reply': 'Paris'} for n in range(1, 6)]\n"
            "@dg.definitions\n"
            "def defs():\n"
            "    return dg.Definitions(assets=[answers], resources={'mem': dg.mem_io_manager})\n"
        )
        with made.build_all_defs() as defs, dg.DagsterInstance.ephemeral() as instance:
            (gate,) = (spec for each in defs.asset_checks or () for spec in each.check_specs)
            assert (gate.key.to_user_string(), gate.blocking) == ("rag/answers:capitals_gate", True)
            job = dg.define_asset_job("rows", dg.AssetSelection.assets("rag/answers"))
            both = dg.Definitions.merge(defs, dg.Definitions(jobs=[job]))
            passed, said = checks(run(both, "rows", instance, "tue"))["rag/answers:capitals_gate"]
            assert not passed
            assert said.startswith("answers@tue: ✗")
        upstream = {"upstream_asset": "rag/answers", "rows": "io_manager"}
        write(folder, f"{__name__}.Renamed", **upstream, partitions=f"{__name__}:DAYS")
        with made.build_all_defs() as defs:
            dg.Definitions.validate_loadable(defs)
            (gate,) = (spec for each in defs.asset_checks or () for spec in each.check_specs)
            assert gate.partitions_def == DAYS
            assert str(gate.description).startswith("Ours: Its rows pass")
        write(folder, **upstream)
        with (
            pytest.raises(dg.DagsterInvalidDefinitionError, match="rag/answers"),
            made.build_all_defs() as defs,
        ):
            dg.Definitions.validate_loadable(defs)


@dataclass
class Renamed(EvalSuiteComponent):
    """A subclass that uses every override point."""

    def get_asset_spec(self, spec: dg.AssetSpec) -> dg.AssetSpec:
        return spec.merge_attributes(metadata={"reviewed": True})

    def get_asset_check_spec(self, spec: dg.AssetCheckSpec) -> dg.AssetCheckSpec:
        return spec._replace(description=f"Ours: {spec.description}")

    def execute(self, context: dg.AssetExecutionContext, events: Iterator[Any]) -> Iterator[Any]:
        for event in events:
            is_made = isinstance(event, dg.MaterializeResult)
            yield event._replace(metadata={**event.metadata, "cluster": "blue"}) if is_made else event


def test_subclasses_change_specs_and_what_happens_around_a_step() -> None:
    with sandbox() as (made, folder):
        write(folder, f"{__name__}.Renamed")
        with made.build_all_defs() as defs, dg.DagsterInstance.ephemeral() as instance:
            assert all(spec.metadata["reviewed"] for spec in specs(defs).values())
            described = [
                spec.description
                for each in defs.resolve_asset_graph().assets_defs
                for spec in each.check_specs
            ]
            assert described
            assert all(str(each).startswith("Ours: ") for each in described)
            result = run(defs, "capitals_evaluation", instance, VERSION)
            assert len(materialized(result)) == 7
            for event in result.get_asset_materialization_events():
                assert event.materialization.metadata["cluster"].value == "blue"


@pytest.mark.parametrize(
    ("attributes", "reason"),
    [
        ({"suite": "golden/gone/suite.yaml"}, "is not there"),
        ({"engine": "nobody"}, "'nobody' is not an engine"),
        ({"upstream_asset": "a", "columns": {"case": "id"}}, "Did you mean case_id"),
        ({"upstream_asset": "a", "rows": "table"}, "does not say where rows are"),
        ({"upstream_asset": "a", "partitions": f"{__name__}:TYPE"}, "is of type str"),
        ({"upstream_asset": "a", "partitions": f"{__name__}:GONE"}, "has no 'GONE'"),
        ({"automation": {"nightly": "at dawn"}}, "is not a cron expression"),
        (
            {"upstream_asset": "a", "automation": {"timezone": "Nowhere", "on_change": True}},
            "is not a time zone",
        ),
    ],
)
def test_a_wrong_attribute_is_said_with_a_remedy(attributes: dict[str, Any], reason: str) -> None:
    with sandbox(**attributes) as (made, _):
        with pytest.raises(Exception, match="EvalSuiteComponent") as wrong, made.build_all_defs():
            pass
        assert reason in str(wrong.value.__cause__)
